"""Reading passages: what the full-text index proposes, which are visible, and passages whole."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backend.models import Passage
from backend.scope import ResolvedScope
from backend.stores.base import PassageProposals
from backend.stores.fulltext import WORD_LIMIT, asked_words
from backend.stores.sqlite.driver import Connection
from backend.stores.sqlite.entities import full_text_term
from backend.stores.sqlite.rows import ALL_SPANS, PASSAGE_COLUMNS, PASSAGE_TABLES, result_passage
from backend.stores.sqlite.schema import PASSAGE_WORDS
from backend.stores.sqlite.visibility import Visibility
from backend.words import Word


class PassageReads:
    """The reading primitives about passages."""

    connection: Connection
    settled: int

    def propose_passages(self, words: Sequence[Word], scope: ResolvedScope, limit: int) -> PassageProposals:
        visible = Visibility(scope, self.settled)
        terms = [full_text_term(word, is_last=False) for word in asked_words(words)]
        expressions = [" AND ".join(terms), *terms] if len(terms) > 1 else terms
        rows = self.connection.read(
            _propose_sql(len(expressions), len(terms), visible),
            {
                **visible.parameters,
                "limit": limit,
                "word_limit": WORD_LIMIT,
                **{f"words_{n}": expression for n, expression in enumerate(expressions)},
                **{f"word_{n}": f" {' '.join(word.tokens)} " for n, word in enumerate(asked_words(words))},
            },
        )
        found = {row["uuid"]: (row["matched"], row["length"]) for row in rows[:limit]}
        return PassageProposals(found, len(rows) > limit or bool(rows and rows[0]["full"]))

    def visible_passages(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, str]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT p.uuid, d.uuid AS document FROM json_each(:ids) asked
                CROSS JOIN passage p ON p.uuid = asked.value CROSS JOIN version v ON v.id = p.version
                CROSS JOIN document d ON d.id = v.document WHERE {visible.current("v")}""",
            {**visible.parameters, "ids": json.dumps(passage_ids)},
        )
        return {row["uuid"]: row["document"] for row in rows}

    def few_passages(self, limit: int, scope: ResolvedScope) -> dict[str, str | None] | None:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT p.uuid, c.name FROM version v CROSS JOIN passage p ON p.version = v.id
                LEFT JOIN vector_collection c ON c.id = p.vectors WHERE {visible.current("v")} LIMIT :limit + 1""",
            {**visible.parameters, "limit": limit},
        )
        return None if len(rows) > limit else {row["uuid"]: row["name"] for row in rows}

    def passages(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Passage]:
        visible = Visibility(scope, self.settled)
        rows = self.connection.read(
            f"""SELECT {PASSAGE_COLUMNS}, {ALL_SPANS} AS spans FROM {PASSAGE_TABLES}
                WHERE p.uuid IN (SELECT value FROM json_each(:ids)) AND {visible.current("v")}""",
            {**visible.parameters, "ids": json.dumps(passage_ids)},
        )
        return {row["passage_uuid"]: result_passage(row, row["spans"]) for row in rows}


def _propose_sql(expressions: int, words: int, visible: Visibility) -> str:
    """One statement: matches of each expression, the rarest counting most; a word that all have proposes nothing.

    `matched` has a bit for each of the words that a passage has, the first one's lowest.
    """
    matches = " UNION ALL ".join(
        f"""SELECT * FROM (SELECT rowid, {n} FROM passage_words WHERE passage_words MATCH :words_{n}
            LIMIT :word_limit + 1)"""
        for n in range(expressions)
    )
    bits = " + ".join(f"((instr({PASSAGE_WORDS}, :word_{n}) > 0) << {n})" for n in range(words))
    return f"""
        WITH matched (passage, source) AS MATERIALIZED ({matches}),
        sources AS MATERIALIZED (SELECT source, count(*) AS size FROM matched GROUP BY source),
        telling AS (
            SELECT source, 1.0 / size AS weight FROM sources
            WHERE size <= :word_limit OR (SELECT min(size) FROM sources) > :word_limit
        ), proposed AS MATERIALIZED (
            SELECT m.passage, sum(t.weight) AS weight FROM matched m JOIN telling t ON t.source = m.source
            GROUP BY m.passage
        ), kept AS (
            SELECT p.id, weight FROM proposed CROSS JOIN passage p ON p.id = proposed.passage
            CROSS JOIN version v ON v.id = p.version WHERE {visible.current("v")}
            ORDER BY weight DESC, p.uuid LIMIT :limit + 1
        )
        SELECT p.uuid, {bits or 0} AS matched, length(p.words) AS length,
            (SELECT max(size) > :word_limit FROM sources) AS full
        FROM kept CROSS JOIN passage p ON p.id = kept.id JOIN version v ON v.id = p.version
        ORDER BY kept.weight DESC, p.uuid"""
