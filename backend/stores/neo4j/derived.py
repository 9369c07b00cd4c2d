"""What a commit does to rows that are seen already, and what is computed after it.

After its transaction a commit leaves the label `AttestTouched` on whatever it changed; `settle` computes what follows
from that, in batches, and takes the label away. Until then readings do without what is derived. A killed writer's rest
is done by the next one, which also sweeps away the rows of a job that never committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import Unavailable
from backend.models import VectorCollection
from backend.stores.neo4j import statements
from backend.stores.neo4j.driver import Reading, Row, Server, Writing
from backend.stores.neo4j.schema import (
    CHUNK,
    COLLECTION,
    DATASET,
    DOCUMENT,
    EDGE,
    ENTITY,
    HAS_PART,
    IN_ORDER,
    LABEL,
    MENTIONED_IN,
    METADATA_KEY,
    RELATION,
    STATED_IN,
    STORE,
    TOUCHED,
    TYPE,
    VECTORS,
    label_token,
    text_key,
)
from backend.stores.neo4j.state import read_state
from backend.stores.neo4j.visibility import Visibility, written
from backend.stores.validity import BEGINNING, ENDLESS, FOREVER

_DOCUMENTS, _EDGES, _ENTITIES, _ROWS = 200, 2_000, 2_000, 5_000
# The `since` of what is removed and not yet deleted: later than every commit.
_NEVER = 2**62

# --- in the commit's transaction -------------------------------------------------------------------------------------


def apply_validity(transaction: Writing, times: Sequence[Row], endings: Mapping[str, int]) -> None:
    """Says when each version is current, and which documents have been retired."""
    for batch in _batches(times):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (v:{DOCUMENT} {{key: row.key}})
                SET v.valid_from = row.valid_from, v.valid_to = row.valid_to, v:{TOUCHED}""",
            {"rows": batch},
        )
    for batch in _batches([{"id": document, "at": at} for document, at in endings.items()]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (v:{DOCUMENT} {{id: row.id}})
                WITH row, v ORDER BY v.number WITH row, last(collect(v)) AS v SET v.ended = row.at""",
            {"rows": batch},
        )


def apply_entities(transaction: Writing, fields: Mapping[str, Row], vectors: Mapping[str, str | None]) -> None:
    """Changes entities in place: their fields, their own label, and where their vector is."""
    changed = [{"id": key, "fields": row, "token": label_token(row["label"])} for key, row in fields.items()]
    for batch in _batches(changed):
        old = transaction.run(
            f"""UNWIND $rows AS row MATCH (n:{ENTITY} {{id: row.id}}) WHERE n.label <> row.fields.label
                RETURN n.id AS id, n.label AS label""",
            {"rows": batch},
        )
        transaction.run(
            f"UNWIND $rows AS row MATCH (n:{ENTITY} {{id: row.id}}) REMOVE n:$(row.token)",
            {"rows": [{"id": row["id"], "token": label_token(row["label"])} for row in old]},
        )
        transaction.run(
            f"UNWIND $rows AS row MATCH (n:{ENTITY} {{id: row.id}}) SET n += row.fields SET n:$(row.token)",
            {"rows": batch},
        )
    for batch in _batches([{"id": key, "vectors": name} for key, name in vectors.items()]):
        transaction.run(statements.SET_VECTORS, {"rows": batch})


def apply_relations(transaction: Writing, fields: Mapping[str, Row]) -> None:
    """Changes relations in place; both the edge that one leaves and the one that it joins are touched."""
    for batch in _batches([{"id": key, "fields": row} for key, row in fields.items()]):
        transaction.run(f"UNWIND $rows AS row MATCH (r:{RELATION} {{id: row.id}}) SET r += row.fields", {"rows": batch})


def apply_retirement(transaction: Writing, entities: Sequence[str], relations: Sequence[str]) -> None:
    """A relation that passages state ends with them; one without goes now, as does an entity that nothing names."""
    for batch in _batches([{"id": key} for key in relations]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (r:{RELATION} {{id: row.id}}) MATCH (x:{EDGE} {{id: r.edge}})
                SET x:{TOUCHED}, r.unstated = false
                WITH r WHERE NOT EXISTS {{ MATCH (r)-[:{STATED_IN}]->() }} DETACH DELETE r""",
            {"rows": batch},
        )
    for batch in _batches([{"id": key} for key in entities]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (n:{ENTITY} {{id: row.id}}) SET n.retired = true
                WITH n WHERE NOT EXISTS {{ MATCH (n)-[:{MENTIONED_IN}]->() }}
                    AND NOT EXISTS {{ MATCH (n)--(:{ENTITY}) }}
                DETACH DELETE n""",
            {"rows": batch},
        )


def apply_names(
    transaction: Writing,
    since: int,
    datasets: set[str],
    types: Mapping[str, str],
    collections: Mapping[str, VectorCollection],
) -> None:
    """The names that requests may use, with the numbers that the state of the indexes is told from."""
    parameters = {"since": since}
    _replace(
        transaction,
        LABEL,
        f"""MATCH (n:{ENTITY}) WHERE n.id IS NOT NULL AND n.since <= $since
            RETURN n.label AS name, count(*) AS entities,
                sum(CASE WHEN n.vectors IS NULL THEN 1 ELSE 0 END) AS without_vector""",
        parameters,
    )
    versions = f"MATCH (v:{DOCUMENT}) WHERE v.key IS NOT NULL AND v.since <= $since"
    _replace(transaction, COLLECTION, f"{versions} RETURN DISTINCT v.collection AS name", parameters)
    _replace(
        transaction, METADATA_KEY, f"{versions} UNWIND v.value_keys AS name RETURN DISTINCT name AS name", parameters
    )
    _merge(transaction, DATASET, [{"name": name} for name in datasets])
    _merge(transaction, TYPE, [{"name": name, "token": token} for name, token in types.items()])
    for collection in collections.values():
        transaction.run(
            f"""OPTIONAL MATCH (o:{VECTORS}) WITH coalesce(max(o.number), 0) + 1 AS number
                MERGE (k:{VECTORS} {{name: $name}}) ON CREATE SET k.number = number
                SET k.kind = $kind, k.job = $job, k.count = $count, k.encoder = $encoder""",
            {
                "name": collection.name,
                "kind": collection.kind,
                "job": collection.job_id,
                "count": collection.count,
                "encoder": collection.encoder,
            },
        )
    transaction.run(f"MATCH (k:{VECTORS}) WHERE NOT EXISTS {{ MATCH (n:{ENTITY} {{vectors: k.name}}) }} DELETE k")


def _replace(transaction: Writing, label: str, statement: str, parameters: dict[str, Any]) -> None:
    """Makes the names of a kind those that the statement finds."""
    rows = transaction.run(statement, parameters)
    _merge(transaction, label, rows)
    ids = [text_key(row["name"]) for row in rows]
    transaction.run(f"MATCH (k:{label}) WHERE NOT k.id IN $ids DELETE k", {"ids": ids})


def _merge(transaction: Writing, label: str, rows: Sequence[Row]) -> None:
    named = [{"id": text_key(row["name"]), "fields": row} for row in rows]
    transaction.run(f"UNWIND $rows AS row MERGE (k:{label} {{id: row.id}}) SET k += row.fields", {"rows": named})


# --- removing --------------------------------------------------------------------------------------------------------


def counts_of_dataset(reading: Reading, dataset: str, commit: int) -> dict[str, int]:
    """What removing a dataset takes; raises Unavailable for an unknown one."""
    known = sorted(row["name"] for row in reading.peek(f"MATCH (k:{DATASET}) RETURN k.name AS name"))
    if dataset not in known:
        raise Unavailable(
            f"There is no dataset {dataset!r}.", hint=f"There is: {', '.join(known) or 'none yet'}.", known=known
        )
    asked = {"dataset": dataset, "commit": commit}
    return reading.peek(statements.COUNT_OF_DATASET, asked)[0]


def remove_dataset(transaction: Writing, dataset: str) -> None:
    """Makes everything of the dataset unseen; `sweep` deletes it, and finds it by this mark."""
    for label in (DOCUMENT, ENTITY):
        transaction.run(
            f"MATCH (n:{label}) WHERE n.dataset = $dataset SET n.since = $never, n.vectors = null",
            {"dataset": dataset, "never": _NEVER},
        )
    transaction.run(f"MATCH (k:{DATASET} {{id: $id}}) DELETE k", {"id": text_key(dataset)})
    transaction.run(f"MATCH (k:{STORE} {{id: 'store'}}) SET k.removing = k.removing + $dataset", {"dataset": dataset})


# What only one document holds: `relations` that nothing else states, `entities` that nothing else mentions, and the
# relations around these.
_ONLY_OF_DOCUMENT = f"""
CALL () {{
    MATCH (v:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(:{CHUNK})<-[:{STATED_IN}]-(r:{RELATION})
    WITH DISTINCT r WHERE NOT r.unstated AND NOT EXISTS {{
        MATCH (r)-[:{STATED_IN}]->(p:{CHUNK}) WHERE p.document <> $id
    }}
    RETURN collect(r) AS stated
}}
CALL () {{
    MATCH (v:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(:{CHUNK})<-[:{MENTIONED_IN}]-(n:{ENTITY})
    WITH DISTINCT n WHERE NOT EXISTS {{ MATCH (n)-[:{MENTIONED_IN}]->(p:{CHUNK}) WHERE p.document <> $id }}
    RETURN collect(n) AS entities
}}
CALL (entities) {{
    UNWIND entities AS n MATCH (n)-[t]-(:{ENTITY}) WITH DISTINCT t.id AS edge
    MATCH (r:{RELATION} {{edge: edge}}) RETURN collect(r) AS around
}}
"""


def counts_of_document(reading: Reading, document: str, commit: int) -> dict[str, int]:
    """What removing a document takes; raises Unavailable for an unknown one."""
    asked = {"id": document, "commit": commit}
    if not reading.peek(f"MATCH (v:{DOCUMENT} {{id: $id}}) WHERE {written('v')} RETURN v.key AS key", asked):
        raise Unavailable(f"There is no document {document!r}.", hint="`attest show` looks ids up.")
    (row,) = reading.peek(
        f"""{_ONLY_OF_DOCUMENT} WITH entities, stated + around AS relations
            RETURN size(entities) AS entities,
                COUNT {{ UNWIND relations AS r RETURN DISTINCT r }} AS relations""",
        asked,
    )
    return {"documents": 1, "entities": row["entities"], "relations": row["relations"]}


def remove_document(transaction: Writing, document: str) -> None:
    """Deletes every version of a document with what only they held, and marks what else they touched."""
    asked = {"id": document}
    transaction.run(
        f"""MATCH (:{DOCUMENT} {{id: $id}})-[:{HAS_PART}]->(p:{CHUNK})
            CALL (p) {{ MATCH (p)<-[:{MENTIONED_IN}]-(n:{ENTITY}) SET n:{TOUCHED} }}
            CALL (p) {{ MATCH (p)<-[s:{STATED_IN}]-() MATCH (x:{EDGE} {{id: s.edge}}) SET x:{TOUCHED} }}""",
        asked,
    )
    transaction.run(
        f"""{_ONLY_OF_DOCUMENT}
            CALL (stated, around) {{
                UNWIND stated + around AS r WITH DISTINCT r
                CALL (r) {{ MATCH (x:{EDGE} {{id: r.edge}}) SET x:{TOUCHED} }}
                DETACH DELETE r
            }}
            CALL (entities) {{ UNWIND entities AS n DETACH DELETE n }}""",
        asked,
    )
    transaction.run(
        f"""MATCH (v:{DOCUMENT} {{id: $id}}) OPTIONAL MATCH (v)-[:{HAS_PART}]->(p:{CHUNK}) DETACH DELETE p, v""", asked
    )


# --- after the commit ------------------------------------------------------------------------------------------------


def settle(server: Server) -> None:
    """Brings what is derived into line with the last commit, and deletes what that removed."""
    state = read_state(server)
    if state["removing"]:
        sweep(server, state["commits"], state["removing"])
        _write(server, f"MATCH (k:{STORE} {{id: 'store'}}) SET k.removing = []")
    if state["settled"] == state["commits"]:
        return
    visible = Visibility(FOREVER, state["commits"], None)
    _settle_documents(server, visible)
    while _write(server, _know(f"MATCH (n:{ENTITY}:{TOUCHED}) WITH n LIMIT $limit", visible), visible, limit=_ENTITIES):
        pass
    while _write(server, _fold(visible), visible, limit=_EDGES):
        pass
    _write(
        server,
        f"""OPTIONAL MATCH (x:{EDGE}) WHERE x.id IS NOT NULL WITH collect(DISTINCT x.type_key) AS used
            MATCH (k:{TYPE}) WHERE NOT k.id IN used DELETE k""",
    )
    _write(
        server,
        f"""OPTIONAL MATCH (v:{DOCUMENT}) WHERE v.key IS NOT NULL AND {written("v")}
            WITH max(v.valid_from) AS begun, max(CASE WHEN v.valid_to < $endless THEN v.valid_to END) AS ended
            MATCH (k:{STORE} {{id: 'store'}})
            SET k.settled = $commit, k.settled_at = CASE
                WHEN begun IS NULL THEN $beginning WHEN ended IS NULL OR begun > ended THEN begun ELSE ended END""",
        visible,
        endless=ENDLESS,
        beginning=BEGINNING,
    )


def _settle_documents(server: Server, visible: Visibility) -> None:
    """Marks the edges that touched documents state, and works out which entities they make known."""
    while True:
        with server.reading() as reading:
            rows = reading.peek(f"MATCH (v:{DOCUMENT}:{TOUCHED}) RETURN v.key AS key LIMIT {_DOCUMENTS}")
        if not rows:
            return
        keys = [row["key"] for row in rows]
        part = f"UNWIND $keys AS key MATCH (v:{DOCUMENT} {{key: key}})-[:{HAS_PART}]->(p:{CHUNK})"
        _write(
            server,
            f"{part} MATCH (p)<-[s:{STATED_IN}]-() WITH DISTINCT s.edge AS edge "
            f"MATCH (x:{EDGE} {{id: edge}}) SET x:{TOUCHED}",
            keys=keys,
        )
        mentioned = f"{part} MATCH (p)<-[:{MENTIONED_IN}]-(n:{ENTITY}) WITH DISTINCT n"
        _write(server, _know(mentioned, visible), visible, keys=keys)
        _write(server, f"UNWIND $keys AS key MATCH (v:{DOCUMENT} {{key: key}}) REMOVE v:{TOUCHED}", keys=keys)


def _know(entities: str, visible: Visibility) -> str:
    """Which of the entities are known and supported; those that become known or unknown touch all of their edges."""
    ends = " ".join(
        f"""CALL (n) {{
            MATCH (x:{EDGE}) WHERE x.{end} = n.id AND {IN_ORDER}
            SET x:{TOUCHED} RETURN count(x) AS at_{end}
        }}"""
        for end in ("source", "target")
    )
    return f"""{entities}
        WITH n, {visible.entity_known("n")} AS known, {visible.entity_supported("n")} AS supported, n.known AS before
        SET n.known = known, n.supported = supported REMOVE n:{TOUCHED}
        WITH n, known <> before AS has_changed
        CALL (n, has_changed) {{
            WITH n, has_changed WHERE has_changed {ends} RETURN count(*) AS changed
        }}
        RETURN n.id AS id"""


def _fold(visible: Visibility) -> str:
    """What touched edges have, stored and current; those that have nothing are deleted."""
    return f"""MATCH (x:{EDGE}:{TOUCHED}) WITH x LIMIT $limit
        CALL (x) {{
            OPTIONAL MATCH (:{RELATION})-[s:{STATED_IN} {{edge: x.id}}]->(p:{CHUNK}) WHERE {written("s")}
            RETURN count(DISTINCT p) AS stored_passages, count(DISTINCT p.document) AS stored_documents
        }}
        CALL (x) {{
            OPTIONAL {visible.support("x.id")}
            RETURN count(DISTINCT r) AS stated, count(DISTINCT p) AS passages, count(DISTINCT v.id) AS documents,
                collect(DISTINCT p.id)[..25] AS first
        }}
        CALL (x) {{
            OPTIONAL MATCH (r:{RELATION} {{edge: x.id}}) WHERE {written("r")}
            RETURN count(r) AS relations, count(CASE WHEN r.unstated THEN 1 END) AS unstated,
                count(CASE WHEN r.unstated AND NOT {visible.relation_stated("r")} THEN 1 END) AS unstated_now
        }}
        OPTIONAL MATCH (s:{ENTITY} {{id: x.source}}) OPTIONAL MATCH (t:{ENTITY} {{id: x.target}})
        SET x.stated = stated, x.passages = passages, x.documents = documents, x.unstated = unstated,
            x.unstated_now = unstated_now,
            x.kept_at_source = stated + unstated > 0 AND coalesce(t.known, false),
            x.kept_at_target = stated + unstated > 0 AND coalesce(s.known, false),
            x.less_documents = CASE WHEN x.source <> x.target THEN -stored_documents END,
            x.less_passages = CASE WHEN x.source <> x.target THEN -stored_passages END
        REMOVE x:{TOUCHED}
        WITH x, s, t, first, x.id AS id, relations + stored_passages = 0 AS is_empty
        CALL (x, s, t, first, is_empty) {{
            OPTIONAL MATCH (s)-[e {{id: x.id}}]->(t)
            FOREACH (one IN CASE WHEN e IS NOT NULL AND NOT is_empty THEN [e] ELSE [] END |
                SET one.passages = x.passages, one.documents = x.documents, one.stated_in = first)
            FOREACH (one IN CASE WHEN e IS NOT NULL AND is_empty THEN [e] ELSE [] END | DELETE one)
            FOREACH (one IN CASE WHEN is_empty THEN [x] ELSE [] END | DELETE one)
        }}
        RETURN id"""


def sweep(server: Server, commit: int, removed: Sequence[str] = ()) -> None:
    """Deletes what no commit will ever show: rows of a job that did not commit, and what a commit has removed.

    Row by row and never by what hangs on a row, of which a hub has a hundred thousand: a transaction is as small as it
    says, and none looks for what it has itself deleted, which an index answers more slowly each time.
    """
    dead = "n.since > $commit"
    ends = f"MATCH (:{ENTITY} {{id: n.source}})-[t {{id: n.id}}]->(:{ENTITY} {{id: n.target}})"
    for rows, deleted in (
        (f"MATCH ()-[n:{MENTIONED_IN}]->() WHERE {dead}", "n"),
        (f"MATCH ()-[n:{STATED_IN}]->() WHERE {dead}", "n"),
        (f"MATCH (n:{EDGE}) WHERE {dead} {ends}", "t"),
        (f"MATCH (n:{EDGE}) WHERE {dead}", "n"),
        # Of a removed dataset edges have no mark of their own: its entities lead to them.
        (f"MATCH (n:{ENTITY}) WHERE {dead} MATCH (x:{EDGE}) WHERE x.source = n.id AND {IN_ORDER}", "x"),
        (f"MATCH (n:{ENTITY}) WHERE {dead} MATCH (n)-[t]->(n) MATCH (x:{EDGE} {{id: t.id}})", "x"),
        (f"MATCH (n:{ENTITY}) WHERE {dead} MATCH (n)-[t]->()", "t"),
        (f"MATCH (n:{DOCUMENT}) WHERE {dead} MATCH (n)-[:{HAS_PART}]->(p:{CHUNK})", "p"),
        (f"MATCH (n:{RELATION}) WHERE {dead} OR n.dataset IN $removed", "n"),
        *((f"MATCH (n:{label}) WHERE {dead}", "n") for label in (CHUNK, ENTITY, DOCUMENT)),
    ):
        server.run_alone(
            f"{rows} CALL ({deleted}) {{ DETACH DELETE {deleted} }} IN TRANSACTIONS OF {_ROWS} ROWS",
            {"commit": commit, "removed": list(removed)},
        )


# --- parts -----------------------------------------------------------------------------------------------------------


def _write(server: Server, statement: str, visible: Visibility | None = None, **parameters: Any) -> list[Row]:
    asked = {**(visible.parameters if visible else {}), **parameters}
    return server.write(lambda transaction: transaction.run(statement, asked))


def _batches(rows: Sequence[Row]) -> list[Sequence[Row]]:
    return [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
