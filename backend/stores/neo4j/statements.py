"""The statements of a writer: what it asks of committed rows, and how it writes rows of its own."""

from __future__ import annotations

from backend.stores.neo4j.schema import (
    ABOUT,
    CHUNK,
    CLAIM,
    CLAIMED_IN,
    COMMUNITY,
    COMPLEMENT_IN,
    DOCUMENT,
    EDGE,
    ENTITY,
    HAS_PART,
    HAS_TOPIC,
    IN_COMMUNITY,
    JOB,
    MENTIONED_IN,
    OBJECT,
    PARENT_COMMUNITY,
    RELATION,
    STATED_IN,
    STORE,
    SUBJECT,
    TOPIC,
    TOUCHED,
    TYPE,
)
from backend.stores.neo4j.visibility import written

# --- the store itself ------------------------------------------------------------------------------------------------

STATE = f"""MATCH (k:{STORE} {{id: 'store'}})
RETURN k.schema AS schema, k.identity AS identity, k.commits AS commits, k.writing AS writing, k.settled AS settled,
    k.settled_at AS settled_at, k.removing AS removing, k.lease AS lease, k.committing AS committing"""
CREATE_STATE = f"""MERGE (k:{STORE} {{id: 'store'}})
ON CREATE SET k.schema = $schema, k.identity = $identity, k.commits = 0, k.settled = 0, k.settled_at = $beginning,
    k.number = 0, k.removing = [], k.passages = 0, k.topics = 0, k.reports = 0, k.without_chunk = 0,
    k.without_topic = 0, k.without_statement = 0, k.without_report = 0"""
BEGIN = f"MATCH (k:{STORE} {{id: 'store'}}) SET k.writing = k.commits + 1, k.committing = null"
END = f"MATCH (k:{STORE} {{id: 'store'}}) SET k.writing = null"
# A server shows the changes of a transaction one after the other while it commits. Readings wait from before that, in
# a transaction of its own, until after it, in another one; to end it waits for a commit that is at work.
COMMIT_BEGINS = f"MATCH (k:{STORE} {{id: 'store'}}) SET k.committing = true"
COMMIT_ENDS = f"MATCH (k:{STORE} {{id: 'store'}}) SET k.committing = null"
# Written to first, so that nobody takes the lease, or the wait of readings for ended, between the look and the commit.
COMMIT = f"""MATCH (k:{STORE} {{id: 'store'}}) SET k.writing = null
WITH k WHERE k.lease = $job AND k.commits = $commit - 1 AND k.committing
SET k.commits = $commit, k.number = $number, k.removing = k.removing + $removed, k += $counts
WITH k MERGE (j:{JOB} {{id: $job}}) SET j.committed_at = $at, j.report = $report
RETURN k.commits AS commits"""
LAST_NUMBER = f"MATCH (k:{STORE} {{id: 'store'}}) RETURN k.number AS number"
TYPES = f"MATCH (k:{TYPE}) RETURN k.name AS name, k.token AS token"

# --- what is committed -----------------------------------------------------------------------------------------------

KNOWN = {
    "entity": f"UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE {written('n')} RETURN n.id AS id",
    "relation": f"UNWIND $ids AS id MATCH (r:{RELATION} {{id: id}}) WHERE {written('r')} RETURN r.id AS id",
}
CURRENT_VERSIONS = f"""MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND v.dataset = $dataset AND {written("v")}
WITH v ORDER BY v.number
WITH v.id AS id, last(collect(v)) AS v, collect(v.ended) AS endings
RETURN id, v.source_id AS source_id, v.number AS number, v.content AS content, v.key AS version, v.title AS title,
    v.ended IS NOT NULL AS ended"""
