"""The names in a question: through four channels to entities, and what is left of it as themes.

Exact and alias match a whole name, the longest first; fuzzy forgives spelling; semantic knows no spelling at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio

from backend.models import Entity
from backend.ranking import fuse
from backend.retrieval.function_words import FUNCTION_WORDS
from backend.retrieval.reader import Reader
from backend.stores.fulltext import bare
from backend.words import Word, words

EXACT, ALIAS, FUZZY, SEMANTIC = "exact", "alias", "fuzzy", "semantic"
# Words of the longest name that is looked for in a question.
_LONGEST = 12
# How alike a mistyped name is, 0 to 100: one wrong letter in a word of six.
_ALIKE = 84.0
_BEGUN = 200  # entities that are compared letter by letter
_SHORT = 3  # letters of words that nobody mistypes
_NEAREST = 10  # entities near to the question by meaning


@dataclass(frozen=True, slots=True)
class Name:
    """A run of the question's words that names entities; `is_proper` where it is written with a capital or a digit."""

    words: str
    start: int
    end: int
    is_proper: bool
    entities: tuple[tuple[Entity, str], ...]  # each with the channel that found it


@dataclass(frozen=True, slots=True)
class QuestionNames:
    """What a question names, in its order, and the entities near to the whole of it; `rest` is what names nothing."""

    names: tuple[Name, ...]
    near: tuple[Entity, ...]
    themes: tuple[str, ...]
    rest: str

    @property
    def keywords(self) -> tuple[str, ...]:
        """Names and themes, in this order."""
        return tuple(dict.fromkeys((*(name.words for name in self.names), *self.themes)))

    def channels(self) -> Mapping[str, list[str]]:
        """The ids of entities per channel, best first."""
        found: dict[str, list[str]] = {EXACT: [], ALIAS: [], FUZZY: [], SEMANTIC: [one.id for one in self.near]}
        for name in sorted(self.names, key=lambda one: (not one.is_proper, one.start - one.end, one.start)):
            for entity, channel in name.entities:
                found[channel].append(entity.id)
        return {channel: list(dict.fromkeys(ids)) for channel, ids in found.items()}

    def entities(self) -> list[Entity]:
        """All of them, best first: the channels' lists fused by reciprocal ranks."""
        known = {entity.id: entity for name in self.names for entity, _ in name.entities}
        known.update((entity.id, entity) for entity in self.near)
        scores = fuse(self.channels())
        return sorted(known.values(), key=lambda one: (-scores[one.id], one.name, one.id))


def names_in(reader: Reader) -> QuestionNames:
    """The names in the question; costs a query and one search of each collection of entities."""
    asked = words(reader.question.text)
    capitals = _capitals(reader.question.text, len(asked))
    forms = _forms(asked)
    with reader.step("names in the question") as note:
        nearest = _nearest(reader)
        begun = [word for word in asked if len(word.text) > _SHORT and word.text not in FUNCTION_WORDS]
        found = reader.view.named(list(forms), nearest, begun, _BEGUN, reader.scope)
        names = _whole(found, asked, capitals, forms)
        names += _fuzzy(found, asked, capitals, [(name.start, name.end) for name in names])
        note(len(names))
    known = {entity.id: entity for entity in found}
    near = tuple(known[one] for one in nearest if one in known)[:_NEAREST]
    names.sort(key=lambda one: one.start)
    has_proper = any(name.is_proper for name in names)
    places = [(one.start, one.end) for one in telling(names)]
    # What a name has in small letters still says what is asked: of "the director of Heat" only "Heat" goes.
    gone = [_inside(n, places) and (capitals[n] or not has_proper) for n in range(len(asked))]
    free = [word.text for n, word in enumerate(asked) if not gone[n]]
    return QuestionNames(tuple(names), near, _themes(asked, places), " ".join(free))


def telling(names: Sequence[Name]) -> tuple[Name, ...]:
    """Those that are names first of all: where some have a capital, what has none is a word."""
    has_proper = any(name.is_proper for name in names)
    return tuple(name for name in names if name.is_proper or not has_proper)


def entities_named(reader: Reader, texts: Sequence[str]) -> list[Entity]:
    """The entities whose whole name or alias is one of the texts, in the order of these."""
    forms = list(dict.fromkeys(form for text in texts if (form := _text(words(text)))))
    found = reader.view.named(forms, (), (), 0, reader.scope) if forms else []
    by_form = _by_form(found, dict.fromkeys(forms))
    return list({entity.id: entity for form in forms for entity, _ in by_form.get(form, ())}.values())


def _capitals(text: str, count: int) -> list[bool]:
    """For each word whether it is written with a capital or a digit first; all are where words run together."""
    found: list[bool] = []
    for piece in text.split():
        first = next((c for c in piece if c.isalnum()), "")
        found += [first.isupper() or first.isdigit() or (first.isalpha() and not first.islower())] * len(words(piece))
    return found if len(found) == count else [True] * count


