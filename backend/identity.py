"""Ids: every one is a UUIDv5 under one fixed namespace, so that a second load meets its own rows."""

from __future__ import annotations

import re
from hashlib import sha1
from uuid import UUID

import orjson

NAMESPACE = UUID("5b0a3c1e-9d54-5e0b-8f0e-0a77e57a77e5")
_NAMESPACE_BYTES = NAMESPACE.bytes
_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def stable_id(*parts: str) -> str:
    """The UUIDv5 (RFC 9562, 5.5) of the parts as a JSON list, so that they cannot run into one another."""
    # As `uuid.uuid5` has it, without its objects: a load asks for a few million ids.
    digest = bytearray(sha1(_NAMESPACE_BYTES + orjson.dumps(parts), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_canonical(text: str) -> bool:
    """Whether the text is a UUID in canonical lowercase form."""
    return _CANONICAL.fullmatch(text) is not None


def edge_id(source: str, relation_type: str, target: str) -> str:
    """The id of the edge that folds every relation with this source, type and target."""
    return stable_id("edge", source, relation_type, target)


def statement_id(passage: str, place: int) -> str:
    """The id of the statement at a place of a passage."""
    return stable_id("statement", passage, str(place))
