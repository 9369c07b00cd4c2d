"""From a question to its evidence: the strategy that was asked for, and what it found as numbered passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from backend.answers.base import LanguageModel
from backend.errors import Malformed
from backend.models import MAX_LIMIT
from backend.names import asked_names, check_within, refuse_unknown
from backend.questions import (
    MAX_REACH,
    MOST_RANKED,
    STRATEGIES,
    EvidenceItem,
    Named,
    Question,
    Retrieval,
    StrategyChoice,
)
from backend.retrieval.guided_walk import guided_walk
from backend.retrieval.passages import find_passages
from backend.retrieval.reader import Found, Reader
from backend.retrieval.traversal import statements
from backend.retrieval.traversal.search import entities, topics, traversal
from backend.scope import resolve
from backend.stopwatch import Stopwatch
from backend.stores.base import GraphView
from backend.stores.lexical import Content
from backend.vectors.base import Encoder, Index, Reranker

Strategy = Callable[[Reader], Sequence[Found]]
_STRATEGIES: dict[str, Strategy] = {
    "passages": find_passages,
    "traversal": traversal,
    "entities": entities,
    "topics": topics,
    "guided-walk": guided_walk,
}
_AUTOMATIC = "guided-walk"
IMPLEMENTED = (*_STRATEGIES, "automatic")


def retrieve(
    view: GraphView,
    question: Question,
    *,
    index: Callable[[], Index],
    encoder: Callable[[], Encoder],
    reranker: Callable[[], Reranker] | None = None,
    model: LanguageModel | None = None,
) -> Retrieval:
    """The evidence for a question, best first.

    Raises Malformed for a blank question, an unknown strategy or option, IndexNotReady naming index and remedy, and
    NotConfigured for what needs a model that is not set up. No model is asked unless an option of the question says so.
    """
    watch = Stopwatch()
    choice = _choose(question)
    with watch.step("scope"):
        scope = resolve(question.scope)
        catalog, unknown = view.opening(asked_names(question.scope))
        refuse_unknown(view, unknown)
    reader = Reader(view, question, scope, catalog, index, encoder, reranker, model)
    with watch.step("strategy"):
        found = _STRATEGIES[choice.chosen](reader)
    with watch.step("evidence"):
        contents = reader.contents(one.passage_id for one in found[: max(MOST_RANKED, question.limit)])
        found = [one for one in found if one.passage_id in contents]
        shown = found[: question.limit]
        mentioned = _entities([contents[one.passage_id] for one in shown])
    return Retrieval(
        question=question,
        strategy=choice,
        evidence=tuple(_item(n, one, contents[one.passage_id]) for n, one in enumerate(shown, start=1)),
        ranked=tuple(contents[one.passage_id].passage.source_id for one in found[:MOST_RANKED]),
        entities=mentioned,
        results=reader.results,
        context=reader.context,
        truncated_by=tuple(cut.bound for cut in reader.cuts),
        cuts=tuple(reader.cuts),
        steps=tuple(reader.steps),
        timings_ms=watch.timings_ms,
    )


def _choose(question: Question) -> StrategyChoice:
    if not question.text.strip():
        raise Malformed("The question is blank.", hint="Ask in a few words, or with a whole sentence.")
    check_within("limit", question.limit, MAX_LIMIT)
    check_within("reach", question.reach, MAX_REACH)
    if question.strategy not in STRATEGIES:
        raise Malformed(
            f"There is no strategy {question.strategy[:100]!r}.", hint=f"There are: {', '.join(STRATEGIES)}."
        )
    if question.strategy != "automatic":
        return StrategyChoice(question.strategy, question.strategy, "It was asked for.")
    return StrategyChoice("automatic", _AUTOMATIC, "It measured best over all sets.")


def _entities(contents: Sequence[Content]) -> tuple[Named, ...]:
    """The entities that the passages mention, those of most passages first, then by name and id."""
    mentioned = Counter(entity for content in contents for entity in content.mentions)
    return tuple(sorted(mentioned, key=lambda entity: (-mentioned[entity], entity.name, entity.id)))


def _item(n: int, found: Found, content: Content) -> EvidenceItem:
    places = sorted(set(found.places))
    spans = [statements.span(content, place) for place in places if place < len(content.statements)]
    sentences = tuple(dict.fromkeys(span for span in spans if span is not None))
    return EvidenceItem(n, content.passage, sentences, round(found.score, 6), found.why)