VERSION_KEYS = f"""UNWIND $ids AS id MATCH (v:{DOCUMENT} {{id: id}}) WHERE {written("v")}
RETURN v.id AS id, v.key AS key"""
LAST_VERSIONS = f"""UNWIND $ids AS id MATCH (v:{DOCUMENT} {{id: id}}) WHERE {written("v")}
RETURN id, max(v.number) AS number"""
# With what each version has. Only a statement that a bundle has comes with a text; of sentences those count in which
# something is mentioned.
VERSIONS = f"""UNWIND $ids AS id MATCH (v:{DOCUMENT} {{id: id}}) WHERE v.since <= $since
CALL (v) {{
    MATCH (v)-[:{HAS_PART}]->(p:{CHUNK}) WHERE p.since <= $since
    RETURN count(p) AS passages,
        sum(COUNT {{ MATCH (p)<-[m:{MENTIONED_IN}]-() WHERE m.since <= $since }}) AS mentions,
        sum(CASE WHEN p.statements[0] CONTAINS '"' THEN size(p.statements) ELSE COUNT {{
            MATCH (p)<-[m:{MENTIONED_IN}]-() WHERE m.since <= $since UNWIND m.statements AS place RETURN DISTINCT place
        }} END) AS statements
}}
RETURN v.id AS id, v.dataset AS dataset, v.number AS number, v.begins AS begins, v.key AS key, v.ended AS ended, {{
    passages: passages, mentions: mentions, statements: statements,
    topics: COUNT {{ MATCH (v)-[:{HAS_TOPIC}]->(t:{TOPIC}) WHERE t.since <= $since }}
}} AS counts"""
CURRENT_PASSAGES = f"""UNWIND $keys AS key
MATCH (p:{CHUNK} {{source_key: key}})<-[:{HAS_PART}]-(v:{DOCUMENT}) WHERE {written("p")} AND {written("v")}
AND NOT EXISTS {{ MATCH (l:{DOCUMENT} {{id: v.id}}) WHERE {written("l")} AND l.number > v.number }}
RETURN p.source_id AS source_id, p.id AS id, p.text AS text, v.source_id AS document"""
PASSAGE_TEXTS = f"""UNWIND $ids AS id MATCH (p:{CHUNK} {{id: id}}) WHERE p.since <= $since
RETURN p.id AS id, p.text AS text, p.statements AS statements"""
ENTITY_NAMES = f"""UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE n.since <= $since
RETURN n.id AS id, n.name AS name, n.aliases AS aliases"""
STORED_ENTITIES = f"""UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE {written("n")}
RETURN n.id AS id, n.label AS label, n.name AS name, n.aliases AS aliases, n.description AS description,
    n.metadata AS metadata, n.retired AS retired"""
STORED_RELATIONS = f"""UNWIND $ids AS id MATCH (r:{RELATION} {{id: id}}) WHERE {written("r")}
RETURN r.id AS id, r.source_id AS source_id, r.edge AS edge, r.type AS type, r.unstated AS unstated,
    r.description AS description, r.weight AS weight, r.metadata AS metadata"""
STORED_CLAIMS = f"""UNWIND $ids AS id MATCH (k:{CLAIM} {{id: id}}) WHERE {written("k")}
RETURN k.id AS id, k.source_id AS source_id, k.subject_id AS subject_id, k.object_id AS object_id, k.type AS type,
    k.status AS status, k.start_date AS start_date, k.end_date AS end_date, k.description AS description,
    k.unstated AS unstated, k.metadata AS metadata"""
STORED_EDGES = f"UNWIND $ids AS id MATCH (x:{EDGE} {{id: id}}) RETURN x.id AS id"
OF_DATASET = {
    "document": f"""MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND v.dataset = $dataset AND {written("v")}
WITH v ORDER BY v.number WITH v.id AS id, last(collect(v)) AS v RETURN id, v.ended IS NOT NULL AS ended""",
    "entity": f"""MATCH (n:{ENTITY}) WHERE n.id IS NOT NULL AND n.dataset = $dataset AND {written("n")}
RETURN n.id AS id""",
    "relation": f"""MATCH (r:{RELATION}) WHERE r.id IS NOT NULL AND r.dataset = $dataset AND {written("r")}
RETURN r.id AS id, r.unstated AS unstated""",
    "claim": f"""MATCH (k:{CLAIM}) WHERE k.id IS NOT NULL AND k.dataset = $dataset AND {written("k")}
RETURN k.id AS id, k.unstated AS unstated""",
}
COUNT_OF_DATASET = f"""
CALL () {{
    MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND v.dataset = $dataset AND {written("v")}
    RETURN count(DISTINCT v.id) AS documents
}}
CALL () {{ MATCH (n:{ENTITY}) WHERE n.dataset = $dataset AND {written("n")} RETURN count(n) AS entities }}
CALL () {{ MATCH (r:{RELATION}) WHERE r.dataset = $dataset AND {written("r")} RETURN count(r) AS relations }}
RETURN documents, entities, relations"""

# --- rows of a job ---------------------------------------------------------------------------------------------------

