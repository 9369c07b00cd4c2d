"""What is computed after a commit, from what it has changed.

A commit leaves the label `AttestTouched` on whatever it changed; `settle` computes what follows from that, in batches,
and takes the label away. Until then readings do without what is derived. A killed writer's rest is done by the next.
"""

from __future__ import annotations

from typing import Any

from backend.stores.neo4j.driver import Row, Server
from backend.stores.neo4j.schema import (
    CHUNK,
    DOCUMENT,
    EDGE,
    ENTITY,
    FAR_END,
    HAS_PART,
    MENTIONED_IN,
    RELATION,
    SEEK_RELATION,
    SEEK_SUPPORT,
    STATED_IN,
    STORE,
    TOUCHED,
    TYPE,
    in_order,
)
from backend.stores.neo4j.state import read_state
from backend.stores.neo4j.sweeping import sweep, sweep_communities
from backend.stores.neo4j.visibility import Visibility, written
from backend.stores.validity import BEGINNING, ENDLESS, FOREVER

_DOCUMENTS, _EDGES, _ENTITIES = 200, 2_000, 2_000  # in one transaction


def settle(server: Server) -> None:
    """Brings what is derived into line with the last commit, and deletes what that removed."""
    state = read_state(server)
    if state["removing"]:
        sweep(server, state["commits"], state["removing"])
        _write(server, f"MATCH (k:{STORE} {{id: 'store'}}) SET k.removing = []")
    if state["settled"] == state["commits"]:
        return
    sweep_communities(server, state["commits"])
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
    ends = ""
    for end in FAR_END:
        hint, present = in_order(end)
        ends += f"""CALL (n) {{
            MATCH (x:{EDGE}) {hint} WHERE x.{end} = n.id AND {present}
            SET x:{TOUCHED} RETURN count(x) AS at_{end}
        }} """
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
            OPTIONAL MATCH (:{RELATION})-[s:{STATED_IN} {{edge: x.id}}]->(p:{CHUNK}) {SEEK_SUPPORT}
            WHERE {written("s")}
            RETURN count(DISTINCT p) AS stored_passages, count(DISTINCT p.document) AS stored_documents
        }}
        CALL (x) {{
            OPTIONAL {visible.support("x.id")}
            RETURN count(DISTINCT r) AS stated, count(DISTINCT p) AS passages, count(DISTINCT v.id) AS documents,
                collect(DISTINCT p.id)[..25] AS first, {_weights("collect(DISTINCT r)")} AS stated_weights
        }}
        CALL (x) {{
            OPTIONAL MATCH (r:{RELATION} {{edge: x.id}}) {SEEK_RELATION} WHERE {written("r")}
            WITH r, r.unstated AND NOT {visible.relation_stated("r")} AS is_unstated_now
            WITH count(r) AS relations, count(CASE WHEN r.unstated THEN 1 END) AS unstated,
                collect(CASE WHEN is_unstated_now THEN r END) AS now
            RETURN relations, unstated, size(now) AS unstated_now, {_weights("now")} AS unstated_weights
        }}
        OPTIONAL MATCH (s:{ENTITY} {{id: x.source}}) OPTIONAL MATCH (t:{ENTITY} {{id: x.target}})
        SET x.stated = stated, x.passages = passages, x.documents = documents, x.unstated = unstated,
            x.unstated_now = unstated_now, x.weights = stated_weights + unstated_weights,
            x.kept_at_source = stated + unstated > 0 AND coalesce(t.known, false),
            x.kept_at_target = stated + unstated > 0 AND coalesce(s.known, false),
            x.less_documents = CASE WHEN x.source <> x.target THEN -stored_documents END,
            x.less_passages = CASE WHEN x.source <> x.target THEN -stored_passages END
        REMOVE x:{TOUCHED}
        WITH x, s, t, first, stored_documents, stored_passages, x.id AS id,
            relations + stored_passages = 0 AS is_empty
        CALL (x, s, t, first, stored_documents, stored_passages, is_empty) {{
            OPTIONAL MATCH (s)-[e {{id: x.id}}]->(t)
            FOREACH (one IN CASE WHEN e IS NOT NULL AND NOT is_empty THEN [e] ELSE [] END |
                SET one.passages = x.passages, one.documents = x.documents, one.stated_in = first,
                    one.stored_documents = stored_documents, one.stored_passages = stored_passages)
            FOREACH (one IN CASE WHEN e IS NOT NULL AND is_empty THEN [e] ELSE [] END | DELETE one)
            FOREACH (one IN CASE WHEN is_empty THEN [x] ELSE [] END | DELETE one)
        }}
        RETURN id"""


def _weights(relations: str) -> str:
    """The weights of those of the relations that have one."""
    return f"[one IN {relations} WHERE one.weight IS NOT NULL | toFloat(one.weight)]"


def _write(server: Server, statement: str, visible: Visibility | None = None, **parameters: Any) -> list[Row]:
    asked = {**(visible.parameters if visible else {}), **parameters}
    return server.write(lambda transaction: transaction.run(statement, asked))
