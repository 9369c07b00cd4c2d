"""The oracle of passage search; see `tests/model.py`."""

from __future__ import annotations

import math

from backend.errors import Malformed
from backend.models import ChannelScore, Mode, PassageHit, PassageQuery, PassageResult
from backend.vectors.base import Encoder
from backend.words import token_text, words
from tests.model import Seen, StoredPassage, Truth, cosine


def search_passages(truth: Truth, query: PassageQuery, encoder: Encoder) -> PassageResult:
    """Design 2.4: full text and meaning, fused by RRF (60), visible passages only, no threshold."""
    if not query.text.strip() or not 1 <= query.limit <= 500:
        raise Malformed("blank text or limit")
    seen = Seen(truth, query.scope)
    channels: dict[str, list[tuple[StoredPassage, float]]] = {}
    if query.mode is not Mode.SEMANTIC:
        channels["lexical"] = _lexical(seen, query.text)
    if query.mode is not Mode.LEXICAL:
        channels["semantic"] = _semantic(seen, query.text, encoder)
    kept = {name: ranked[: 2 * query.limit] for name, ranked in channels.items()}
    scores: dict[str, float] = {}
    passages: dict[str, StoredPassage] = {}
    for ranked in kept.values():
        for rank, (passage, raw) in enumerate(ranked, start=1):
            passages[seen.id(passage)] = passage
            one = 1 / (60 + rank) if query.mode is Mode.HYBRID else raw
            scores[seen.id(passage)] = scores.get(seen.id(passage), 0) + one
    order = list(scores)
    best = sorted(scores, key=lambda key: (-scores[key], order.index(key)))[: query.limit]
    hits = tuple(
        PassageHit(
            seen.passage(passages[key], [mention.entity for mention in passages[key].mentions]),
            round(scores[key], 6),
            {
                name: ChannelScore(rank, raw)
                for name, ranked in kept.items()
                for rank, (passage, raw) in enumerate(ranked, start=1)
                if seen.id(passage) == key
            },
        )
        for key in best
    )
    return PassageResult(query, hits, (), (), {})


def _lexical(seen: Seen, text: str) -> list[tuple[StoredPassage, float]]:
    """By the share of the words' weight that a passage has; a rare word among those found weighs more."""
    asked = [f" {' '.join(word.tokens)} " for word in dict.fromkeys(words(text))]

    def has(passage: StoredPassage, word: str) -> bool:
        fields = seen.truth.documents[passage.key[0]].versions[passage.key[1] - 1].fields
        texts = (fields.get("title") or "", passage.row.get("heading") or "", passage.row["text"])
        return any(word in token_text(one) for one in texts)

    found = [passage for passage in seen.visible if any(has(passage, word) for word in asked)]
    count = {word: sum(has(passage, word) for passage in found) for word in asked}
    weight = {word: math.log(1 + len(found) / number) if number else 0.0 for word, number in count.items()}
    total = sum(weight[word] for word in asked) or 1.0
    scored = [
        (passage, round(sum(weight[word] for word in asked if has(passage, word)) / total, 6)) for passage in found
    ]
    return sorted(scored, key=lambda one: (-one[1], len(token_text(one[0].row["text"])), seen.id(one[0])))


def _semantic(seen: Seen, text: str, encoder: Encoder) -> list[tuple[StoredPassage, float]]:
    question = encoder.encode([text])[0]

    def near(passage: StoredPassage) -> float:
        fields = seen.truth.documents[passage.key[0]].versions[passage.key[1] - 1].fields
        parts = (fields.get("title"), passage.row.get("heading"), passage.row["text"])
        return cosine(question, encoder.encode(["\n".join(part for part in parts if part)])[0])

    scored = [(passage, near(passage)) for passage in seen.visible]
    return sorted(scored, key=lambda one: (-one[1], seen.id(one[0])))
