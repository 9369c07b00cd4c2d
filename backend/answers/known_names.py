"""The known names in a sentence: are the things that it names in the passages that it cites?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from backend.answers.figures import is_figure
from backend.models import Entity
from backend.words import fold, token_text

_Tokens: TypeAlias = tuple[str, ...]


def folded_names(entities: Iterable[Entity]) -> dict[str, list[str]]:
    """The folded names of entities, each with its folded aliases."""
    return {fold(entity.name): [fold(alias) for alias in entity.aliases] for entity in entities}


class KnownNames:
    """The names and aliases of the entities that an answer may speak of, by what they are folded into.

    A name that nobody gave is not looked for: capitals alone do not tell one from a title, or from the first word of a
    sentence. Numbers and dates are none either; `figures` reads them however they are written.
    """

    def __init__(self, names: Mapping[str, Collection[str]]) -> None:
        self._forms: dict[_Tokens, list[set[str]]] = defaultdict(list)  # all that a thing may be called
        self._texts: dict[_Tokens, str] = {}
        for name, aliases in names.items():
            group = {name, *aliases}
            texts = {token_text(form) for form in group}
            for form in sorted(group):
                tokens = tuple(token_text(form).split())
                if tokens and not is_figure(form):
                    self._forms[tokens].append(texts)
                    self._texts[tokens] = form
        self._longest: dict[str, int] = defaultdict(int)
        for tokens in self._forms:
            self._longest[tokens[0]] = max(self._longest[tokens[0]], len(tokens))

    def unstated(self, sentence: str, passages: str) -> list[str]:
        """The names in a sentence that are in the passages neither so nor by another name, each once.

        Of names within one another the longest counts. A name that begins with a small letter is taken for a word.
        """
        told = token_text(passages)
        missing = []
        for form in self._named(sentence):
            if not any(text in told for texts in self._forms[form] for text in texts):
                missing.append(_as_written(self._texts[form], sentence))
        return list(dict.fromkeys(missing))

    def _named(self, sentence: str) -> Iterator[_Tokens]:
        tokens = list(_tokens(sentence))
        place = 0
        while place < len(tokens):
            form = self._form_at(tokens, place)
            if form:
                yield form
            place += len(form) or 1

    def _form_at(self, tokens: list[tuple[str, bool]], place: int) -> _Tokens:
        first, is_small = tokens[place]
        longest = 0 if is_small else self._longest.get(first, 0)
        for length in range(longest, 0, -1):
            form = tuple(token for token, _ in tokens[place : place + length])
            if form in self._forms:
                return form
        return ()


def _tokens(sentence: str) -> Iterator[tuple[str, bool]]:
    """The tokens of a sentence, and whether each begins a piece of it that has a small letter first."""
    for piece in sentence.split():
        letters = [c for c in piece if c.isalpha()]
        for number, token in enumerate(token_text(piece).split()):
            yield token, number == 0 and bool(letters) and letters[0].islower()


def _as_written(name: str, sentence: str) -> str:
    """The folded name with the capitals of the sentence, where it stands there letter by letter."""
    found = re.search(re.escape(name), sentence, re.IGNORECASE)
    return found[0] if found else name
