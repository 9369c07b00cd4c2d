"""How names are scored against a query, and how ranked lists are fused.

The lexical score uses the query and one name, nothing of the corpus, so that hidden entities cannot move it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from backend.models import Match
from backend.words import Word, fold, plain_words, words

# Reciprocal rank fusion, score = sum of 1 / (k + rank) over the lists: Cormack, Clarke and Büttcher, "Reciprocal
# Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009, which found k = 60.
RRF_K = 60


class NameScore(NamedTuple):
    """How well one name or alias answers a query; greater is better, field by field in this order."""

    exact_name: bool
    exact_alias: bool
    query_share: float  # share of the query's words that the name has, a beginning counting as the word
    whole: bool  # no word of the query matched merely as a beginning
    name_share: float  # share of the name's words that the query has

    @property
    def value(self) -> float:
        """One number in the same order: 4 exact name, 2 exact alias, plus the shares with descending weight."""
        exactness = 4 * self.exact_name + 2 * self.exact_alias
        return round(exactness + self.query_share + 0.001 * self.whole + 0.0009 * self.name_share, 6)


_NO_MATCH = NameScore(False, False, 0.0, True, 0.0)


class NameScorer:
    """Scores names against one query."""

    def __init__(self, text: str) -> None:
        self.folded = fold(text)
        self.words = words(text)
        self._asked = list(dict.fromkeys(self.words))
        self._joined = _joined(self.words)
        self._texts = [word.text for word in self.words]
        self._any = re.compile("|".join(re.escape(word.text) for word in self._asked))
        self._plain = {word.text for word in self._asked if not word.unspaced}
        self._last = self.words[-1].text if self.words and not self.words[-1].unspaced else None

    def score(self, name: str, aliases: Sequence[str] = ()) -> NameScore | None:
        """The best of the name and the aliases; None when no word matches."""
        best = max(self._scores(name, aliases))
        return best if best.query_share else None

    def match(self, name: str, aliases: Sequence[str] = ()) -> Match:
        """Which of the name and the aliases is the best, ties to the earlier."""
        scores = self._scores(name, aliases)
        best = max(scores)
        number = scores.index(best)
        kind = "alias" if number else "name"
        return Match((name, *aliases)[number], kind, best.exact_name or best.exact_alias)

    def _scores(self, name: str, aliases: Sequence[str]) -> list[NameScore]:
        return [self._score(name, True), *[self._score(alias, False) for alias in aliases]]

    def _score(self, name: str, is_name: bool) -> NameScore:
        # Thousands of names are scored for one query. Half are aliases without any of its words, and nearly all the
        # others are of one kind: words with spaces between them.
        folded = fold(name)
        if folded and folded.isascii() and not self._any.search(folded):
            return _NO_MATCH
        plain = plain_words(folded)
        if plain is None:
            return self._score_any(name, folded, is_name)
        asked, last = self._plain, self._last
        whole = [word for word in plain if word in asked]
        begun = [] if last is None or last in whole else [word for word in plain if word.startswith(last)]
        if not whole and not begun:
            return _NO_MATCH
        is_exact = plain == self._texts
        query_share = 1.0 if is_exact else (len(set(whole)) + bool(begun)) / len(self._asked)
        shared = len(whole) + len([word for word in begun if word not in asked])
        return NameScore(is_exact and is_name, is_exact and not is_name, query_share, not begun, shared / len(plain))

    def _score_any(self, name: str, folded: str, is_name: bool) -> NameScore:
        own = words(name)
        exact = folded == self.folded or (bool(own) and _joined(own) == self._joined)
        whole = {word for word in self._asked if _has(own, word)}
        last = self.words[-1] if self.words else None
        begun = {last} - whole if last is not None and _begins(own, last) else set()
        matched = whole | begun
        return NameScore(
            exact_name=exact and is_name,
            exact_alias=exact and not is_name,
            query_share=1.0 if exact else len(matched) / max(1, len(self._asked)),
            whole=not begun,
            name_share=_name_share(own, whole, begun),
        )


def reciprocal_rank(rank: int) -> float:
    """1 / (k + rank) with k = 60, what a rank (from 1) adds to a fused score."""
    return 1 / (RRF_K + rank)


def fuse(rankings: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The reciprocal rank fusion of ranked lists of ids, in no order."""
    scores: dict[str, float] = {}
    for ranking in rankings.values():
        for rank, entity_id in enumerate(ranking, start=1):
            scores[entity_id] = scores.get(entity_id, 0.0) + reciprocal_rank(rank)
    return scores


def _joined(own: Sequence[Word]) -> str:
    return " ".join(word.text for word in own)


def _has(own: Sequence[Word], asked: Word) -> bool:
    if asked.unspaced:
        return any(word.unspaced and asked.text in word.text for word in own)
    return asked in own


def _begins(own: Sequence[Word], asked: Word) -> bool:
    return not asked.unspaced and any(not word.unspaced and word.text.startswith(asked.text) for word in own)


def _name_share(own: Sequence[Word], whole: set[Word], begun: set[Word]) -> float:
    """Matched words over all words of the name; a character of an unspaced run counts as a word."""
    total = sum(len(word.tokens) for word in own)
    matched = sum(_matched_tokens(word, whole, begun) for word in own)
    return matched / total if total else 0.0


def _matched_tokens(word: Word, whole: set[Word], begun: set[Word]) -> int:
    if word.unspaced:
        return min(
            len(word.text), sum(len(asked.text) for asked in whole if asked.unspaced and asked.text in word.text)
        )
    return int(word in whole or any(word.text.startswith(asked.text) for asked in begun))
