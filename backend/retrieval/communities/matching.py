"""The entities of a question: four channels fused by reciprocal ranks, of which the ten best are E_q."""

from __future__ import annotations

from backend.communities.values import MatchedEntity
from backend.models import Entity
from backend.ranking import fuse
from backend.retrieval.names import SEMANTIC, QuestionNames
from backend.retrieval.reader import Reader

MOST = 10
# How near an entity must be to what a question says beside its names, to belong to it by meaning alone: with the
# bundled encoder two names of the same thing are rarely further apart, and two things of one kind rarely nearer.
NEAR = 0.55


def matched(reader: Reader, names: QuestionNames) -> list[tuple[Entity, MatchedEntity]]:
    """E_q, best first; empty where nothing matches a name, whatever is near by meaning.

    What is found by meaning alone is in it only where it is near to the words that no name covers.
    """
    channels = names.channels()
    named = {one for channel, ids in channels.items() if channel != SEMANTIC for one in ids}
    if not named:
        return []
    alone = [one for one in channels[SEMANTIC] if one not in named]
    near = _near(reader, names, alone)
    channels = {**channels, SEMANTIC: [one for one in channels[SEMANTIC] if one in named or one in near]}
    scores = fuse(channels)
    known = {entity.id: entity for entity in names.entities()}
    best = sorted(scores, key=lambda one: (-scores[one], known[one].name, one))[:MOST]
    return [(known[one], _matched(known[one], channels, scores[one])) for one in best]


def _near(reader: Reader, names: QuestionNames, entity_ids: list[str]) -> set[str]:
    if not entity_ids or not names.themes:
        return set()
    (rest,) = reader.encode([" ".join(names.themes)])
    vectors = reader.vectors_of("entity", entity_ids)
    return {one for one, vector in vectors.items() if round(float(rest @ vector), 6) >= NEAR}


def _matched(entity: Entity, channels: dict[str, list[str]], score: float) -> MatchedEntity:
    ranks = {name: ids.index(entity.id) + 1 for name, ids in channels.items() if entity.id in ids}
    return MatchedEntity(entity.id, entity.name, entity.label, ranks, round(score, 6))