# --- channels --------------------------------------------------------------------------------------------------------


def _forms(asked: Sequence[Word]) -> dict[str, list[tuple[int, int]]]:
    """Every run of words that may be a name, with its places."""
    forms: dict[str, list[tuple[int, int]]] = {}
    for start in range(len(asked)):
        for end in range(start + 1, min(len(asked), start + _LONGEST) + 1):
            if any(word.text not in FUNCTION_WORDS for word in asked[start:end]):
                forms.setdefault(_text(asked[start:end]), []).append((start, end))
    return forms


def _whole(
    entities: Iterable[Entity],
    asked: Sequence[Word],
    capitals: Sequence[bool],
    forms: Mapping[str, Sequence[tuple[int, int]]],
) -> list[Name]:
    """Names that stand whole in the question; one within the words of a longer one does not count."""
    by_form = _by_form(entities, forms)
    names: list[Name] = []
    for form in sorted(by_form, key=lambda one: (forms[one][0][0] - forms[one][0][1], forms[one][0][0])):
        for start, end in forms[form]:
            if not any(start < name.end and name.start < end for name in names):
                names.append(_name(asked, capitals, start, end, by_form[form]))
    return names


def _by_form(entities: Iterable[Entity], forms: Mapping[str, object]) -> dict[str, list[tuple[Entity, str]]]:
    found: dict[str, dict[str, tuple[Entity, str]]] = {}
    for entity in entities:
        for number, name in enumerate((entity.name, *entity.aliases)):
            for form in {_text(words(name)), _text(words(bare(name)))} & forms.keys():
                found.setdefault(form, {}).setdefault(entity.id, (entity, ALIAS if number else EXACT))
    return {form: list(own.values()) for form, own in found.items()}


def _fuzzy(
    entities: Iterable[Entity], asked: Sequence[Word], capitals: Sequence[bool], taken: Sequence[tuple[int, int]]
) -> list[Name]:
    """Names that are nearly a run of the words that are left."""
    free = {n for n in range(len(asked)) if not _inside(n, taken)}
    free -= {n for n in free if asked[n].text in FUNCTION_WORDS}
    found: dict[tuple[int, int], list[tuple[float, Entity]]] = {}
    for entity in entities if free else ():
        alike, place = max(_alike(name, asked, free) for name in (entity.name, *entity.aliases))
        if alike >= _ALIKE:
            found.setdefault(place, []).append((alike, entity))
    names: list[Name] = []
    for start, end in sorted(found, key=lambda place: (place[0] - place[1], place)):
        if not any(start < name.end and name.start < end for name in names):
            best = sorted(found[start, end], key=lambda one: (-one[0], one[1].name, one[1].id))
            names.append(_name(asked, capitals, start, end, [(entity, FUZZY) for _, entity in best]))
    return names


def _alike(name: str, asked: Sequence[Word], free: set[int]) -> tuple[float, tuple[int, int]]:
    """How alike a name is to a run of as many free words, at best, and which run that is."""
    form = words(name)
    best = (0.0, (0, 0))
    for start in sorted(free):
        run = range(start, start + len(form))
        if all(n in free for n in run):
            best = max(best, (ratio(_text(form), _text([asked[n] for n in run])), (start, start + len(form))))
    return best


def _nearest(reader: Reader) -> list[str]:
    """The entities whose vectors are nearest to the question."""
    vector = reader.question_vector()
    scores: dict[str, float] = {}
    for collection in reader.catalog.vector_collections:
        if collection.kind == "entity":
            found = reader.open_index().nearest(collection.name, vector, limit=5 * _NEAREST)
            scores.update((one.id, one.score) for one in found)
    return sorted(scores, key=lambda entity_id: (-scores[entity_id], entity_id))[: 5 * _NEAREST]


# --- runs of words ---------------------------------------------------------------------------------------------------


def _name(
    asked: Sequence[Word], capitals: Sequence[bool], start: int, end: int, entities: Iterable[tuple[Entity, str]]
) -> Name:
    is_proper = any(capitals[n] and asked[n].text not in FUNCTION_WORDS for n in range(start, end))
    return Name(_text(asked[start:end]), start, end, is_proper, tuple(entities))


def _themes(asked: Sequence[Word], taken: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Runs of words that are neither in a name nor function words."""
    runs: list[list[str]] = [[]]
    for n, word in enumerate(asked):
        if _inside(n, taken) or word.text in FUNCTION_WORDS:
            runs.append([])
        else:
            runs[-1].append(word.text)
    return tuple(dict.fromkeys(" ".join(run) for run in runs if run))


def _text(run: Sequence[Word]) -> str:
    return " ".join(word.text for word in run)


def _inside(n: int, places: Iterable[tuple[int, int]]) -> bool:
    return any(start <= n < end for start, end in places)