CREATE_ENTITIES = f"UNWIND $rows AS row CREATE (n:{ENTITY}) SET n = row.fields SET n:$(row.token)"
CREATE_VERSIONS = f"UNWIND $rows AS row CREATE (v:{DOCUMENT}) SET v = row.fields"
CREATE_PASSAGES = f"""UNWIND $rows AS row
MATCH (v:{DOCUMENT} {{key: row.version}})
WHERE NOT EXISTS {{ MATCH (:{CHUNK} {{id: row.fields.id}}) }}
CREATE (v)-[:{HAS_PART}]->(p:{CHUNK}) SET p = row.fields, p.document = v.id, p.title_words = v.words
RETURN DISTINCT v.id AS document"""
ADD_STATEMENTS = f"""UNWIND $rows AS row MATCH (p:{CHUNK} {{id: row.passage}}) WHERE p.since = $since
SET p.statements = p.statements + row.statements"""
CREATE_TOPICS = f"""UNWIND $rows AS row
MATCH (v:{DOCUMENT} {{key: row.version}})
WHERE NOT EXISTS {{ MATCH (:{TOPIC} {{id: row.fields.id}}) }}
CREATE (v)-[:{HAS_TOPIC}]->(t:{TOPIC}) SET t = row.fields
RETURN DISTINCT v.id AS document"""
ADD_TO_TOPICS = f"""UNWIND $rows AS row
MATCH (p:{CHUNK} {{id: row.passage}}), (t:{TOPIC} {{id: row.topic}})
MERGE (p)-[a:{ABOUT}]->(t) ON CREATE SET a.since = $since"""
CREATE_MENTIONS = f"""UNWIND $rows AS row
MATCH (n:{ENTITY} {{id: row.entity}}), (p:{CHUNK} {{id: row.passage}})
WHERE p.since = $since OR row.alike >= COUNT {{
    MATCH (n)-[m:{MENTIONED_IN}]->(p) WHERE {written("m")}
        AND [m.start IS NULL, m.end IS NULL, m.surface IS NULL] = row.missing
        AND coalesce(m.start = row.fields.start, true) AND coalesce(m.end = row.fields.end, true)
        AND coalesce(m.surface = row.fields.surface, true)
}}
CREATE (n)-[m:{MENTIONED_IN}]->(p) SET m = row.fields
RETURN DISTINCT p.document AS document"""
CREATE_COMPLEMENTS = f"""UNWIND $rows AS row
MATCH (n:{ENTITY} {{id: row.entity}}), (p:{CHUNK} {{id: row.passage}})
WHERE NOT EXISTS {{ MATCH (p)<-[:{COMPLEMENT_IN} {{id: row.fields.id}}]-() }}
CREATE (n)-[k:{COMPLEMENT_IN}]->(p) SET k = row.fields
RETURN k.id AS id"""
# Without its place in the order an edge is in no index of the walk: one of an entity to itself is never followed.
CREATE_EDGES = f"""UNWIND $rows AS row
MATCH (s:{ENTITY} {{id: row.fields.source}}), (t:{ENTITY} {{id: row.fields.target}})
CREATE (x:{EDGE}:{TOUCHED}) SET x = row.fields, x.since = $since, x.stated = 0, x.unstated = 0, x.unstated_now = 0,
    x.weights = [], x.passages = 0, x.documents = 0, x.kept_at_source = false, x.kept_at_target = false,
    x.less_documents = CASE WHEN row.fields.source <> row.fields.target THEN 0 END,
    x.less_passages = CASE WHEN row.fields.source <> row.fields.target THEN 0 END
CREATE (s)-[:$(row.token) {{
    id: row.fields.id, type: row.fields.type, since: $since, stored_documents: 0, stored_passages: 0
}}]->(t)"""
CREATE_RELATIONS = f"UNWIND $rows AS row CREATE (r:{RELATION}) SET r = row.fields"
CREATE_SUPPORT = f"""UNWIND $rows AS row
MATCH (r:{RELATION} {{id: row.relation}}), (p:{CHUNK} {{id: row.passage}})
WHERE r.since = $since OR NOT EXISTS {{ MATCH (r)-[s:{STATED_IN}]->(p) WHERE s.edge = row.edge }}
CREATE (r)-[s:{STATED_IN} {{edge: row.edge, since: $since}}]->(p) SET s.statements = row.statements
RETURN s.edge AS edge"""
TOUCH_EDGES = f"UNWIND $rows AS row MATCH (x:{EDGE} {{id: row.id}}) SET x:{TOUCHED}"
CREATE_CLAIMS = f"""UNWIND $rows AS row MATCH (n:{ENTITY} {{id: row.fields.subject_id}})
CREATE (k:{CLAIM})-[:{SUBJECT}]->(n) SET k = row.fields
WITH k MATCH (n:{ENTITY} {{id: k.object_id}}) CREATE (k)-[:{OBJECT}]->(n)"""
CREATE_CLAIMED = f"""UNWIND $rows AS row
MATCH (k:{CLAIM} {{id: row.claim}}), (p:{CHUNK} {{id: row.passage}})
WHERE NOT EXISTS {{ MATCH (k)-[:{CLAIMED_IN}]->(p) }}
CREATE (k)-[:{CLAIMED_IN} {{since: $since}}]->(p)
RETURN k.id AS id"""
CREATE_COMMUNITIES = f"UNWIND $rows AS row CREATE (g:{COMMUNITY}) SET g = row.fields"
JOIN_COMMUNITIES = f"""UNWIND $rows AS row
MATCH (g:{COMMUNITY} {{key: row.community}}), (n:{ENTITY} {{id: row.member}})
CREATE (n)-[:{IN_COMMUNITY}]->(g)"""
NEST_COMMUNITIES = f"""UNWIND $rows AS row
MATCH (g:{COMMUNITY} {{key: row.community}}), (h:{COMMUNITY} {{key: row.parent}})
CREATE (g)-[:{PARENT_COMMUNITY}]->(h)"""
