"""One order of all statements: rankings of retrievers and reranker, fused by weighted reciprocal ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend import statements
from backend.models import Cut
from backend.ranking import RRF_K
from backend.retrieval.reader import Reader
from backend.retrieval.traversal.options import TraversalOptions
from backend.retrieval.traversal.retrievers import Reached
from backend.retrieval.traversal.tfidf import tfidf_scores
from backend.statements import Key
from backend.stores.lexical import Content

# A long question is compared in pieces of so many words, each beginning with the last few of the one before.
_PIECE, _OVERLAP = 25, 5


@dataclass(frozen=True, slots=True)
class Ranked:
    """A statement with its fused score, its places per retriever, and rank and score that the reranker gave it."""

    key: Key
    score: float
    ranks: Mapping[str, int]
    reached: Reached
    reranked: tuple[int, float] | None


def rank_statements(
    reader: Reader,
    options: TraversalOptions,
    found: Mapping[str, Sequence[Reached]],
    weights: Mapping[str, float],
    transcriptions: Sequence[str],
) -> list[Ranked]:
    """All statements, best first: weight / (60 + rank) summed over the lists, that of the reranker weighing 1."""
    ranks = {name: {one.key: n for n, one in enumerate(own, start=1)} for name, own in found.items()}
    ways: dict[Key, Reached] = {}
    for own in found.values():
        for one in own:
            ways.setdefault(one.key, one)
    contents = {content.passage.id: content for content in reader.known(dict.fromkeys(key.passage_id for key in ways))}
    fused = {
        key: sum(weights[name] / (RRF_K + places[key]) for name, places in ranks.items() if key in places)
        for key in ways
    }
    with reader.step(f"statements ranked, reranker {options.reranker}") as note:
        best_first = sorted(ways, key=lambda one: (-fused[one], one))
        scores = rerank(reader, options, best_first, contents, transcriptions)
        note(len(scores))
    reranked = {
        key: (n, scores[key]) for n, key in enumerate(sorted(scores, key=lambda one: (-scores[one], one)), start=1)
    }
    ranked: list[Ranked] = []
    for key, way in ways.items():
        own_ranks = {name: places[key] for name, places in ranks.items() if key in places}
        score = fused[key] + (1 / (RRF_K + reranked[key][0]) if key in reranked else 0.0)
        ranked.append(Ranked(key, round(score, 6), own_ranks, way, reranked.get(key)))
    ranked.sort(key=lambda one: (-one.score, one.key))
    return _kept(ranked, options)[: options.max_statements]


def _kept(ranked: Sequence[Ranked], options: TraversalOptions) -> list[Ranked]:
    """Without what is far below the best, by its share or by a score."""
    best = ranked[0].score if ranked else 0.0
    least = max(best * (options.statement_pruning_factor or 0.0), options.statement_pruning_threshold or 0.0)
    return [one for one in ranked if one.score >= least]


def rerank(
    reader: Reader,
    options: TraversalOptions,
    found: Sequence[Key],
    contents: Mapping[str, Content],
    transcriptions: Sequence[str],
) -> dict[Key, float]:
    """The scores of the reranker for statements, best first; none for `none`, and for what it does not score."""
    if options.reranker == "none" or not found:
        return {}
    if options.reranker == "encoder":
        near = reader.similarities(list(contents.values()), reader.question_vector())
        return {
            key: near[key.passage_id, max(key.place, 0)] for key in found if (key.passage_id, max(key.place, 0)) in near
        }
    texts = {key: _text(contents[key.passage_id], key.place) for key in found}
    if options.reranker == "model":
        # Reading a question with each text takes long, so only as many are read as can be kept.
        read = list(texts)[: options.max_statements]
        if len(read) < len(texts):
            reader.note(Cut("candidate", len(read), missing=len(texts) - len(read)))
        own = reader.reranker().scores(reader.question.text, [texts[key] for key in read])
        return dict(zip(read, own, strict=True))
    pieces = [piece for piece in _pieces(reader.question.text) if piece not in transcriptions]
    primary = len(pieces) + max(len(transcriptions) // 2, 1 if transcriptions else 0)
    phrases = [*pieces, *transcriptions]
    scores = tfidf_scores(list(texts.values()), phrases, limit=options.max_statements, primary=primary)
    return {key: round(scores[text], 4) for key, text in texts.items() if text in scores}


def _text(content: Content, place: int) -> str:
    topic = statements.topic(content, place)
    return f"{topic.title if topic else content.passage.document.title}: {statement_text(content, place)}"


def statement_text(content: Content, place: int) -> str:
    """A statement with its facts and details in brackets."""
    said = [*statements.facts(content, place), *filter(None, statements.details(content, place).splitlines())]
    own = statements.text(content, place)
    return f"{own} (details: {', '.join(said)})" if said else own


def _pieces(question: str) -> list[str]:
    asked = question.lower().split()
    starts = range(0, max(1, len(asked) - _OVERLAP), _PIECE - _OVERLAP)
    return list(dict.fromkeys(" ".join(asked[start : start + _PIECE]) for start in starts))
