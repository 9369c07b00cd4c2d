"""Reading entities: what the full-text index proposes, who is in scope, and the passages that mention them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.models import Counts, Entity, EntityView, Status
from backend.scope import ResolvedScope
from backend.stores.base import Candidate, Near, Proposals, Proposed, Supported
from backend.stores.fulltext import WORD_LIMIT, asked_words
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.rows import (
    READING_ORDER,
    entity_fields,
    entity_list,
    passage_list,
    result_entity,
    result_evidence,
)
from backend.stores.neo4j.schema import (
    CHUNK,
    COLLECTION,
    DOCUMENT,
    ENTITY,
    FULL_TEXT,
    LABEL,
    MENTIONED_IN,
    TYPE,
    text_key,
)
from backend.stores.neo4j.visibility import Reads, written
from backend.words import Word

# Lucene takes 1,024 clauses; of more labels those of the matches are compared afterwards.
_MAX_LABELS = 500


class EntityReads(Reads):
    """The reading primitives about entities."""

    def propose(
        self, words: Sequence[Word], folded: str, labels: Sequence[str], scope: ResolvedScope, limit: int
    ) -> Proposals:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND range(0, size($queries) - 1) AS source
                CALL db.index.fulltext.queryNodes($index, $queries[source], {{limit: $word_limit + 1}}) YIELD node
                WITH source, collect(node) AS nodes
                WITH collect({{source: source, nodes: nodes}}) AS found,
                    count(CASE WHEN size(nodes) > $word_limit THEN 1 END) AS full
                UNWIND found AS one UNWIND one.nodes AS n
                WITH n, min(one.source) AS source, full
                WHERE {written("n")} AND (size($labels) = 0 OR n.label IN $labels) AND {visible.entity_known("n")}
                WITH n, full, CASE WHEN source > 2 THEN 2 ELSE source END AS source ORDER BY source, n.number
                WITH n.label AS label, collect(n) AS nodes, full
                RETURN label, full > 0 AS full, size(nodes) > $limit AS more,
                    [n IN nodes[..$limit] | [n.id, n.name] + n.aliases] AS entities""",
            {
                **visible.parameters,
                "index": FULL_TEXT,
                "queries": _queries(words, folded, labels),
                "labels": list(labels),
                "limit": limit,
                "word_limit": WORD_LIMIT,
            },
        )
        return _proposals(rows, labels)

    def candidates(
        self, near: Sequence[Near], labels: Sequence[str], limit: int, scope: ResolvedScope
    ) -> list[Candidate]:
        visible = self.visibility(scope)
        # A client spends a tenth of a second on a few thousand rows, so that only those that count are sent.
        rows = self.reading.read(
            f"""UNWIND range(0, size($ids) - 1) AS number
                MATCH (n:{ENTITY} {{id: $ids[number]}})
                WHERE {written("n")} AND n.vectors = $collections[number]
                    AND (size($labels) = 0 OR n.label IN $labels) AND {visible.entity_known("n")}
                WITH n, $places[number] AS place ORDER BY place
                WITH n.label AS label, collect([place, n]) AS ranked
                RETURN label, [
                    one IN ranked WHERE one[0] <= coalesce(ranked[$limit - 1][0], one[0]) |
                    [one[1].id, one[1].name, one[0]]
                ] AS entities""",
            {
                **visible.parameters,
                "ids": [one.id for one in near],
                "collections": [one.collection for one in near],
                "places": [one.place for one in near],
                "labels": list(labels),
                "limit": limit,
            },
        )
        return [Candidate(id, row["label"], name, place) for row in rows for id, name, place in row["entities"]]

    def support(
        self, entity_ids: Sequence[str], words: Sequence[Word], limit: int, scope: ResolvedScope
    ) -> dict[str, Supported]:
        visible = self.visibility(scope)
        spans = f"[(n)-[o:{MENTIONED_IN}]->(p) WHERE {written('o')} | [o.start, o.end]]"
        rows = self.reading.read(
            f"""UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE {written("n")} AND {visible.entity_known("n")}
                CALL (n) {{
                    MATCH (n)-[m:{MENTIONED_IN}]->(p:{CHUNK}) WHERE {written("m")} AND {written("p")}
                    WITH n, p, count(m) AS mentions
                    MATCH (v:{DOCUMENT} {{key: p.version}}) WHERE {visible.current("v")}
                    WITH n, p, v, mentions, size([word IN $words WHERE p.words CONTAINS word]) AS matched
                    ORDER BY matched DESC, mentions DESC, {READING_ORDER}
                    WITH collect([p, v]) AS pairs, count(DISTINCT v.id) AS documents
                    CALL (n, pairs) {{
                        UNWIND pairs[..$limit] AS pair WITH n, pair[0] AS p, pair[1] AS v
                        RETURN collect({passage_list("p", "v", spans)}) AS first
                    }}
                    RETURN first, size(pairs) AS passages, documents
                }}
                RETURN {entity_list("n")} AS entity, first, passages, documents""",
            {
                **visible.parameters,
                "ids": list(dict.fromkeys(entity_ids)),
                "limit": limit,
                "words": [f" {' '.join(word.tokens)} " for word in asked_words(words)],
            },
        )
        found = [Supported(result_entity(row["entity"]), result_evidence(row)) for row in rows]
        return {one.entity.id: one for one in found}

    def start(
        self, entity_id: str, names: Mapping[str, Sequence[str]], scope: ResolvedScope
    ) -> tuple[EntityView | None, tuple[tuple[str, str], ...]]:
        visible = self.visibility(scope)
        unknown, asked = unknown_names(names)
        (row,) = self.reading.read(
            f"""OPTIONAL MATCH (n:{ENTITY} {{id: $id}}) WHERE {written("n")} AND {visible.entity_known("n")}
                CALL (n) {{
                    MATCH (n)-[m:{MENTIONED_IN}]->(p:{CHUNK}) WHERE {written("m")} AND {written("p")}
                    WITH p.version AS version, count(DISTINCT p) AS own
                    MATCH (v:{DOCUMENT} {{key: version}}) WHERE {visible.current("v")}
                    RETURN coalesce(sum(own), 0) AS passages, count(DISTINCT v.id) AS documents
                }}
                RETURN n IS NOT NULL AS found, {entity_list("n")} AS entity, passages, documents,
                    {unknown} AS unknown""",
            {**visible.parameters, **asked, "id": entity_id},
        )
        view = None
        if row["found"]:
            counts = Counts(row["passages"], row["documents"])
            status = Status.SUPPORTED if counts.passages else Status.UNSUPPORTED
            view = EntityView(**entity_fields(row["entity"]), status=status, counts=counts)
        return view, tuple((kind, name) for kind, name in row["unknown"])

    def entity(self, entity_id: str, scope: ResolvedScope) -> EntityView | None:
        return self.start(entity_id, {}, scope)[0]

    def stored_entity(self, entity_id: str) -> Entity | None:
        rows = self.reading.read(
            f"MATCH (n:{ENTITY} {{id: $id}}) WHERE {written('n')} RETURN {entity_list('n')} AS entity",
            {"id": entity_id, "commit": self.commit},
        )
        return result_entity(rows[0]["entity"]) if rows else None


