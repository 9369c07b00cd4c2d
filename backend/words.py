"""Names and texts as plain words, the same for what is stored and for what is asked.

A word is a run of letters and digits of any script, case and accents folded. Scripts that do not put spaces
between words (Chinese, Japanese, Thai, ...) give one word per run, and such a word matches on any part of it.
A text without any letter or digit is made of its symbols, so that a name such as "+++" can be found at all.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Letters that Unicode does not decompose though readers see a plain letter with a stroke or a ligature.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "ŧ": "t", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003ffff"  # Han, supplementary planes
)
_PLAIN = re.compile("[a-z0-9]+")
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `unspaced` when its script has no spaces, so that it may match in the middle of a name."""

    text: str
    unspaced: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        """What the full-text index stores of it: the word, or each character of an unspaced run."""
        if self.unspaced:
            return tuple(self.text)
        # In its full-width form an ASCII symbol is no syntax to any full-text index.
        is_symbol = len(self.text) == 1 and self.text.isascii() and not self.text.isalnum()
        return (chr(ord(self.text) + 0xFEE0),) if is_symbol else (self.text,)


def fold(text: str) -> str:
    """The text with compatibility forms, case and accents folded, and white space collapsed to single spaces."""
    if text.isascii():
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKC", text).casefold()
    decomposed = unicodedata.normalize("NFD", plain)
    bare = "".join(c for c in decomposed if not _is_accent(c))
    return " ".join(unicodedata.normalize("NFC", bare).translate(_STROKES).split())


def words(text: str) -> tuple[Word, ...]:
    """The words of a text in their order, repetitions included."""
    folded = fold(text)
    found = [word for piece in _pieces(folded) for word in _split(piece)]
    # An accent that stands alone folds into nothing at all.
    symbols = folded or text
    return tuple(found or (Word(c) for c in symbols if not c.isspace()))


def plain_words(folded: str) -> list[str] | None:
    """The words of a folded text where these are nothing but ASCII letters and digits; None for any other text."""
    return _PLAIN.findall(folded) or None if folded.isascii() else None


def token_text(text: str) -> str:
    """The tokens of a text, each between single spaces, as the stores keep it."""
    tokens = " ".join(token for word in words(text) for token in word.tokens)
    return f" {tokens} "


def _is_accent(character: str) -> bool:
    # Combining classes 10-35 are Hebrew and Arabic points, 200 and more the accents of Latin, Greek and Cyrillic.
    # Below and between lie voicing marks, viramas and vowel signs, which tell one word from another.
    combining = unicodedata.combining(character)
    return 10 <= combining <= 35 or combining >= 200


def _pieces(folded: str) -> list[str]:
    if folded.isascii():
        return _PLAIN.findall(folded)
    return "".join(c if _is_word_character(c) else " " for c in folded).split()


def _is_word_character(character: str) -> bool:
    # Marks that folding has left belong to the letter before them.
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _split(piece: str) -> list[Word]:
    if piece.isascii():
        return [Word(piece)]
    return [Word(run, unspaced=re.match(f"[{_UNSPACED}]", run) is not None) for run in _RUN.findall(piece)]
