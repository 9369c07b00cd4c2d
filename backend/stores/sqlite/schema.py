"""The tables of the embedded graph store, and why they are as they are.

Every thing has an integer key for joins and its public id as text. What is visible is decided per document version:
a version is current from `valid_from` until `valid_to` (microseconds since 1970 UTC, end exclusive), which a commit
keeps right. The tables below `derived` are computed from those above them in the commit that changes these.
"""

SCHEMA_VERSION = 9

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE committed_job (id TEXT PRIMARY KEY, at TEXT NOT NULL, report TEXT) WITHOUT ROWID;

CREATE TABLE dataset (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    weighted INTEGER NOT NULL DEFAULT 0 -- derived: it has relations, and each has a weight of its own
);
CREATE TABLE label (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, entities INTEGER NOT NULL DEFAULT 0,
    without_vector INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE relation_type (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE metadata_key (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE collection (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE vector_collection (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, job TEXT NOT NULL,
    count INTEGER NOT NULL, encoder TEXT NOT NULL
);

CREATE TABLE document (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, dataset INTEGER NOT NULL, source_id TEXT NOT NULL
);
CREATE INDEX document_source ON document (dataset, source_id);
-- A document was retired at a time: its versions up to the number `after` end, later ones begin after it.
CREATE TABLE ending (document INTEGER NOT NULL, at INTEGER NOT NULL, after INTEGER NOT NULL);
CREATE INDEX ending_document ON ending (document);

CREATE TABLE version (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL,
    content TEXT NOT NULL, title TEXT NOT NULL, collection TEXT NOT NULL, date TEXT, author TEXT, url TEXT,
    declared_from TEXT, metadata TEXT NOT NULL, valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,
    words TEXT NOT NULL, -- of the title
    passages INTEGER NOT NULL DEFAULT 0, mentions INTEGER NOT NULL DEFAULT 0, statements INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX version_document ON version (document);
CREATE INDEX version_key ON version (key);
CREATE INDEX version_collection ON version (collection);
-- The type of `number` is left open: an instant must keep all its digits, which a REAL would not.
CREATE TABLE version_value (
    version INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, number, text TEXT NOT NULL
);
CREATE INDEX version_value_version ON version_value (version, key, kind);

CREATE TABLE passage (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, source_id TEXT NOT NULL,
    position INTEGER NOT NULL, "start" INTEGER, "end" INTEGER, heading TEXT, text TEXT NOT NULL,
    metadata TEXT NOT NULL, words TEXT NOT NULL, heading_words TEXT NOT NULL,
    -- Its statements, or the sentences that are statements where an entity is mentioned: see `backend.stores.rows`.
    statements TEXT NOT NULL, vectors INTEGER, statement_vectors INTEGER
);
CREATE INDEX passage_version ON passage (version, position);
CREATE INDEX passage_source ON passage (source_id);
CREATE INDEX passage_vectors ON passage (vectors);
CREATE INDEX passage_statement_vectors ON passage (statement_vectors);

-- A theme within one document version.
CREATE TABLE topic (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, source_id TEXT NOT NULL,
    title TEXT NOT NULL, derived INTEGER NOT NULL, vectors INTEGER
);
CREATE INDEX topic_version ON topic (version);
CREATE INDEX topic_vectors ON topic (vectors);
CREATE TABLE topic_passage (
    topic INTEGER NOT NULL, passage INTEGER NOT NULL, PRIMARY KEY (topic, passage)
) WITHOUT ROWID;
CREATE INDEX topic_passage_passage ON topic_passage (passage, topic);

CREATE TABLE entity (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, dataset INTEGER NOT NULL, source_id TEXT NOT NULL,
    label INTEGER NOT NULL, name TEXT NOT NULL, aliases TEXT NOT NULL, description TEXT, metadata TEXT NOT NULL,
    retired INTEGER NOT NULL DEFAULT 0, vectors INTEGER,
    known INTEGER NOT NULL DEFAULT 0, supported INTEGER NOT NULL DEFAULT 0 -- derived, see `adjacency`
);
CREATE INDEX entity_label ON entity (label);
CREATE INDEX entity_source ON entity (dataset, source_id);
CREATE INDEX entity_vectors ON entity (vectors);

CREATE TABLE mention (
    entity INTEGER NOT NULL, passage INTEGER NOT NULL, number INTEGER NOT NULL,
    "start" INTEGER, "end" INTEGER, surface TEXT,
    statements TEXT NOT NULL, -- the places of the passage's statements that the mention is in
    PRIMARY KEY (entity, passage, number)
) WITHOUT ROWID;
CREATE INDEX mention_passage ON mention (passage, entity);

CREATE TABLE edge (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, source INTEGER NOT NULL, target INTEGER NOT NULL,
    type INTEGER NOT NULL, unstated INTEGER NOT NULL DEFAULT 0,
    documents INTEGER NOT NULL DEFAULT 0, passages INTEGER NOT NULL DEFAULT 0,
    -- derived, see `adjacency`
    stated INTEGER NOT NULL DEFAULT 0, current_unstated INTEGER NOT NULL DEFAULT 0,
    current_passages INTEGER NOT NULL DEFAULT 0, current_documents INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX edge_source ON edge (source);
-- A large community's edges are read in this order until there are enough.
CREATE INDEX edge_order ON edge (documents DESC, passages DESC, uuid, source, target);
CREATE INDEX edge_target ON edge (target);

CREATE TABLE relation (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, dataset INTEGER NOT NULL, source_id TEXT NOT NULL,
    edge INTEGER NOT NULL, unstated INTEGER NOT NULL, description TEXT, weight REAL, metadata TEXT NOT NULL,
    is_fact INTEGER NOT NULL -- of the bundle's facts, not of its relations
);
CREATE INDEX relation_edge ON relation (edge);

CREATE TABLE support (
    edge INTEGER NOT NULL, relation INTEGER NOT NULL, passage INTEGER NOT NULL,
    version INTEGER NOT NULL, document INTEGER NOT NULL,
    statements TEXT, -- their places where a bundle names them
    PRIMARY KEY (edge, relation, passage)
) WITHOUT ROWID;
CREATE INDEX support_version ON support (version);
CREATE INDEX support_relation ON support (relation);
CREATE INDEX support_passage ON support (passage, edge);

-- A fact whose object is a plain text, in one passage.
CREATE TABLE complement (
    fact TEXT NOT NULL, dataset INTEGER NOT NULL, entity INTEGER NOT NULL, predicate TEXT NOT NULL, text TEXT NOT NULL,
    passage INTEGER NOT NULL, statements TEXT NOT NULL, PRIMARY KEY (fact, passage)
) WITHOUT ROWID;
CREATE INDEX complement_passage ON complement (passage);
CREATE INDEX complement_entity ON complement (entity);

-- A group of entities; `report` is what is written about it, and `report_source` names the passages that this cites.
CREATE TABLE community (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, dataset INTEGER NOT NULL, source_id TEXT NOT NULL,
    level INTEGER NOT NULL, parent TEXT, title TEXT NOT NULL, origin TEXT NOT NULL, metadata TEXT NOT NULL,
    report TEXT, report_origin TEXT, stale INTEGER NOT NULL, vectors INTEGER,
    known INTEGER NOT NULL DEFAULT 0 -- derived: how many members a scope without filters sees
);
CREATE INDEX community_dataset ON community (dataset);
CREATE INDEX community_level ON community (level, uuid);
CREATE INDEX community_vectors ON community (vectors);
CREATE TABLE membership (
    community INTEGER NOT NULL, entity INTEGER NOT NULL, PRIMARY KEY (community, entity)
) WITHOUT ROWID;
CREATE INDEX membership_entity ON membership (entity, community);
-- By its id, since one that is gone is not visible either.
CREATE TABLE report_source (
    community INTEGER NOT NULL, passage TEXT NOT NULL, PRIMARY KEY (community, passage)
) WITHOUT ROWID;

CREATE TABLE claim (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, dataset INTEGER NOT NULL, source_id TEXT NOT NULL,
    subject INTEGER NOT NULL, object INTEGER, type TEXT, status TEXT, start_date TEXT, end_date TEXT,
    description TEXT NOT NULL, unstated INTEGER NOT NULL, metadata TEXT NOT NULL
);
CREATE INDEX claim_subject ON claim (subject);
CREATE INDEX claim_object ON claim (object);
CREATE TABLE claim_passage (
    claim INTEGER NOT NULL, passage INTEGER NOT NULL, PRIMARY KEY (claim, passage)
) WITHOUT ROWID;
CREATE INDEX claim_passage_passage ON claim_passage (passage);

-- derived: in which versions an entity is mentioned
CREATE TABLE appearance (
    entity INTEGER NOT NULL, document INTEGER NOT NULL, version INTEGER NOT NULL, passages INTEGER NOT NULL,
    PRIMARY KEY (entity, document, version)
) WITHOUT ROWID;
CREATE INDEX appearance_version ON appearance (version);

-- derived: the edges of an entity in the order in which a walk reads them, so that a hub costs no more than a bound.
-- `kept` here, `known` and `supported` of an entity, and `stated` and the current counts of an edge are what a scope
-- without filters sees once every validity has begun: the versions whose `valid_to` is endless. Nearly every question
-- is of that kind, and a hub would otherwise be judged edge by edge each time.
CREATE TABLE adjacency (
    id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, other INTEGER NOT NULL, type INTEGER NOT NULL,
    edge INTEGER NOT NULL, less_documents INTEGER NOT NULL, less_passages INTEGER NOT NULL, uuid TEXT NOT NULL,
    kept INTEGER NOT NULL
);
CREATE INDEX adjacency_order ON adjacency (entity, less_documents, less_passages, uuid, edge, other, kept);
CREATE INDEX adjacency_type ON adjacency (entity, type, less_documents, less_passages, uuid, edge, other, kept);
CREATE INDEX adjacency_edge ON adjacency (edge);

-- derived: whole names and aliases, folded and hashed, for exact matches whatever their length
CREATE TABLE entity_key (key BLOB NOT NULL, entity INTEGER NOT NULL, PRIMARY KEY (key, entity)) WITHOUT ROWID;
CREATE INDEX entity_key_entity ON entity_key (entity);
"""

# derived: the words of names and aliases, and those of passages with their headings and titles. `ascii` takes every
# other character as part of a word, so that the words are those of `backend.words` and not those of a tokenizer with an
# opinion of its own. The words of passages are not kept a second time.
FULL_TEXT = {
    "entity_words": (
        "CREATE VIRTUAL TABLE entity_words USING fts5 (label, names, tokenize = 'ascii', prefix = '1 2 3')"
    ),
    "passage_words": "CREATE VIRTUAL TABLE passage_words USING fts5 (words, tokenize = 'ascii', content = '')",
}
# What of a passage `p` and its version `v` is in `passage_words`.
PASSAGE_WORDS = "v.words || p.heading_words || p.words"
