"""Other forms of the names in a text: what stands in parentheses behind them, and the initials of their words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backend.retrieval.function_words import FUNCTION_WORDS

_WORD = re.compile(r"[^\W_][\w'’-]*")
_PARENTHESIS = re.compile(r"\(\s*([^()]{2,80}?)\s*\)")
_SHORT = re.compile(r"[^\W\d_](?:[.&-]?[^\W_]){1,9}\.?")
_JOINS = frozenset(["of", "the", "for", "de", "la"])
_SMALL = _JOINS | {"and"}
# With a capital because they begin the question.
_ASKING = frozenset(
    {"compare", "describe", "discuss", "explain", "find", "give", "identify", "list", "name", "show", "summarise"}
    | {"summarize", "tell"}
)
_MOST_WORDS = 12  # of a long form


def initials(name: str) -> tuple[str, ...]:
    """The initials of a name of several words: those of all, and those without the small words (USA, UA)."""
    words = [word[0] for word in _WORD.finditer(name)]
    telling = [word for word in words if word.lower() not in _SMALL]
    forms = ("".join(word[0].upper() for word in each) for each in (telling, words) if len(telling) > 1)
    return tuple(dict.fromkeys(forms))


def parenthesised(text: str) -> tuple[str, ...]:
    """The long and the short form of each pair such as "World Health Organization (WHO)", in either order."""
    found: list[str] = []
    for parenthesis in _PARENTHESIS.finditer(text):
        inside = parenthesis[1]
        before = list(_WORD.finditer(text, max(0, parenthesis.start() - 200), parenthesis.start()))[-_MOST_WORDS:]
        if _is_short(inside):
            found += _expanded(text, inside, before)
        elif before and _is_short(before[-1][0]) and _letters(before[-1][0]) in initials(inside):
            found += (inside, before[-1][0])
    return tuple(dict.fromkeys(found))


def capital_runs(text: str) -> tuple[str, ...]:
    """The runs of several words with capitals, as they stand; small words may stand inside them."""
    found: list[str] = []
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text), None]:
        beside = word is not None and bool(run) and text[run[-1].end() : word.start()] == " "
        if word is not None and beside and (word[0][0].isupper() or word[0] in _JOINS):
            run.append(word)
            continue
        found += _whole(text, run)
        starts = word is not None and word[0][0].isupper() and word[0].lower() not in FUNCTION_WORDS | _ASKING
        run = [word] if word is not None and starts else []
    return tuple(dict.fromkeys(found))


def _whole(text: str, run: list[re.Match[str]]) -> Iterator[str]:
    while run and not run[-1][0][0].isupper():
        run.pop()
    if len(run) > 1:
        yield text[run[0].start() : run[-1].end()]


def _is_short(text: str) -> bool:
    return _SHORT.fullmatch(text) is not None and sum(c.isupper() for c in text) > 1


def _letters(short: str) -> str:
    return "".join(c for c in short if c.isalnum()).upper()


def _expanded(text: str, short: str, before: list[re.Match[str]]) -> tuple[str, ...]:
    """The short form, after the words before it that have its initials, where there are such."""
    for word in before:
        long = text[word.start() : before[-1].end()]
        if word[0] not in _SMALL and _letters(short) in initials(long):
            return long, short
    return (short,)
