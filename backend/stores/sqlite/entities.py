"""Reading entities: what the full-text index proposes, who is in scope, and the passages that mention them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence

from backend.models import Counts, Entity, EntityView, Status
from backend.scope import ResolvedScope
from backend.stores.base import Candidate, Near, Proposals, Proposed, Supported
from backend.stores.fulltext import WORD_LIMIT, asked_words
from backend.stores.sqlite.driver import Connection, Row
from backend.stores.sqlite.rows import (
    ENTITY_COLUMNS,
    ENTITY_TABLES,
    PASSAGE_COLUMNS,
    READING_ORDER,
    entity_fields,
    read_json,
    result_entity,
    result_evidence,
)
from backend.stores.sqlite.visibility import Visibility
from backend.words import Word


def label_token(label: str) -> str:
    """What stands for a label in the full-text index."""
    return "l" + hashlib.blake2b(label.encode(), digest_size=8).hexdigest()


def name_key(folded: str) -> bytes:
    """What stands for a whole folded name or alias in the index of exact matches."""
    return hashlib.blake2b(folded.encode(), digest_size=12).digest()


class EntityReads:
    """The reading primitives about entities."""

    connection: Connection
    settled: int

    def propose(
        self, words: Sequence[Word], folded: str, labels: Sequence[str], scope: ResolvedScope, limit: int
    ) -> Proposals:
        visible = Visibility(scope, self.settled)
        expressions = _expressions(words, labels)
        parameters = {
            **visible.parameters,
            "key": name_key(folded),
            "labels": json.dumps(labels),
            "limit": limit,
            "word_limit": WORD_LIMIT,
            **{f"words_{n}": expression for n, expression in enumerate(expressions)},
        }
        rows = self.connection.read(_propose_sql(len(expressions), labels, visible), parameters)
        return _proposals(rows, limit, labels)

    def candidates(
        self, near: Sequence[Near], labels: Sequence[str], limit: int, scope: ResolvedScope
    ) -> list[Candidate]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT uuid, label, name, place FROM (
                    SELECT e.uuid, l.name AS label, e.name, json_extract(near.value, '$[2]') AS place,
                        rank() OVER (PARTITION BY e.label ORDER BY json_extract(near.value, '$[2]')) AS rank
                    FROM json_each(:near) near CROSS JOIN entity e ON e.uuid = json_extract(near.value, '$[0]')
                    JOIN vector_collection c ON c.id = e.vectors AND c.name = json_extract(near.value, '$[1]')
                    JOIN label l ON l.id = e.label WHERE {visible.entity_known("e")} {_among(labels)}
                ) WHERE rank <= :limit""",
            {**visible.parameters, "near": json.dumps(near), "labels": json.dumps(labels), "limit": limit},
        )
        return [Candidate(*row) for row in rows]

    def support(
        self, entity_ids: Sequence[str], words: Sequence[Word], limit: int, scope: ResolvedScope
    ) -> dict[str, Supported]:
        visible = Visibility(scope, self.settled)
        distinct = asked_words(words)
        # Of a hub's tens of thousands of passages only the first few are kept while they are read.
        rows = self.connection.read(
            f"""WITH asked AS MATERIALIZED (
                    SELECT e.id, {ENTITY_COLUMNS} FROM {ENTITY_TABLES}
                    WHERE e.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.entity_known("e")}
                ), counted AS MATERIALIZED (
                    SELECT e.*, sum(iif(v.id IS NULL, 0, a.passages)) AS passages,
                        count(DISTINCT v.document) AS documents
                    FROM asked e LEFT JOIN appearance a ON a.entity = e.id
                    LEFT JOIN version v ON v.id = a.version AND {visible.current("v")} GROUP BY e.id
                )
                SELECT e.*, {PASSAGE_COLUMNS}, (
                    SELECT json_group_array(json_array(m."start", m."end")) FROM mention m
                    WHERE m.entity = e.id AND m.passage = p.id
                ) AS spans
                FROM counted e LEFT JOIN passage p ON p.id IN (
                    SELECT m.passage FROM mention m CROSS JOIN passage p ON p.id = m.passage
                    CROSS JOIN version v ON v.id = p.version WHERE m.entity = e.id AND {visible.current("v")}
                    GROUP BY m.passage
                    ORDER BY {_words_in("p", len(distinct))} DESC, count(*) DESC, {READING_ORDER} LIMIT :limit
                )
                LEFT JOIN version v ON v.id = p.version
                LEFT JOIN document d ON d.id = v.document LEFT JOIN dataset ds ON ds.id = d.dataset
                ORDER BY e.id, {_words_in("p", len(distinct))} DESC, (
                    SELECT count(*) FROM mention m WHERE m.entity = e.id AND m.passage = p.id
                ) DESC, {READING_ORDER}""",
            {
                **visible.parameters,
                "ids": json.dumps(entity_ids),
                "limit": limit,
                **{f"word_{n}": f" {' '.join(word.tokens)} " for n, word in enumerate(distinct)},
            },
        )
        evidence = result_evidence(rows, "uuid")
        return {row["uuid"]: Supported(result_entity(row), evidence[row["uuid"]]) for row in rows}

    def start(
        self, entity_id: str, names: Mapping[str, Sequence[str]], scope: ResolvedScope
    ) -> tuple[EntityView | None, tuple[tuple[str, str], ...]]:
        visible = Visibility(scope, self.settled)
        unknown, asked = unknown_names_query(names)
        (row,) = self.connection.read(
            f"""SELECT found.*, (SELECT json_group_array(json_array(kind, value)) FROM ({unknown})) AS unknown
                FROM (SELECT 1) LEFT JOIN (
                    SELECT {ENTITY_COLUMNS}, (
                        SELECT sum(a.passages) FROM appearance a JOIN version v ON v.id = a.version
                        WHERE a.entity = e.id AND {visible.current("v")}
                    ) AS passages, (
                        SELECT count(DISTINCT a.document) FROM appearance a JOIN version v ON v.id = a.version
                        WHERE a.entity = e.id AND {visible.current("v")}
                    ) AS documents
                    FROM {ENTITY_TABLES} WHERE e.uuid = :id AND {visible.entity_known("e")}
                ) found""",
            {**visible.parameters, **asked, "id": entity_id},
        )
        view = None
        if row["uuid"] is not None:
            counts = Counts(row["passages"] or 0, row["documents"])
            status = Status.SUPPORTED if counts.passages else Status.UNSUPPORTED
            view = EntityView(**entity_fields(row), status=status, counts=counts)
        return view, tuple((kind, name) for kind, name in json.loads(row["unknown"]))

    def entity(self, entity_id: str, scope: ResolvedScope) -> EntityView | None:
        return self.start(entity_id, {}, scope)[0]

    def stored_entity(self, entity_id: str) -> Entity | None:
        rows = self.connection.read(f"SELECT {ENTITY_COLUMNS} FROM {ENTITY_TABLES} WHERE e.uuid = ?", (entity_id,))
        return result_entity(rows[0]) if rows else None


