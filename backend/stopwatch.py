"""How long each step of a call took."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Adds up the time of named steps, in milliseconds."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            spent = (perf_counter() - began) * 1000
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + spent, 3)
