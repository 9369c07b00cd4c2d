"""Embedded stores on a disk that becomes full while they load."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from backend.errors import StoreUnreachable
from backend.models import JobState
from backend.stores.sqlite.store import SqliteStore
from tests.bundles import fleet, write_bundle
from tests.world import FIRST
from tests.worlds import KINDS

ROOT = Path(__file__).parents[2]
# A file system of 48 MB, seen by one process alone.
IN_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
MOUNT = 'mount -t tmpfs -o size=48m none "$0" && exec "$@"'


def mounts(folder: Path) -> bool:
    """Whether this machine lets anybody have a file system of their own."""
    try:
        done = subprocess.run([*IN_NAMESPACE, MOUNT, folder, "true"], capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def test_load_that_meets_a_full_disk_says_so_changes_nothing_and_succeeds_once_there_is_room(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    first = write_bundle(tmp_path / "first", **{kind: list(getattr(FIRST, kind)) for kind in KINDS})
    bundle = write_bundle(tmp_path / "fleet", **fleet(2_000))
    is_own = mounts(home)
    own = [*IN_NAMESPACE, MOUNT, home] if is_own else []
    program = [sys.executable, "-m", "tests.full_disk_process", home, first, bundle, "disk" if is_own else "limit"]
    done = subprocess.run([*own, *program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for store, failure in zip(("vector store", "graph store"), told["failures"], strict=True):
        assert failure["kind"] == "store_unreachable"
        assert f"{store} {home}" in failure["message"]
        assert "full" in failure["message"] + failure["hint"]
        assert failure["seen meanwhile"]
        assert failure["seen afterwards"]
        assert failure["state"] == "failed"
    assert told["state"] == "committed"
    assert told["counts"] == {"fleet": 2_007, "harbour": 8}
    assert told["hit"] == "Vessel 7 first"


def test_job_whose_end_cannot_be_noted_gives_back_its_lease_once_there_is_room(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    job = store.jobs.open("load", "fleet")
    assert store.jobs.acquire(job.id) is None
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, unlimited[1]))
    try:
        with pytest.raises(StoreUnreachable):
            store.jobs.close(job.id, JobState.FAILED, error="The disk is full.")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    following = store.jobs.open("load", "fleet")
    assert store.jobs.acquire(following.id) is None
    assert store.jobs.job(job.id).state is JobState.FAILED
    assert store.jobs.job(job.id).error == "The disk is full."
    store.close()
