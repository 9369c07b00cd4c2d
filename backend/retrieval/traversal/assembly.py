"""From ranked statements to results: sources with topics, as traversal-based search documents them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from backend import statements
from backend.models import Document
from backend.retrieval.traversal.contexts import Contexts
from backend.retrieval.traversal.options import TraversalOptions
from backend.retrieval.traversal.ranking import Ranked, statement_text
from backend.stores.lexical import Content, Topic

VERSION = "1"  # of the retrievers, as results name it

Result = Mapping[str, Any]


def assemble(
    ranked: Sequence[Ranked],
    contents: Mapping[str, Content],
    contexts: Contexts,
    options: TraversalOptions,
    count_tokens: Callable[[Sequence[str]], list[int]],
) -> tuple[Result, ...]:
    """One result per source, or per topic where the options say so, best first; every cut comes after the ranking."""
    kept = _within_tokens(ranked, contents, options, count_tokens)
    groups: dict[str, dict[str, list[Ranked]]] = {}
    for one in kept:
        content = contents[one.key.passage_id]
        topic = statements.topic(content, one.key.place)
        source = content.passage.document.id
        group = f"{source} {topic.id}" if options.disaggregate_results and topic else source
        of_topic = groups.setdefault(group, {}).setdefault(topic.id if topic else "", [])
        if options.max_statements_per_topic is None or len(of_topic) < options.max_statements_per_topic:
            of_topic.append(one)
    described = _described(contexts)
    results = [_result(topics, contents, described, options) for topics in groups.values()]
    return tuple(results[: options.max_search_results])


def _within_tokens(
    ranked: Sequence[Ranked],
    contents: Mapping[str, Content],
    options: TraversalOptions,
    count_tokens: Callable[[Sequence[str]], list[int]],
) -> list[Ranked]:
    """As many statements, from the best on, as the budget of tokens takes; the first is always taken."""
    if options.max_context_tokens is None or not ranked:
        return list(ranked)
    sizes = count_tokens([statements.text(contents[one.key.passage_id], one.key.place) for one in ranked])
    total = 0
    kept: list[Ranked] = []
    for one, size in zip(ranked, sizes, strict=True):
        total += size
        if kept and total > options.max_context_tokens:
            break
        kept.append(one)
    return kept


def _result(
    topics: Mapping[str, Sequence[Ranked]],
    contents: Mapping[str, Content],
    entity_contexts: Mapping[str, Any],
    options: TraversalOptions,
) -> Result:
    full = [_topic(own, contents) for own in topics.values()]
    first = next(iter(topics.values()))[0]
    document = contents[first.key.passage_id].passage.document
    shown = "statement_str" if options.include_facts else "statement"
    texts = [{"topic": topic["topic"], "statements": [one[shown] for one in topic["statements"]]} for topic in full]
    source = {"sourceId": document.id, "metadata": _metadata(document)}
    text: dict[str, Any] = {"source": source_text(document)}
    text |= texts[0] if len(texts) == 1 else {"topics": texts}
    return {
        "text": text,
        "metadata": {"result": {"source": source, "topics": full}, "entity_contexts": entity_contexts},
    }


def _topic(ranked: Sequence[Ranked], contents: Mapping[str, Content]) -> dict[str, Any]:
    content = contents[ranked[0].key.passage_id]
    topic: Topic | None = statements.topic(content, ranked[0].key.place)
    return {
        "topic": topic.title if topic else content.passage.document.title,
        "topicId": topic.id if topic else None,
        "statements": [_statement(one, contents[one.key.passage_id]) for one in ranked],
    }


def _statement(one: Ranked, content: Content) -> dict[str, Any]:
    place = one.key.place
    return {
        "statementId": one.key.id,
        "statement": statements.text(content, place),
        "facts": statements.facts(content, place),
        "details": statements.details(content, place),
        "chunkId": content.passage.id,
        "score": one.score,
        "statement_str": statement_text(content, place),
        "retrievers": [f"{name} ({VERSION})" for name in one.ranks],
        "explain": {
            "start": one.reached.start,
            "path": list(one.reached.path),
            "ranks": dict(one.ranks),
            "reranked": None if one.reranked is None else {"rank": one.reranked[0], "score": one.reranked[1]},
            "offsets": statements.span(content, place),
        },
    }


def _described(contexts: Contexts) -> dict[str, Any]:
    return {
        "contexts": [
            {
                "entities": [
                    {
                        "entity": {
                            "entityId": one.entity.id,
                            "value": one.entity.name,
                            "classification": one.entity.label,
                        },
                        "score": float(one.degree),
                        "reranking_score": one.similarity,
                    }
                    for one in context
                ]
            }
            for context in contexts.contexts
        ]
    }


def _metadata(document: Document) -> dict[str, Any]:
    own = {"title": document.title, "url": document.url, "author": document.author, "date": document.date}
    return {**document.metadata, **{key: value for key, value in own.items() if value is not None}}


def source_text(document: Document) -> str:
    """A source in one line: the longest of its metadata, the others behind it in brackets."""
    values = sorted(dict.fromkeys(_texts(_metadata(document).values())), key=lambda one: (-len(one), one))
    return f"{values[0]} ({', '.join(values[1:])})" if len(values) > 1 else values[0] if values else document.id


def _texts(values: Iterable[object]) -> Iterable[str]:
    return (str(value) for value in values if isinstance(value, (str, int, float)) and not isinstance(value, bool))