def unknown_names(names: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """An expression, a list of kind and value of the names that the store does not know, and its parameters."""
    labels = {"collection": COLLECTION, "label": LABEL, "relation type": TYPE}
    expressions = [
        f"[name IN $names_{n} WHERE NOT EXISTS {{ MATCH (k:{label} {{id: name[0]}}) }} | ['{kind}', name[1]]]"
        for n, (kind, label) in enumerate(labels.items())
    ]
    asked: dict[str, Any] = {
        f"names_{n}": [[text_key(name), name] for name in names.get(kind, ())] for n, kind in enumerate(labels)
    }
    expressions.append(
        f"[id IN $documents WHERE NOT EXISTS {{ MATCH (k:{DOCUMENT} {{id: id}}) WHERE {written('k')} }} "
        "| ['document', id]]"
    )
    asked["documents"] = list(names.get("document", ()))
    return " + ".join(expressions), asked


def _queries(words: Sequence[Word], folded: str, labels: Sequence[str]) -> list[str]:
    """Lucene queries: the whole name first, then all the words together, then each of them."""
    terms = [full_text_term(word, is_last=word == words[-1]) for word in asked_words(words)]
    combined = [f"({' AND '.join(terms)})", *terms] if len(terms) > 1 else terms
    tokens = " OR ".join(text_key(label) for label in labels[:_MAX_LABELS])
    among = f" AND label_token:({tokens})" if labels and len(labels) <= _MAX_LABELS else ""
    return [f"name_keys:{text_key(folded)}", *(f"names:({expression}){among}" for expression in combined)]


def full_text_term(word: Word, *, is_last: bool) -> str:
    """A word as a full-text index is asked for it; the last one may be the beginning of one."""
    if is_last and not word.unspaced:
        return f"{_escaped(word.tokens[0])}*"
    return f'"{" ".join(_escaped(token) for token in word.tokens)}"'


def _escaped(text: str) -> str:
    # Words are letters and digits, except where a name is all symbols: a backslash takes their meaning from them.
    return "".join(c if c.isalnum() else f"\\{c}" for c in text)


def _proposals(rows: list[Row], labels: Sequence[str]) -> Proposals:
    overflowed = {row["label"] for row in rows if row["more"]}
    if rows and rows[0]["full"]:
        overflowed |= set(labels or (row["label"] for row in rows))
    proposed = tuple(
        Proposed(id, row["label"], name, aliases) for row in rows for id, name, *aliases in row["entities"]
    )
    return Proposals(proposed, tuple(sorted(overflowed)))
