"""Invented names: words as unevenly frequent as those of a language, so that common and rare ones exist."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 50_000
# The most frequent words are in most names of two words and more; names of one word are rare words, as in life.
_COMMON = 5_000
_STARTS = ("b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "br", "tr", "gl", "")
_MIDDLES = ("a", "e", "i", "o", "u", "ai", "ea", "io", "ou")
_ENDS = ("", "", "", "n", "r", "s", "l", "m", "nd", "rt", "x")
_LENGTHS, _LENGTH_SHARES = (1, 2, 3, 4), (0.2, 0.45, 0.25, 0.1)


class Vocabulary:
    """Invented words, the most frequent first."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)
        found: dict[str, None] = {}
        while len(found) < VOCABULARY:
            found.setdefault(_word(chance))
        self.words = list(found)
        frequencies = 1 / (np.arange(VOCABULARY) + 3)
        self._cumulated = np.cumsum(frequencies) / frequencies.sum()

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Ranks of words, as frequent as in a language (Zipf)."""
        return np.searchsorted(self._cumulated, rng.random(count))

    def names(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        """Names of one to four words."""
        lengths = rng.choice(_LENGTHS, count, p=_LENGTH_SHARES)
        common = iter(self.draw(rng, int(lengths.sum())).tolist())
        rare = rng.integers(_COMMON, VOCABULARY, count).tolist()
        for number, length in enumerate(lengths.tolist()):
            drawn = [next(common) for _ in range(length)]
            ranks = drawn if length > 1 else [rare[number]]
            yield " ".join(self.words[rank].capitalize() for rank in ranks)

    def fragments(self, rng: np.random.Generator, count: int) -> list[str]:
        """Runs of words to fill texts with."""
        ranks = self.draw(rng, count * 7).reshape(count, 7)
        return [" ".join(self.words[rank] for rank in row) for row in ranks.tolist()]


def _word(chance: Random) -> str:
    parts = (chance.choice(_STARTS) + chance.choice(_MIDDLES) for _ in range(chance.randint(2, 3)))
    return "".join(parts) + chance.choice(_ENDS)
