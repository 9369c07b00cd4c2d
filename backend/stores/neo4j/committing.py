"""What a commit changes of rows that are seen already, all of it in the commit's own transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backend.stores.neo4j.driver import Row, Writing
from backend.stores.neo4j.schema import (
    CLAIM,
    CLAIMED_IN,
    COLLECTION,
    COMMUNITY,
    DATASET,
    DOCUMENT,
    EDGE,
    ENTITY,
    LABEL,
    MENTIONED_IN,
    METADATA_KEY,
    NEVER,
    OBJECT,
    RELATION,
    STATED_IN,
    SUBJECT,
    TOUCHED,
    TYPE,
    label_token,
    text_key,
)

_ROWS = 5_000  # that one statement takes


def apply_versions(transaction: Writing, versions: Sequence[Row], endings: Mapping[str, int]) -> None:
    """Says when each version is current and how much it has, and which documents have been retired."""
    for batch in _batches(versions):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (v:{DOCUMENT} {{key: row.key}})
                SET v.valid_from = row.valid_from, v.valid_to = row.valid_to, v += row.counts, v:{TOUCHED}""",
            {"rows": batch},
        )
    for batch in _batches([{"id": document, "at": at} for document, at in endings.items()]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (v:{DOCUMENT} {{id: row.id}})
                WITH row, v ORDER BY v.number WITH row, last(collect(v)) AS v SET v.ended = row.at""",
            {"rows": batch},
        )


def apply_entities(transaction: Writing, fields: Mapping[str, Row]) -> None:
    """Changes entities in place: their fields and their own label."""
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


def apply_relations(transaction: Writing, fields: Mapping[str, Row]) -> None:
    """Changes relations in place; the edge that one leaves, the one that it joins and former ones are touched."""
    for batch in _batches([{"id": key, "fields": row} for key, row in fields.items()]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (r:{RELATION} {{id: row.id}}) SET r += row.fields
                WITH r MATCH (r)-[s:{STATED_IN}]->() WHERE s.edge <> r.edge
                MATCH (x:{EDGE} {{id: s.edge}}) SET x:{TOUCHED}""",
            {"rows": batch},
        )


def apply_claims(transaction: Writing, fields: Mapping[str, Row]) -> None:
    """Changes claims in place: their fields, and the entities that they are about."""
    for batch in _batches([{"id": key, "fields": row} for key, row in fields.items()]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (k:{CLAIM} {{id: row.id}}) SET k += row.fields
                WITH k MATCH (k)-[b:{SUBJECT}|{OBJECT}]->() DELETE b""",
            {"rows": batch},
        )
        for name, end in ((SUBJECT, "subject_id"), (OBJECT, "object_id")):
            transaction.run(
                f"""UNWIND $rows AS row MATCH (k:{CLAIM} {{id: row.id}}), (n:{ENTITY} {{id: row.fields.{end}}})
                    CREATE (k)-[:{name}]->(n)""",
                {"rows": batch},
            )


def apply_hierarchies(transaction: Writing, since: int, replaced: Collection[str], changed: Collection[str]) -> None:
    """The former communities of datasets that have others or none now are no more; those of the changed are stale."""
    transaction.run(
        f"""MATCH (g:{COMMUNITY}) WHERE g.id IS NOT NULL AND g.dataset IN $replaced AND g.since < $since
            SET g.since = $never, g.vectors = null""",
        {"replaced": list(replaced), "since": since, "never": NEVER},
    )
    transaction.run(
        f"""MATCH (g:{COMMUNITY}) WHERE g.id IS NOT NULL AND g.dataset IN $changed AND g.since < $since
            SET g.stale = true""",
        {"changed": list(changed), "since": since},
    )


def apply_retirement(
    transaction: Writing, entities: Sequence[str], relations: Sequence[str], claims: Sequence[str]
) -> None:
    """What passages state ends with them; what is without goes now, as does an entity that nothing names."""
    for batch in _batches([{"id": key} for key in claims]):
        transaction.run(
            f"""UNWIND $rows AS row MATCH (k:{CLAIM} {{id: row.id}}) SET k.unstated = false
                WITH k WHERE NOT EXISTS {{ MATCH (k)-[:{CLAIMED_IN}]->() }} DETACH DELETE k""",
            {"rows": batch},
        )
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
                    AND NOT EXISTS {{ MATCH (n)--(:{ENTITY}) }} AND NOT EXISTS {{ MATCH (n)<--(:{CLAIM}) }}
                DETACH DELETE n""",
            {"rows": batch},
        )


def apply_weights(transaction: Writing, since: int, changed: Collection[str]) -> None:
    """Says of the changed datasets whether each of their relations has a weight of its own."""
    transaction.run(
        f"""MATCH (d:{DATASET}) WHERE d.name IN $changed
            CALL (d) {{
                MATCH (r:{RELATION}) WHERE r.id IS NOT NULL AND r.dataset = d.name AND r.since <= $since
                RETURN count(r) AS relations, count(r.weight) AS weighted
            }}
            SET d.weighted = relations > 0 AND weighted = relations""",
        {"changed": list(changed), "since": since},
    )


def apply_names(transaction: Writing, since: int, datasets: set[str], types: Mapping[str, str]) -> None:
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


def _replace(transaction: Writing, label: str, statement: str, parameters: dict[str, Any]) -> None:
    """Makes the names of a kind those that the statement finds."""
    rows = transaction.run(statement, parameters)
    _merge(transaction, label, rows)
    ids = [text_key(row["name"]) for row in rows]
    transaction.run(f"MATCH (k:{label}) WHERE NOT k.id IN $ids DELETE k", {"ids": ids})


def _merge(transaction: Writing, label: str, rows: Sequence[Row]) -> None:
    named = [{"id": text_key(row["name"]), "fields": row} for row in rows]
    transaction.run(f"UNWIND $rows AS row MERGE (k:{label} {{id: row.id}}) SET k += row.fields", {"rows": named})


def _batches(rows: Sequence[Row]) -> list[Sequence[Row]]:
    return [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
