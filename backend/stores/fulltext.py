"""What a full-text index of names holds, alike in every store: it proposes, and the scorer above the stores decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend.models import Entity
from backend.words import Word, fold, token_text, words

# How many matches of one word are read, however many there are: a word that tens of thousands of names share must not
# cost more than one that a few share. Names with all the words, and whole names, are read apart.
WORD_LIMIT = 5_000
# Words of a query that take part in proposing; the scorer sees all of them.
MAX_WORDS = 32
# Letters that a mistyped word has right.
_BEGINNING = 3
# Ends one name in the index, so that a phrase cannot run from one name into the next.
NAME_END = "\u241e"


def names_of(entity: Entity) -> tuple[str, ...]:
    """The name and the aliases."""
    return (entity.name, *entity.aliases)


def name_text(entity: Entity) -> str:
    """The words of name and aliases, as an index takes them apart at the spaces."""
    return NAME_END.join(token_text(name) for name in names_of(entity))


# What tells things of one name apart stands in brackets behind it: "Halcyon (ship)".
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


def bare(name: str) -> str:
    """A name without what it has in brackets at its end, unless that is all of it."""
    return _BRACKETS.sub("", name) or name


def whole_forms(name: str) -> set[str]:
    """A name whole, as it is written and as its words are: "Meridian-Freight" is also found by "meridian freight"."""
    return {fold(name), *(" ".join(word.text for word in words(form)) for form in (name, bare(name)))}


def asked_words(query: Sequence[Word]) -> list[Word]:
    """The distinct words that take part in proposing, in their order."""
    return list(dict.fromkeys(query))[:MAX_WORDS]


def beginning(word: Word) -> Word:
    """The first letters of a word, by which what begins like it is found; a word of an unspaced script whole."""
    return word if word.unspaced else Word(word.text[:_BEGINNING])
