"""Loads on a disk that becomes full in the middle, and again once there is room.

`python -m tests.full_disk_process HOME BEFORE BUNDLE HOW` loads the bundle BEFORE, then twice BUNDLE, while the disk
becomes full, and at last once more. It prints what that did to the store, as JSON. HOW is `disk`, where HOME is a small
file system of its own, or `limit`, which needs no rights: the system then lets no file grow long.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from backend.errors import AttestError
from backend.explorer import Explorer
from backend.models import EntityQuery, Progress, WalkQuery
from tests.explorers import open_test_explorer
from tests.world import entity
from tests.worlds import outcome

# When the disk becomes full: for vectors, which are written from then on, and for the graph.
_PHASES = ("encoding names", "committing")
# Bytes: enough to note what becomes of a job, and not for what it writes.
_LEFT, _LONGEST = 150_000, 600_000


def main(home: Path, before: Path, bundle: Path, how: str) -> None:
    fill, free = {"disk": (lambda: _fill(home), lambda: _ballast(home).unlink()), "limit": (_forbid, _allow)}[how]
    explorer = open_test_explorer(home)
    explorer.load([before], dataset="harbour")
    seen = _seen(explorer)
    failures = []
    for phase in _PHASES:
        told = _load_until_full(explorer, bundle, phase, fill)
        told["seen meanwhile"] = _seen(explorer) == seen
        free()
        told["seen afterwards"] = _seen(explorer) == seen
        told["state"] = str(explorer.jobs()[0].state)
        failures.append(told)
    explorer.load([bundle], dataset="fleet")
    counts = {found.name: found.entities for found in explorer.status().datasets}
    hit = explorer.search(EntityQuery("vessel 7 first")).hits[0].name
    print(json.dumps({"failures": failures, "state": explorer.jobs()[0].state, "counts": counts, "hit": hit}))
    explorer.close()


def _load_until_full(explorer: Explorer, bundle: Path, phase: str, fill: Callable[[], None]) -> dict[str, object]:
    filled = False

    def listener(progress: Progress) -> None:
        nonlocal filled
        if progress.phase == phase and not filled:
            filled = True
            fill()

    try:
        explorer.load([bundle], dataset="fleet", listener=listener)
    except AttestError as error:
        return {"kind": error.kind, "message": error.message, "hint": error.hint}
    return {"kind": None}


def _seen(explorer: Explorer) -> list[object]:
    """What a reader sees of the store, the state of jobs aside."""
    return [
        outcome(explorer.search, EntityQuery("ida berg")),
        outcome(explorer.walk, WalkQuery(entity("petrel"), depth=2)),
        explorer.status().datasets,
    ]


def _ballast(home: Path) -> Path:
    return home / "ballast"


def _fill(home: Path) -> None:
    with suppress(OSError), _ballast(home).open("ab", buffering=0) as file:
        while file.write(bytes(_LEFT)):
            pass
    os.truncate(_ballast(home), _ballast(home).stat().st_size - _LEFT)


def _forbid() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LONGEST, resource.RLIM_INFINITY))


def _allow() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
