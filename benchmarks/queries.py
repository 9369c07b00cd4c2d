"""What people type: whole names, words of them, names half typed, and words that very many names share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.graphs import Graph

_RARE = 20_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A search text and what kind of text it is."""

    kind: str
    text: str


def mixed_queries(graph: Graph, number: int = 0, each: int = 60) -> list[Asked]:
    """The mix of queries with this number: `each` of the frequent kinds, a third of that of the others."""
    rng = np.random.default_rng((graph.shape.seed, 20, number))
    words = graph.vocabulary.words
    names = [graph.names[n] for n in rng.permutation(graph.shape.entities).tolist()]
    long = [name.split() for name in names if name.count(" ") >= 2][:each]
    common = [_in_capitals(word, number) for word in words[: each // 3]]
    rare = rng.integers(_RARE, len(words), each).tolist()
    return [
        *(Asked("exact name", name) for name in names[:each]),
        *(Asked("a hub's name", _in_capitals(name, number)) for name in graph.names[: graph.shape.hubs]),
        *(Asked("two words", f"{name[2]} {name[0]}") for name in long),
        *(Asked("while typing", _half_typed(name, n)) for n, name in enumerate(names[each : 2 * each])),
        *(Asked("common word", word) for word in common),
        *(Asked("common and rare", f"{word} {words[n]}") for word, n in zip(common, rare, strict=False)),
    ]


def _half_typed(name: str, number: int) -> str:
    """The name with its last word broken off after one to four letters."""
    *whole, last = name.split()
    return " ".join([*whole, last[: 1 + number % 4]])


def _in_capitals(text: str, number: int) -> str:
    """The same to a search by name, in capitals of its own for each number: no encoder has seen it before."""
    return "".join(c.upper() if number >> place & 1 else c.lower() for place, c in enumerate(text))
