"""Statements of passages: which of them count, what they say, and the facts that they support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from backend.identity import statement_id
from backend.models import Span
from backend.stores.lexical import Content, StatedFact, Topic

# The place of the statement that a passage is when it has none: its whole text.
WHOLE = -1


class Key(NamedTuple):
    """A statement by its passage and its place there."""

    passage_id: str
    place: int

    @property
    def id(self) -> str:
        """Its id."""
        return statement_id(self.passage_id, self.place)


def places(content: Content) -> list[int]:
    """The places of the statements that count: those of a bundle, else the sentences that mention an entity.

    A passage without any is one statement itself.
    """
    if any(statement.is_given for statement in content.statements):
        found = sorted(range(len(content.statements)), key=lambda n: (content.statements[n].position, n))
    else:
        found = sorted({place for own in content.mentions.values() for place in own})
    return found or [WHOLE]


def keys(content: Content) -> list[Key]:
    """The statements that count, in their order."""
    return [Key(content.passage.id, place) for place in places(content)]


def text(content: Content, place: int) -> str:
    """What a statement says."""
    if place == WHOLE:
        return content.passage.text
    return content.statements[place].of(content.passage.text)


def details(content: Content, place: int) -> str:
    """What a bundle says of a statement beside its text."""
    return "" if place == WHOLE else content.statements[place].details


def span(content: Content, place: int) -> Span | None:
    """Where a statement stands in its passage, where that is known."""
    if place == WHOLE:
        return 0, len(content.passage.text)
    statement = content.statements[place]
    return None if statement.start is None or statement.end is None else (statement.start, statement.end)


def topic(content: Content, place: int) -> Topic | None:
    """The topic that a statement belongs to: its own, else the first of its passage."""
    own = None if place == WHOLE else content.statements[place].topic_id
    return next((one for one in content.topics if one.id == own), content.topics[0] if content.topics else None)


def facts(content: Content, place: int) -> list[str]:
    """The facts that a statement supports, as texts, in order."""
    found = [
        f"{fact.subject.name} {fact.predicate} {fact.object.name}"
        for fact in content.facts
        if place in fact_places(content, fact)
    ]
    found += [
        f"{one.subject.name} {one.predicate} {one.complement}" for one in content.complements if place in one.statements
    ]
    return list(dict.fromkeys(found))


def fact_places(content: Content, fact: StatedFact) -> Sequence[int]:
    """The statements of a passage that support a fact: those that a bundle names, else that mention both its ends.

    Where none mentions both, those that mention either; where none does that, all.
    """
    if fact.statements is not None:
        return fact.statements
    counting = places(content)
    subject, other = (set(content.mentions.get(end, ())) for end in (fact.subject, fact.object))
    for chosen in (subject & other, subject | other):
        if found := [place for place in counting if place in chosen]:
            return found
    return counting
