"""Ids: every one is a UUIDv5 under one fixed namespace, so that a second load meets its own rows."""

from __future__ import annotations

import json
import re
from uuid import UUID, uuid5

NAMESPACE = UUID("5b0a3c1e-9d54-5e0b-8f0e-0a77e57a77e5")
_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def stable_id(*parts: str) -> str:
    """The UUIDv5 of the parts, which cannot run into one another whatever characters they hold."""
    return str(uuid5(NAMESPACE, json.dumps(parts, ensure_ascii=True)))


def is_canonical(text: str) -> bool:
    """Whether the text is a UUID in canonical lowercase form."""
    return _CANONICAL.fullmatch(text) is not None


def edge_id(source: str, relation_type: str, target: str) -> str:
    """The id of the edge that folds every relation with this source, type and target."""
    return stable_id("edge", source, relation_type, target)
