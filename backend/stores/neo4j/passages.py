"""Reading passages: what the full-text index proposes, which are visible, and passages whole."""

from __future__ import annotations

from collections.abc import Sequence

from backend.models import Passage
from backend.scope import ResolvedScope
from backend.stores.base import PassageProposals
from backend.stores.fulltext import WORD_LIMIT, asked_words
from backend.stores.neo4j.entities import full_text_term
from backend.stores.neo4j.rows import ALL_SPANS, passage_list, result_passage
from backend.stores.neo4j.schema import CHUNK, DOCUMENT, HAS_PART, PASSAGE_FULL_TEXT, PASSAGE_WORDS
from backend.stores.neo4j.visibility import Reads, Visibility, written
from backend.words import Word

_ALL_WORDS = " + ".join(f"p.{column}" for column in PASSAGE_WORDS)


class PassageReads(Reads):
    """The reading primitives about passages."""

    def propose_passages(self, words: Sequence[Word], scope: ResolvedScope, limit: int) -> PassageProposals:
        visible = self.visibility(scope)
        asked = asked_words(words)
        # Without a property's name before it a term is looked for in every property of the index.
        terms = [full_text_term(word, is_last=False) for word in asked]
        rows = self.reading.read(
            _propose(visible),
            {
                **visible.parameters,
                "index": PASSAGE_FULL_TEXT,
                "queries": [" AND ".join(terms), *terms] if len(terms) > 1 else terms,
                "words": [f" {' '.join(word.tokens)} " for word in asked],
                "limit": limit,
                "word_limit": WORD_LIMIT,
            },
        )
        found = {row["id"]: (sum(1 << n for n in row["matched"]), row["length"]) for row in rows[:limit]}
        return PassageProposals(found, len(rows) > limit or bool(rows and rows[0]["full"]))

    def visible_passages(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, str]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"{seek_visible(visible)} RETURN p.id AS id, v.id AS document", _asked(visible, passage_ids)
        )
        return {row["id"]: row["document"] for row in rows}

    def few_passages(self, limit: int, scope: ResolvedScope) -> dict[str, str | None] | None:
        visible = self.visibility(scope)
        (row,) = self.reading.read(
            f"""MATCH (v:{DOCUMENT}) WHERE v.id IS NOT NULL AND {visible.current("v")}
                MATCH (v)-[:{HAS_PART}]->(p:{CHUNK}) WHERE {written("p")}
                WITH p LIMIT $limit + 1
                WITH collect([p.id, p.vectors]) AS found
                RETURN CASE WHEN size(found) <= $limit THEN found END AS found""",
            {**visible.parameters, "limit": limit},
        )
        return None if row["found"] is None else dict(row["found"])

    def passages(self, passage_ids: Sequence[str], scope: ResolvedScope) -> dict[str, Passage]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"{seek_visible(visible)} RETURN {passage_list('p', 'v', ALL_SPANS)} AS passage",
            _asked(visible, passage_ids),
        )
        found = [result_passage(row["passage"]) for row in rows]
        return {passage.id: passage for passage in found}


def _propose(visible: Visibility) -> str:
    """One statement: matches of each query, the rarest counting most; a word that all have proposes nothing.

    `matched` are the places of the words that a passage has.
    """
    return f"""UNWIND range(0, size($queries) - 1) AS source
        CALL db.index.fulltext.queryNodes($index, $queries[source], {{limit: $word_limit + 1}}) YIELD node
        WITH source, collect(node) AS nodes
        WITH collect(nodes) AS found, min(size(nodes)) AS least, max(size(nodes)) AS most
        UNWIND found AS nodes
        WITH nodes, least, most WHERE size(nodes) <= $word_limit OR least > $word_limit
        UNWIND nodes AS p
        WITH p, sum(1.0 / size(nodes)) AS weight, most
        MATCH (p)<-[:{HAS_PART}]-(v:{DOCUMENT}) WHERE {written("p")} AND {visible.current("v")}
        WITH p, weight, most ORDER BY weight DESC, p.id LIMIT $limit + 1
        WITH p, {_ALL_WORDS} AS all, most
        RETURN p.id AS id, [n IN range(0, size($words) - 1) WHERE all CONTAINS $words[n]] AS matched,
            size(p.words) AS length, most > $word_limit AS full"""


def seek_visible(visible: Visibility) -> str:
    """Matches the visible ones `p` of the passages that are asked for, and their versions `v`."""
    return (
        f"UNWIND $ids AS id MATCH (p:{CHUNK} {{id: id}})<-[:{HAS_PART}]-(v:{DOCUMENT}) "
        f"WHERE {written('p')} AND {visible.current('v')}"
    )


def _asked(visible: Visibility, passage_ids: Sequence[str]) -> dict[str, object]:
    return {**visible.parameters, "ids": list(dict.fromkeys(passage_ids))}
