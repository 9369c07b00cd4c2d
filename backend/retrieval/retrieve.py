"""From a question to its evidence: the strategy that was asked for, and what it found as numbered passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from backend.answers.base import LanguageModel
from backend.errors import Malformed
from backend.models import MAX_LIMIT
from backend.names import asked_names, check_question, check_within, refuse_unknown
from backend.questions import (
    MAX_REACH,
    MOST_RANKED,
    STRATEGIES,
    Named,
    Question,
    Retrieval,
    StrategyChoice,
)
from backend.retrieval.communities.search import find_communities
from backend.retrieval.evidence import item
from backend.retrieval.guided_walk import guided_walk
from backend.retrieval.passages import find_passages
from backend.retrieval.reader import Found, Reader
from backend.retrieval.traversal.search import entities, topics, traversal
from backend.retrieval.whole import asks_about_the_whole
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
    "communities": find_communities,
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
    _check(question)
    with watch.step("scope"):
        scope = resolve(question.scope)
        catalog, unknown = view.opening(asked_names(question.scope))
        refuse_unknown(view, unknown)
    reader = Reader(view, question, scope, catalog, index, encoder, reranker, model)
    with watch.step("strategy"):
        choice = _choose(reader)
        found = _STRATEGIES[choice.chosen](reader)
    with watch.step("evidence"):
        contents = reader.contents(one.passage_id for one in found[: max(MOST_RANKED, question.limit)])
        found = [one for one in found if one.passage_id in contents]
        shown = found[: question.limit]
        mentioned = _entities([contents[one.passage_id] for one in shown])
    return Retrieval(
        question=question,
        strategy=choice,
        evidence=tuple(item(n, one, contents[one.passage_id]) for n, one in enumerate(shown, start=1)),
        ranked=tuple(contents[one.passage_id].passage.source_id for one in found[:MOST_RANKED]),
        entities=mentioned,
        results=reader.results,
        context=reader.context,
        truncated_by=tuple(cut.bound for cut in reader.cuts),
        cuts=tuple(reader.cuts),
        steps=tuple(reader.steps),
        timings_ms=watch.timings_ms,
    )


def _check(question: Question) -> None:
    check_question(question.text)
    check_within("limit", question.limit, MAX_LIMIT)
    check_within("reach", question.reach, MAX_REACH)
    if question.strategy not in STRATEGIES:
        raise Malformed(
            f"There is no strategy {question.strategy[:100]!r}.", hint=f"There are: {', '.join(STRATEGIES)}."
        )


def _choose(reader: Reader) -> StrategyChoice:
    """The strategy of a question: which one that is automatically, its words say, and whether there are communities."""
    question = reader.question
    if question.strategy != "automatic":
        return StrategyChoice(question.strategy, question.strategy, "It was asked for.")
    if not asks_about_the_whole(question.text):
        return StrategyChoice("automatic", _AUTOMATIC, "It measured best over all sets.")
    if not reader.view.communities(None, 1, reader.scope):
        why = "The question asks about the whole, but there are no communities in scope: `attest index --communities`."
        return StrategyChoice("automatic", _AUTOMATIC, why)
    return StrategyChoice("automatic", "communities", "The question asks about the whole and names nothing.")


def _entities(contents: Sequence[Content]) -> tuple[Named, ...]:
    """The entities that the passages mention, those of most passages first, then by name and id."""
    mentioned = Counter(entity for content in contents for entity in content.mentions)
    return tuple(sorted(mentioned, key=lambda entity: (-mentioned[entity], entity.name, entity.id)))
