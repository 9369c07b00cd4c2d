"""Writing communities, their reports and claims, and what a commit and a removal do to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from backend.stores.reports import stored_report
from backend.stores.rows import NewClaim, NewCommunity
from backend.stores.sqlite.driver import Connection
from backend.stores.sqlite.rows import as_json

_DATASET_COMMUNITIES = "SELECT id FROM community WHERE dataset = ?"


def replace_communities(connection: Connection, dataset: int, rows: Sequence[NewCommunity]) -> None:
    """Makes these the communities of the dataset; a report that says the same keeps its vector."""
    vectors = {
        (row["uuid"], row["report"]): row["vectors"]
        for row in connection.read("SELECT uuid, report, vectors FROM community WHERE dataset = ?", (dataset,))
    }
    drop_communities(connection, dataset)
    texts = [None if row.report is None else stored_report(row.report) for row in rows]
    connection.run_many(
        """INSERT INTO community (uuid, dataset, source_id, level, parent, title, origin, metadata, report,
                report_origin, stale, vectors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                row.id,
                dataset,
                row.source_id,
                row.level,
                row.parent,
                row.title,
                row.origin,
                as_json(row.metadata),
                text,
                row.report.origin if row.report else None,
                row.stale,
                vectors.get((row.id, text)),
            )
            for row, text in zip(rows, texts, strict=True)
        ],
    )
    connection.run_many(
        """INSERT OR IGNORE INTO membership SELECT c.id, e.id FROM community c, entity e
            WHERE c.uuid = ? AND e.uuid = ?""",
        [(row.id, member) for row in rows for member in row.member_ids],
    )
    connection.run_many(
        "INSERT OR IGNORE INTO report_source SELECT id, ? FROM community WHERE uuid = ?",
        [(passage, row.id) for row in rows if row.report for passage in row.report.cited],
    )


def drop_communities(connection: Connection, dataset: int) -> None:
    """Removes every community of a dataset."""
    for statement in (
        f"DELETE FROM membership WHERE community IN ({_DATASET_COMMUNITIES})",
        f"DELETE FROM report_source WHERE community IN ({_DATASET_COMMUNITIES})",
        "DELETE FROM community WHERE dataset = ?",
    ):
        connection.run(statement, (dataset,))


def put_claims(connection: Connection, dataset: int, rows: Sequence[NewClaim]) -> None:
    """Adds claims, or changes them in place."""
    fields = "type, status, start_date, end_date, description, unstated, metadata"
    connection.run_many(
        f"""INSERT INTO claim (uuid, dataset, source_id, subject, object, {fields})
            SELECT :id, :dataset, :source_id, s.id, (SELECT id FROM entity WHERE uuid = :object), :type, :status,
                :start_date, :end_date, :description, :unstated, :metadata
            FROM entity s WHERE s.uuid = :subject
            ON CONFLICT (uuid) DO UPDATE SET subject = excluded.subject, object = excluded.object,
                {", ".join(f"{field} = excluded.{field}" for field in fields.split(", ") if field != "unstated")},
                unstated = excluded.unstated AND unstated""",
        [
            {
                "id": row.id,
                "dataset": dataset,
                "source_id": row.source_id,
                "subject": row.subject_id,
                "object": row.object_id,
                "type": row.type,
                "status": row.status,
                "start_date": row.start_date,
                "end_date": row.end_date,
                "description": row.description,
                "unstated": row.unstated,
                "metadata": as_json(row.metadata),
            }
            for row in rows
        ],
    )
    connection.run_many(
        """INSERT OR IGNORE INTO claim_passage SELECT c.id, p.id FROM claim c, passage p
            WHERE c.uuid = ? AND p.uuid = ?""",
        [(row.id, passage) for row in rows for passage in row.passage_ids],
    )


def unstated_claims(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """What is stored of those of the claims that name no passage, as `claim_fields` has it."""
    rows = connection.read(
        """SELECT c.uuid, s.uuid, o.uuid, c.type, c.status, c.start_date, c.end_date, c.description, c.metadata
            FROM claim c JOIN entity s ON s.id = c.subject LEFT JOIN entity o ON o.id = c.object
            WHERE c.unstated AND c.uuid IN (SELECT value FROM json_each(?))""",
        (json.dumps(ids),),
    )
    return {row[0]: tuple(row)[1:] for row in rows}


def claim_fields(row: NewClaim) -> tuple[Any, ...]:
    """The fields of a claim, to tell whether a load changes it."""
    own = (row.type, row.status, row.start_date, row.end_date, row.description)
    return (row.subject_id, row.object_id, *own, as_json(row.metadata))


def retire_claims(connection: Connection, claims: Sequence[int]) -> int:
    """A claim that passages state ends with them; one without any has no time and goes now. How many ended."""
    listed = (json.dumps(claims),)
    chosen = "id IN (SELECT value FROM json_each(?))"
    ended = connection.run(f"UPDATE claim SET unstated = 0 WHERE unstated AND {chosen}", listed)
    connection.run(
        f"""DELETE FROM claim WHERE {chosen}
            AND NOT EXISTS (SELECT 1 FROM claim_passage k WHERE k.claim = claim.id)""",
        listed,
    )
    return ended


def remove_claims(connection: Connection, chosen: str) -> None:
    """Removes the claims that a query of their keys chooses."""
    connection.run(f"DELETE FROM claim_passage WHERE claim IN ({chosen})")
    connection.run(f"DELETE FROM claim WHERE id IN ({chosen})")


def finish(put: Sequence[int]) -> tuple[str, ...]:
    """What a commit does: counts the members that are known, and marks what the job has not made anew as stale."""
    made = ", ".join(map(str, put))
    changed = """SELECT id FROM touched_dataset UNION SELECT d.dataset FROM touched_version t
        JOIN version v ON v.id = t.id JOIN document d ON d.id = v.document
        UNION SELECT d.dataset FROM touched_document t JOIN document d ON d.id = t.id"""
    return (
        f"""UPDATE community SET known = (
                SELECT count(*) FROM membership m CROSS JOIN entity e ON e.id = m.entity
                WHERE m.community = community.id AND e.known
            ) WHERE dataset IN ({made}) OR id IN (
                SELECT community FROM membership WHERE entity IN (SELECT id FROM touched_entity)
            )""",
        f"UPDATE community SET stale = 1 WHERE dataset IN ({changed}) AND dataset NOT IN ({made})",
    )
