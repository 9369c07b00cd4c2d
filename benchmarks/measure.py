"""How a call is timed, and what is told of many timings."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import perf_counter
from typing import TypeVar

import psutil

T = TypeVar("T")


@dataclass(slots=True)
class Timings:
    """The times of many calls in milliseconds."""

    wall: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Times its block."""
        began = perf_counter()
        try:
            yield
        finally:
            self.wall.append((perf_counter() - began) * 1000)

    def extend(self, other: Timings) -> None:
        self.wall.extend(other.wall)

    def __str__(self) -> str:
        return f"median {self.median:.1f} ms, p95 {self.p95:.1f} ms"

    @property
    def median(self) -> float:
        return median(self.wall)

    @property
    def p95(self) -> float:
        return percentile95(self.wall)


def percentile95(values: list[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def settle() -> None:
    """Spares what is loaded by now the garbage collection, as the application does once it is warm."""
    gc.collect()
    gc.freeze()


def timed(calls: Iterable[Callable[[], object]]) -> Timings:
    """The time of each call."""
    timings = Timings()
    for call in calls:
        with timings.one():
            call()
    return timings


def quietest(measure: Callable[[], T], rounds: int, *, by: Callable[[T], float]) -> T:
    """Of so many rounds the one that was disturbed least."""
    return min((measure() for _ in range(rounds)), key=by)


def processor_ms() -> float:
    """The processor time of this process until now, of all its threads together."""
    usage = psutil.Process().cpu_times()
    return float(usage.user + usage.system) * 1000


def memory_mb() -> float:
    """What this process holds in memory, file pages that it has mapped left out."""
    usage = psutil.Process().memory_info()
    return float(usage.rss - getattr(usage, "shared", 0)) / 2**20


def busyness() -> str:
    """Who else was working: the machine's load average."""
    one, five, _ = os.getloadavg()
    return f"load average {one:.1f} (1 min), {five:.1f} (5 min) on {os.cpu_count()} cores"
