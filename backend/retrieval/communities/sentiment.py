"""Words by which a question asks for the good or the bad of a thing."""

from __future__ import annotations

from backend.words import words

POSITIVE = frozenset(
    {"achievement", "achievements", "admired", "advantage", "advantages", "award", "awards", "benefit", "benefits"}
    | {"best", "celebrated", "favorable", "favourable", "good", "great", "improve", "improved", "improvement"}
    | {"improvements", "optimistic", "popular", "positive", "praise", "praised", "progress", "prosperous", "strength"}
    | {"strengths", "succeed", "succeeded", "success", "successes", "successful", "support", "supported", "trusted"}
    | {"victory", "welcomed"}
)
NEGATIVE = frozenset(
    {"accused", "against", "bad", "blame", "blamed", "complaint", "complaints", "concern", "concerns", "conflict"}
    | {"conflicts", "controversial", "controversies", "controversy", "criticised", "criticism", "criticisms"}
    | {"criticized", "crisis", "damage", "damages", "danger", "dangerous", "decline", "declined", "disadvantage"}
    | {"disadvantages", "dispute", "disputes", "fail", "failed", "failure", "failures", "feared", "fraud", "harm"}
    | {"harmful", "hostile", "loss", "losses", "negative", "oppose", "opposed", "opposition", "poor", "problem"}
    | {"problems", "risk", "risks", "scandal", "scandals", "threat", "threats", "unpopular", "weakness"}
    | {"weaknesses", "worst", "wrong"}
)


def sentiment_words(text: str) -> tuple[str, ...]:
    """The words of praise and of blame in a text, folded, in their order, each once."""
    return tuple(dict.fromkeys(word.text for word in words(text) if word.text in POSITIVE | NEGATIVE))
