"""How long commands take that need no encoder, from their start to their end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial

from benchmarks.measure import timed
from benchmarks.serving import ROOT, environment
from benchmarks.stores import Opened, names_of
from benchmarks.table import Comparison, Table

_TIMES = 7


def bench_commands(stores: Sequence[Opened]) -> Table:
    """Commands over the largest graph of each kind of store, each a process of its own."""
    keys, measured = ("entities", "command"), ("median s", "p95 s", "cpu s")
    table = Comparison("Commands without the encoder, whole process", keys, measured, names_of(stores))
    for opened in {opened.kind: opened for opened in stores}.values():
        _time(opened, table)
    table.notes.append("What a server works is not in the time of the processor.")
    return table.table()


def _time(opened: Opened, table: Comparison) -> None:
    start, name = opened.graph.entity_ids[-1], opened.graph.names[-1]
    commands = {
        "attest --help": ["--help"],
        "attest status": ["status", "--json"],
        "attest jobs": ["jobs", "--json"],
        "attest search --mode lexical": ["search", name, "--mode", "lexical", "--json"],
        "attest walk --depth 2": ["walk", start, "--depth", "2", "--json"],
        "attest show": ["show", start, "--json"],
    }
    for shown, arguments in commands.items():
        before = _children()
        times = timed([partial(_run, opened, arguments)] * _TIMES)
        worked = (_children() - before) / _TIMES
        row = (f"{times.median / 1000:.2f}", f"{times.p95 / 1000:.2f}", f"{worked:.2f}")
        table.add(opened.kind.name, (opened.size, shown), *row)


def _children() -> float:
    """Seconds of the processor that the ended processes of this one have used."""
    times = os.times()
    return times.children_user + times.children_system


def _run(opened: Opened, arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "backend.cli", *arguments]
    subprocess.run(command, cwd=ROOT, env=environment(opened.explorer.settings), check=True, stdout=subprocess.DEVNULL)
