"""What a question is about: names, other forms of them, times, mood, and what is left as themes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from backend.communities.values import Intent
from backend.retrieval.communities.abbreviations import capital_runs, initials, parenthesised
from backend.retrieval.communities.sentiment import sentiment_words
from backend.retrieval.communities.times import time_spans
from backend.retrieval.names import Name, QuestionNames, telling
from backend.words import fold, words

_PIECE = re.compile(r"[^\W_]+")
# Some entities have dozens of aliases, and some names dozens of entities.
_FORMS_EACH, _ENTITIES_EACH = 3, 3


def read_intent(text: str, names: QuestionNames) -> Intent:
    """What a question with these names is about, in its order.

    Entities are names as the question writes them. Aliases are first what it has in parentheses, then the initials of
    its names and of other runs of words with capitals, then what the entities are called. Themes are without what only
    names a time; words of mood are among them.
    """
    entities = _as_written(text, telling(names.names))
    forms = [
        *parenthesised(text),
        *(form for name in (*entities, *capital_runs(text)) for form in initials(name)),
        *(form for name in telling(names.names) for form in _called(name)),
    ]
    time = time_spans(text)
    sentiment = sentiment_words(text)
    return Intent(
        entities=entities,
        aliases=_distinct(forms, besides=entities),
        themes=_themes(names.themes, " ".join(span.text for span in time), sentiment),
        time=time,
        sentiment=sentiment,
    )


def _as_written(text: str, names: Sequence[Name]) -> tuple[str, ...]:
    """The names as the text has them; folded where its words cannot be told apart in it."""
    places = [piece.span() for piece in _PIECE.finditer(text)]
    folded = [word.text for word in words(text)]
    can_be_told = folded == [fold(text[start:end]) for start, end in places]
    written = (text[places[one.start][0] : places[one.end - 1][1]] if can_be_told else one.words for one in names)
    return _distinct(written)


def _called(name: Name) -> Iterator[str]:
    for entity, _ in name.entities[:_ENTITIES_EACH]:
        forms = (form for form in (entity.name, *entity.aliases) if fold(form) != name.words)
        yield from islice(forms, _FORMS_EACH)


def _themes(themes: Sequence[str], times: str, sentiment: Sequence[str]) -> tuple[str, ...]:
    of_time = {word.text for word in words(times)} if times else set()
    kept = [theme for theme in themes if not of_time.issuperset(theme.split())]
    known = {word for theme in kept for word in theme.split()}
    return tuple(dict.fromkeys([*kept, *(word for word in sentiment if word not in known)]))


def _distinct(forms: Iterable[str], besides: Iterable[str] = ()) -> tuple[str, ...]:
    """Those that fold into something new, in their order."""
    seen = {fold(one) for one in besides}
    found: dict[str, str] = {}
    for form in forms:
        found.setdefault(fold(form), form)
    return tuple(form for folded, form in found.items() if folded not in seen)
