"""The schema in Neo4j: every label, relationship type, constraint and index, and why they are as they are.

(:Document)-[:HAS_PART]->(:Chunk)<-[:MENTIONED_IN]-(:Entity), and between two entities a relationship per edge, whose
type is that of the relations it folds. A `Document` node is one version of a document. (:Relation)-[:STATED_IN]->
(:Chunk) says which passages state a relation, and an `Edge` node stands for each edge where a walk reads them: in the
order of their stored support, from an index, since a hub's relationships would have to be sorted at every read.
(:Document)-[:HAS_TOPIC]->(:Topic)<-[:ABOUT]-(:Chunk) are the themes of a version, and (:Entity)-[:COMPLEMENT_IN]->
(:Chunk) is a fact whose object is a plain text, in one passage. The statements of a passage are a property of it, each
a JSON text; what is in some of them (a mention, support, such a fact) has their places, from 0, in its `statements`.
(:Entity)-[:IN_COMMUNITY]->(:Community)-[:PARENT_COMMUNITY]->(:Community) is the hierarchy of a dataset, with the report
of each community in its properties. (:Entity)<-[:SUBJECT]-(:Claim)-[:CLAIMED_IN]->(:Chunk) is a claim; some have an
OBJECT.

What a job writes carries `since`, the number of the commit that will show it; a reading asks for what is not younger
than the commit it began with. A hierarchy is replaced whole while communities keep their ids, so that for a while two
nodes may have the same: the `key` of a community has the number of its commit too. Text from data is in no range index,
which refuses long ones: hashes stand for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

SCHEMA_VERSION = 3

DOCUMENT, CHUNK, TOPIC = "Document", "Chunk", "Topic"
ENTITY, RELATION, EDGE = "Entity", "Relation", "Edge"
COMMUNITY, CLAIM = "Community", "Claim"
# One node that says which commit is the last, and one per name that requests may use.
STORE, DATASET, LABEL, TYPE = "AttestStore", "AttestDataset", "AttestLabel", "AttestRelationType"
COLLECTION, METADATA_KEY, VECTORS = "AttestCollection", "AttestMetadataKey", "AttestVectors"
JOB = "AttestJob"
# The `since` of what a commit has let go and nobody has deleted yet: later than every commit.
NEVER = 2**62
# On what a commit has changed, until what is derived from it has been computed.
TOUCHED = "AttestTouched"
OWN_LABELS = frozenset(
    (
        DOCUMENT,
        CHUNK,
        TOPIC,
        ENTITY,
        RELATION,
        EDGE,
        COMMUNITY,
        CLAIM,
        STORE,
        DATASET,
        LABEL,
        TYPE,
        COLLECTION,
        METADATA_KEY,
        VECTORS,
        JOB,
    )
) | {TOUCHED}

HAS_PART, HAS_TOPIC, ABOUT = "HAS_PART", "HAS_TOPIC", "ABOUT"
MENTIONED_IN, STATED_IN, COMPLEMENT_IN, RELATED = "MENTIONED_IN", "STATED_IN", "COMPLEMENT_IN", "RELATED"
IN_COMMUNITY, PARENT_COMMUNITY = "IN_COMMUNITY", "PARENT_COMMUNITY"
SUBJECT, OBJECT, CLAIMED_IN = "SUBJECT", "OBJECT", "CLAIMED_IN"
OWN_TYPES = frozenset(
    (
        HAS_PART,
        HAS_TOPIC,
        ABOUT,
        MENTIONED_IN,
        STATED_IN,
        COMPLEMENT_IN,
        RELATED,
        IN_COMMUNITY,
        PARENT_COMMUNITY,
        SUBJECT,
        OBJECT,
        CLAIMED_IN,
    )
)
# A server keeps at most 65,535 relationship types and slows down long before: further ones are RELATED. Every
# relationship has its type as a property, which is what queries read.
MAX_TYPES = 10_000
_MAX_TOKEN = 200

FULL_TEXT, FULL_TEXT_PROPERTIES = "attest_names", ("names", "name_keys", "label_token")
# What a passage is found by; the words of its title are those of its version, which an index of passages cannot reach.
PASSAGE_FULL_TEXT, PASSAGE_WORDS = "attest_passages", ("title_words", "heading_words", "words")
# Words are folded and split above the stores; the analyzer only takes them apart again at the spaces.
FULL_TEXT_CONFIG = {"fulltext.analyzer": "whitespace", "fulltext.eventually_consistent": False}


@dataclass(frozen=True, slots=True)
class Index:
    """An index or constraint of ours: its name and the statement that makes it unless it is there."""

    name: str
    statement: str


@dataclass(frozen=True, slots=True)
class FullTextIndex(Index):
    """A full-text index, and what of which nodes it holds."""

    label: str
    properties: tuple[str, ...]


def _full_text(name: str, label: str, properties: tuple[str, ...]) -> FullTextIndex:
    config = ", ".join(f"`{key}`: {value!r}" for key, value in FULL_TEXT_CONFIG.items())
    statement = (
        f"CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR (n:{label}) ON EACH [n.{', n.'.join(properties)}] "
        f"OPTIONS {{indexConfig: {{{config}}}}}"
    )
    return FullTextIndex(name, statement, label, properties)


def _unique(label: str, key: str) -> Index:
    name = f"attest_{label.lower()}_{key}"
    return Index(name, f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{key} IS UNIQUE")


def _range(label: str, *keys: str) -> Index:
    name = f"attest_{label.lower()}_{'_'.join(keys)}"
    columns = ", ".join(f"n.{key}" for key in keys)
    return Index(name, f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({columns})")


def _between(relationship: str, key: str) -> Index:
    name = f"attest_{relationship.lower()}_{key}"
    return Index(name, f"CREATE INDEX {name} IF NOT EXISTS FOR ()-[r:{relationship}]-() ON (r.{key})")


# `name` of these nodes may be of any length, so their `id` is its hash.
_NAMED = (DATASET, LABEL, TYPE, COLLECTION, METADATA_KEY)
_ORDER = ("less_documents", "less_passages", "id")
FAR_END = {"source": "target", "target": "source"}


def _columns(end: str, *between: str) -> tuple[str, ...]:
    """The order of the edges at one end, and what is asked of thousands of them, so that none has to be opened."""
    return (end, *between, *_ORDER, FAR_END[end], f"kept_at_{end}", "since")


def in_order(end: str, *between: str) -> tuple[str, str]:
    """The hint to read edges `x` at one end from their index, and the condition that allows it.

    An index is used only where a statement asks for all that it holds; one of so many columns only where it is named.
    Without a word about seeking, a server that knows nothing yet of the data reads all of it and joins.
    """
    columns = _columns(end, *between)
    present = " AND ".join(f"x.{column} IS NOT NULL" for column in columns[1:])
    return f"USING INDEX SEEK x:{EDGE}({', '.join(columns)})", present


# The same for what belongs to an edge by its id.
SEEK_SUPPORT, SEEK_RELATION = f"USING INDEX SEEK s:{STATED_IN}(edge)", f"USING INDEX SEEK r:{RELATION}(edge)"
INDEXES = (
    _unique(STORE, "id"),
    _unique(JOB, "id"),
    _unique(VECTORS, "name"),
    *(_unique(label, "id") for label in _NAMED),
    _unique(DOCUMENT, "key"),
    _range(DOCUMENT, "id"),
    _range(DOCUMENT, "source_key"),
    _unique(CHUNK, "id"),
    _range(CHUNK, "source_key"),
    _range(CHUNK, "vectors"),
    _range(CHUNK, "statement_vectors"),
    _unique(TOPIC, "id"),
    _range(TOPIC, "vectors"),
    _unique(ENTITY, "id"),
    _range(ENTITY, "source_key"),
    _range(ENTITY, "vectors"),
    _unique(RELATION, "id"),
    _range(RELATION, "edge"),
    _between(STATED_IN, "edge"),
    _unique(COMMUNITY, "key"),
    _range(COMMUNITY, "id"),
    _range(COMMUNITY, "vectors"),
    _unique(CLAIM, "id"),
    _unique(EDGE, "id"),
    *(_range(EDGE, *_columns(end, *between)) for between in ((), ("type_key",)) for end in FAR_END),
)
NAMES = _full_text(FULL_TEXT, ENTITY, FULL_TEXT_PROPERTIES)
PASSAGES = _full_text(PASSAGE_FULL_TEXT, CHUNK, PASSAGE_WORDS)


def text_key(*parts: str) -> str:
    """What stands for text from data in an index and in the full-text index: a word of hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def text_order(text: str) -> str:
    """Text that any collation sorts by the code points of the original: its UTF-8 bytes in hexadecimal digits."""
    return text.encode().hex()


def label_token(label: str) -> str:
    """The node label that stands for an entity's label: itself, unless it could be taken for one of ours."""
    return _token(label, OWN_LABELS)


def type_token(relation_type: str, *, is_early: bool) -> str:
    """The relationship type that stands for a relation type; later ones than the first `MAX_TYPES` share one."""
    return _token(relation_type, OWN_TYPES) if is_early else RELATED


def _token(name: str, own: frozenset[str]) -> str:
    short = name if len(name) <= _MAX_TOKEN else f"{name[:_MAX_TOKEN]}~{text_key(name)}"
    # The prefix is added to what has it already, so that no two names share a token.
    return f"_{short}" if name in own or name.startswith("_") else short