def _words_in(passage: str, count: int) -> str:
    """How many of the words `:word_0`, … a passage has."""
    return " + ".join(f"(instr({passage}.words, :word_{n}) > 0)" for n in range(count)) or "NULL"


def unknown_names_query(names: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, str]]:
    """A query of kind and value of the names that the store does not know, and its parameters."""
    tables = {
        "collection": "SELECT name FROM collection",
        "document": "SELECT uuid FROM document",
        "label": "SELECT name FROM label",
        "relation type": "SELECT name FROM relation_type",
    }
    query = " UNION ALL ".join(
        f"SELECT '{kind}' AS kind, value FROM json_each(:name_{n}) WHERE value NOT IN ({known})"
        for n, (kind, known) in enumerate(tables.items())
    )
    return query, {f"name_{n}": json.dumps(names.get(kind, ())) for n, kind in enumerate(tables)}


def _expressions(words: Sequence[Word], labels: Sequence[str]) -> list[str]:
    """Full-text expressions: all the words together first, then each of them."""
    terms = [full_text_term(word, is_last=word == words[-1]) for word in asked_words(words)]
    combined = [" AND ".join(terms), *terms] if len(terms) > 1 else terms
    among = " OR ".join(f'"{label_token(label)}"' for label in labels)
    suffix = f" AND label : ({among})" if labels else ""
    return [f"names : ({expression}){suffix}" for expression in combined]


def full_text_term(word: Word, *, is_last: bool) -> str:
    """A word as the full-text index is asked for it; the last one may be the beginning of one."""
    # Words hold no quotes except where a name is all symbols, and a quote in quotes is doubled.
    quoted = " ".join(word.tokens).replace('"', '""')
    return f'"{quoted}" *' if is_last and not word.unspaced else f'"{quoted}"'


def _among(labels: Sequence[str]) -> str:
    """Holds for the labels `l` that are asked for, all if none are."""
    return "AND l.name IN (SELECT value FROM json_each(:labels))" if labels else ""


def _propose_sql(expressions: int, labels: Sequence[str], visible: Visibility) -> str:
    """One statement: matches of each expression, most telling first, then the cut per label among what is in scope."""
    matches = "".join(
        f""" UNION ALL SELECT * FROM (SELECT rowid, {n + 1} FROM entity_words
             WHERE entity_words MATCH :words_{n} LIMIT :word_limit + 1)"""
        for n in range(expressions)
    )
    return f"""
        WITH matched (entity, source) AS MATERIALIZED (
            SELECT * FROM (SELECT entity, 0 FROM entity_key WHERE key = :key LIMIT :word_limit + 1) {matches}
        ), proposed AS MATERIALIZED (SELECT entity, min(source) AS source FROM matched GROUP BY entity),
        full_sources AS (SELECT source FROM matched GROUP BY source HAVING count(*) > :word_limit),
        placed AS (
            SELECT e.id, row_number() OVER (PARTITION BY e.label ORDER BY min(proposed.source, 2), e.id) AS place
            FROM proposed CROSS JOIN entity e ON e.id = proposed.entity JOIN label l ON l.id = e.label
            WHERE {visible.entity_known("e")} {_among(labels)}
        )
        SELECT e.uuid, l.name AS label, e.name, e.aliases, placed.place, (SELECT count(*) FROM full_sources) AS full
        FROM placed CROSS JOIN entity e ON e.id = placed.id JOIN label l ON l.id = e.label
        WHERE placed.place <= :limit + 1"""


def _proposals(rows: list[Row], limit: int, labels: Sequence[str]) -> Proposals:
    per_label = Counter(row["label"] for row in rows)
    overflowed = {label for label, count in per_label.items() if count > limit}
    if rows and rows[0]["full"]:
        overflowed |= set(labels or per_label)
    kept = tuple(
        Proposed(row["uuid"], row["label"], row["name"], read_json(row["aliases"]))
        for row in rows
        if row["place"] <= limit
    )
    return Proposals(kept, tuple(sorted(overflowed)))
