"""All that two stores with the same graph read of its lexical part, put side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.explorer import Explorer
from backend.models import Scope
from backend.scope import resolve
from backend.stores.base import GraphView
from backend.stores.lexical import Content
from backend.words import fold, words
from tests.worlds import differences


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: ids and texts; each of `begun` in a question of its own."""

    passages: Sequence[str]
    entities: Sequence[str]
    topics: Sequence[str]
    named: Sequence[str]
    begun: Sequence[str]
    limits: Sequence[int] = (1, 2, 50)


def stored_ids(explorer: Explorer) -> Asked:
    """Everything that is committed, of every version."""

    def read(view: GraphView) -> Asked:
        datasets = view.row_counts()
        documents = [key for dataset in datasets for key in view.row_ids("document", dataset)]
        return Asked(
            passages=[row.id for row in view.passage_rows(documents)],
            entities=[key for dataset in datasets for key in view.row_ids("entity", dataset)],
            topics=[row.id for row in view.topic_rows(documents)],
            named=(),
            begun=(),
        )

    return explorer.store.read(read)


def lexical_differences(one: Explorer, other: Explorer, asked: Asked, scope: Scope) -> Iterator[str]:
    """Where the answers differ; what the collections of vectors are called is no matter of the graph."""
    resolved = resolve(scope)
    reads: dict[str, Callable[[GraphView], Any]] = {
        "contents": lambda view: _nameless(view.contents(asked.passages, resolved)),
        "degrees": lambda view: view.degrees(asked.entities, resolved),
        "topics": lambda view: view.topics(asked.topics, resolved),
        "topics near": lambda view: view.topics_near(asked.topics, ("passage", "adjacent", "entity"), 20, resolved),
        "named": lambda view: tuple(view.named([fold(name) for name in asked.named], asked.entities, (), 0, resolved)),
    }
    for limit in asked.limits:
        reads |= {
            f"occurrences {limit}": lambda view, limit=limit: view.occurrences(asked.entities, limit, resolved),
            f"neighbourhoods {limit}": lambda view, limit=limit: view.neighbourhoods(asked.entities, limit, resolved),
        }
        for text in asked.begun:
            asked_words = words(text)
            reads[f"begun {text} {limit}"] = lambda view, limit=limit, asked_words=asked_words: tuple(
                view.named((), (), asked_words, limit, resolved)
            )
    for name, read in reads.items():
        yield from differences(_listed(one.store.read(read)), _listed(other.store.read(read)), name)


def _nameless(contents: Mapping[str, Content]) -> dict[str, Content]:
    return {
        key: replace(
            content,
            vectors=content.vectors and "somewhere",
            statement_vectors=content.statement_vectors and "somewhere",
        )
        for key, content in contents.items()
    }


def _listed(result: Any) -> Any:
    return tuple(sorted(result.items())) if isinstance(result, dict) else result
