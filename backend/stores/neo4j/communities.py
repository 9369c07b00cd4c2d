"""Reading communities, their reports and claims, and the edges that communities are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any

from backend.communities.values import Claim, CommunityHead, CommunityOrigin, Report, ReportOrigin
from backend.models import Status
from backend.scope import ResolvedScope
from backend.stores.base import EdgeRead
from backend.stores.communities import Member, Members, WeightedEdge
from backend.stores.neo4j.driver import Row
from backend.stores.neo4j.edges import ends_and_edges, stored_edges
from backend.stores.neo4j.rows import read_metadata
from backend.stores.neo4j.schema import (
    CHUNK,
    CLAIM,
    CLAIMED_IN,
    COMMUNITY,
    DATASET,
    DOCUMENT,
    EDGE,
    ENTITY,
    HAS_PART,
    IN_COMMUNITY,
    MENTIONED_IN,
    OBJECT,
    RELATION,
    SEEK_RELATION,
    STATED_IN,
    SUBJECT,
    in_order,
)
from backend.stores.neo4j.visibility import Reads, Visibility, written
from backend.stores.reports import read_report

_SOURCES = 1_000  # entities whose edges are read at once
_MEMBER = f"({{n}}:{ENTITY})-[:{IN_COMMUNITY}]->({{g}})"
# The communities `g`, all of them or those that are asked for.
_ALL = f"MATCH (g:{COMMUNITY}) WHERE g.id IS NOT NULL AND {written('g')}"
_ASKED = f"UNWIND $ids AS id MATCH (g:{COMMUNITY} {{id: id}}) WHERE {written('g')}"
_HEAD = ("id", "source_id", "dataset", "level", "parent", "title", "origin", "report_origin", "stale", "vectors")
_CLAIM = ("id", "source_id", "dataset", "type", "status", "start_date", "end_date", "description", "metadata")


class CommunityReads(Reads):
    """The reading primitives about communities."""

    def communities(
        self,
        ids: Sequence[str] | None,
        limit: int,
        scope: ResolvedScope,
        *,
        level: int | None = None,
        parent: str | None = None,
    ) -> list[CommunityHead]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{hiding(visible)} {_ALL if ids is None else _ASKED}
                WITH * ORDER BY g.level, g.id
                WITH * WHERE ($level IS NULL OR g.level = $level) AND ($parent IS NULL OR g.parent = $parent)
                    AND {community_seen(visible, "g")}
                WITH * ORDER BY g.level, g.id LIMIT $limit
                RETURN [{", ".join(f"g.{field}" for field in _HEAD)}] AS head, g.metadata AS metadata,
                    {community_whole(visible, "g")} AS is_whole,
                    COUNT {{ MATCH {_MEMBER.format(n="n", g="g")} WHERE {visible.entity_known("n")} }} AS size
                ORDER BY g.level, g.id""",
            {
                **visible.parameters,
                "ids": _distinct(ids or ()),
                "limit": limit,
                "level": level,
                "parent": parent,
            },
        )
        return [_head(row) for row in rows]

    def has_communities(self) -> bool:
        asked = {"commit": self.commit}
        return bool(self.reading.read(f"MATCH (g:{COMMUNITY}) WHERE {written('g')} RETURN g.id AS id LIMIT 1", asked))

    def communities_of(self, entity_ids: Sequence[str], scope: ResolvedScope) -> dict[str, tuple[str, ...]]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND $ids AS id MATCH (n:{ENTITY} {{id: id}}) WHERE {written("n")} AND {visible.entity_known("n")}
                RETURN id, [{_MEMBER.format(n="n", g=f"g:{COMMUNITY}")} WHERE {written("g")} | g.id] AS communities""",
            {**visible.parameters, "ids": _distinct(entity_ids)},
        )
        return {row["id"]: tuple(sorted(row["communities"])) for row in rows}

    def reports(self, ids: Sequence[str], scope: ResolvedScope) -> dict[str, Report]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{hiding(visible)} {_ASKED} AND g.report IS NOT NULL
                WITH * WHERE {community_seen(visible, "g")} AND {community_whole(visible, "g")}
                RETURN g.id AS id, g.report AS report""",
            {**visible.parameters, "ids": _distinct(ids)},
        )
        return {row["id"]: read_report(row["report"]) for row in rows}

    def members(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, Members]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{_with_members(visible)}
                CALL (g) {{
                    MATCH {_MEMBER.format(n="n", g="g")} WHERE {visible.entity_known("n")}
                    WITH n ORDER BY n.id LIMIT $limit + 1
                    WITH collect(n) AS first
                    CALL (first) {{
                        UNWIND first[..$limit] AS n
                        RETURN collect([n.id, n.source_id, n.name, n.label, n.description, COUNT {{
                            MATCH (n)-[b:{MENTIONED_IN}]->(q:{CHUNK})<-[:{HAS_PART}]-(v:{DOCUMENT})
                            WHERE {written("b")} AND {written("q")} AND {visible.current("v")} RETURN DISTINCT q
                        }}]) AS members
                    }}
                    RETURN members, size(first) > $limit AS more
                }}
                RETURN g.id AS id, members, more""",
            {**visible.parameters, "ids": _distinct(ids), "limit": limit},
        )
        return {row["id"]: Members(tuple(map(_member, row["members"])), row["more"]) for row in rows}

    def inside(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, EdgeRead]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{_with_members(visible)}
                CALL (g) {{
                    MATCH {_between("g")}
                    WITH e.id AS edge, e.stored_documents AS documents, e.stored_passages AS passages
                    ORDER BY documents DESC, passages DESC, edge LIMIT $limit + 1
                    MATCH (x:{EDGE} {{id: edge}})
                    RETURN collect(x) AS first
                }}
                WITH g.id AS id, first[..$limit] AS wanted, size(first) AS read
                {ends_and_edges(visible)}
                RETURN id, read, ends, edges""",
            {**visible.parameters, "ids": _distinct(ids), "limit": limit},
        )
        return {
            row["id"]: EdgeRead(tuple(stored_edges(row)), min(row["read"], limit), row["read"] > limit)
            for row in rows
            if row["read"]
        }

    def central_passages(
        self, ids: Sequence[str], limit: int, scope: ResolvedScope
    ) -> dict[str, tuple[tuple[str, int], ...]]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{_with_members(visible)}
                CALL (g) {{
                    MATCH {_MEMBER.format(n="n", g="g")} MATCH (n)-[b:{MENTIONED_IN}]->(q:{CHUNK})
                    WHERE {written("b")} AND {written("q")}
                    WITH q, count(DISTINCT n) AS members
                    MATCH (v:{DOCUMENT} {{key: q.version}}) WHERE {visible.current("v")}
                    WITH q, members ORDER BY members DESC, q.id LIMIT $limit
                    RETURN collect([q.id, members]) AS passages
                }}
                RETURN g.id AS id, passages""",
            {**visible.parameters, "ids": _distinct(ids), "limit": limit},
        )
        found = {row["id"]: tuple((passage, members) for passage, members in row["passages"]) for row in rows}
        return {community: own for community, own in found.items() if own}

    def claims(self, ids: Sequence[str], limit: int, scope: ResolvedScope) -> dict[str, tuple[Claim, ...]]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""{_with_members(visible)}
                CALL (g) {{
                    MATCH {_MEMBER.format(n="n", g="g")} MATCH (k:{CLAIM})-[:{SUBJECT}]->(n)
                    WHERE {claim_seen(visible, "k", "n")}
                    WITH k, n ORDER BY k.id LIMIT $limit
                    OPTIONAL MATCH (k)-[:{OBJECT}]->(o:{ENTITY})
                    RETURN collect([
                        [{", ".join(f"k.{field}" for field in _CLAIM)}], [n.id, n.name], [o.id, o.name],
                        [{_claimed(visible, "k")} | q.id]
                    ]) AS claims
                }}
                RETURN g.id AS id, claims""",
            {**visible.parameters, "ids": _distinct(ids), "limit": limit},
        )
        found = {row["id"]: sorted(map(_claim, row["claims"]), key=lambda claim: claim.id) for row in rows}
        return {community: tuple(own) for community, own in found.items() if own}

    def edge_weights(self, edge_ids: Sequence[str], scope: ResolvedScope) -> dict[str, float]:
        visible = self.visibility(scope)
        rows = self.reading.read(
            f"""UNWIND $ids AS id MATCH (x:{EDGE} {{id: id}}) WHERE {written("x")} AND x.source <> x.target
                MATCH (n:{ENTITY} {{id: x.source}}) WHERE {visible.entity_known("n")}
                MATCH (o:{ENTITY} {{id: x.target}}) WHERE {visible.entity_known("o")}
                {_kept_relations(visible)}
                WITH id, relations, weights WHERE relations > 0
                RETURN id, relations, weights""",
            {**visible.parameters, "ids": _distinct(edge_ids)},
        )
        return {row["id"]: _weight(row["relations"], row["weights"]) for row in rows}

    def weighted_datasets(self) -> frozenset[str]:
        return frozenset(
            row["name"] for row in self.reading.read(f"MATCH (d:{DATASET}) WHERE d.weighted RETURN d.name AS name")
        )

    def weighted_edges(self, dataset: str, scope: ResolvedScope) -> Iterator[WeightedEdge]:
        visible = self.visibility(scope)
        statement = _weighted_edges(visible)
        asked = {**visible.parameters, "dataset": dataset, "sources": _SOURCES}
        after = ""
        while rows := self.reading.read(statement, {**asked, "after": after}):
            for row in rows:
                for target, relations, weights in row["edges"]:
                    yield WeightedEdge(row["source"], target, relations, _weight(relations, weights))
            after = rows[-1]["source"]


# --- what the scope sees ---------------------------------------------------------------------------------------------


def community_seen(visible: Visibility, community: str) -> str:
    """Holds where a member is in scope; of a community without any, where the scope hides nothing of its dataset."""
    member = _MEMBER.format(n="wn", g=community)
    alone = _cited_seen(visible, community)
    if not visible.is_present:
        alone += (
            f" AND NOT EXISTS {{ MATCH (wv:{DOCUMENT}) WHERE wv.key IS NOT NULL AND wv.dataset = {community}.dataset "
            f"AND wv.passages > 0 AND {visible.hides('wv')} }}"
        )
    known = f"EXISTS {{ MATCH {member} WHERE {visible.entity_known('wn')} }}"
    return f"CASE WHEN EXISTS {{ {member} }} THEN {known} ELSE {alone} END"


def hiding(visible: Visibility) -> str:
    """Begins a statement with whether the scope hides anything at all: many a filter has all that there is."""
    if visible.is_present:
        return ""
    any_version = f"MATCH (wv:{DOCUMENT}) WHERE wv.key IS NOT NULL AND wv.passages > 0 AND {visible.hides('wv')}"
    return f"CALL () {{ RETURN EXISTS {{ {any_version} }} AS is_hiding }}"


def community_whole(visible: Visibility, community: str) -> str:
    """Holds where the scope hides nothing that the report of a community may rest on, which it sees.

    Wants to know first what `hiding` begins with.
    """
    cited = _cited_seen(visible, community)
    if visible.is_present:
        return cited
    # Each version is looked at once, as soon as a passage leads to it.
    hidden = f"WITH DISTINCT wp.version AS wk MATCH (wv:{DOCUMENT} {{key: wk}}) WHERE {visible.hides('wv')} RETURN wv"
    mentioned = (
        f"EXISTS {{ MATCH {_MEMBER.format(n='wn', g=community)} MATCH (wn)-[wm:{MENTIONED_IN}]->(wp:{CHUNK}) "
        f"WHERE {written('wm')} AND {written('wp')} {hidden} }}"
    )
    stated = (
        f"EXISTS {{ MATCH {_between(community)} MATCH (:{RELATION})-[ws:{STATED_IN} {{edge: e.id}}]->(wp:{CHUNK}) "
        f"USING INDEX SEEK ws:{STATED_IN}(edge) WHERE {written('ws')} AND {written('wp')} {hidden} }}"
    )
    return f"({cited} AND CASE WHEN is_hiding THEN NOT {mentioned} AND NOT {stated} ELSE true END)"


def _cited_seen(visible: Visibility, community: str) -> str:
    """Holds where every passage is visible that the report of the community cites by name."""
    return (
        f"all(cited IN {community}.cited WHERE EXISTS {{ "
        f"MATCH (wp:{CHUNK} {{id: cited}})<-[:{HAS_PART}]-(wv:{DOCUMENT}) "
        f"WHERE {written('wp')} AND {visible.current('wv')} }})"
    )


def claim_seen(visible: Visibility, claim: str, subject: str) -> str:
    """Holds where the ends of a claim are in scope, and a visible passage states it or none was ever named."""
    known_object = f"EXISTS {{ MATCH ({claim})-[:{OBJECT}]->(wo:{ENTITY}) WHERE {visible.entity_known('wo')} }}"
    return (
        f"{written(claim)} AND {visible.entity_known(subject)} AND ({claim}.object_id IS NULL OR {known_object}) "
        f"AND ({claim}.unstated OR EXISTS {{ MATCH {_claimed(visible, claim)} }})"
    )


def _claimed(visible: Visibility, claim: str) -> str:
    """A pattern of the visible passages `q` that state the claim, with its condition."""
    return (
        f"({claim})-[b:{CLAIMED_IN}]->(q:{CHUNK})<-[:{HAS_PART}]-(v:{DOCUMENT}) "
        f"WHERE {written('b')} AND {written('q')} AND {visible.current('v')}"
    )


# --- parts of statements ---------------------------------------------------------------------------------------------


def _with_members(visible: Visibility) -> str:
    """Matches those `g` of the communities that are asked for that have a member in scope."""
    member = _MEMBER.format(n="wn", g="g")
    return f"{_ASKED} AND EXISTS {{ MATCH {member} WHERE {visible.entity_known('wn')} }}"


def _between(community: str) -> str:
    """A pattern of the relationships `e` between two different members, with its condition."""
    return (
        f"({community})<-[:{IN_COMMUNITY}]-(ea:{ENTITY})-[e]->(eb:{ENTITY})-[:{IN_COMMUNITY}]->({community}) "
        f"WHERE ea <> eb AND {written('e')}"
    )


def _kept_relations(visible: Visibility) -> str:
    """How many `relations` of the edge `x` the scope keeps, with the `weights` of those that have one."""
    if visible.is_stored:
        return "CALL (x) { RETURN x.stated + x.unstated_now AS relations, x.weights AS weights }"
    return f"""CALL (x) {{
            CALL (x) {{
                {visible.support("x.id")} RETURN DISTINCT r
                UNION ALL
                MATCH (r:{RELATION} {{edge: x.id}}) {SEEK_RELATION}
                WHERE {written("r")} AND r.unstated AND NOT {visible.relation_stated("r")}
                RETURN r
            }}
            RETURN count(r) AS relations, collect(r.weight) AS weights
        }}"""


def _weighted_edges(visible: Visibility) -> str:
    """A page of entities after another one, each with its outgoing edges that the scope keeps."""
    hint, present = in_order("source")
    kept = (
        "x.kept_at_source"
        if visible.is_stored
        else f"EXISTS {{ MATCH (o:{ENTITY} {{id: x.target}}) WHERE {visible.entity_known('o')} }}"
    )
    return f"""MATCH (n:{ENTITY}) WHERE n.id > $after AND n.dataset = $dataset AND {written("n")}
        WITH n ORDER BY n.id LIMIT $sources
        CALL (n) {{
            WITH n WHERE {visible.entity_known("n")}
            MATCH (x:{EDGE}) {hint} WHERE x.source = n.id AND {present} AND {written("x")} AND {kept}
            {_kept_relations(visible)}
            WITH x, relations, weights WHERE relations > 0
            WITH x, relations, weights ORDER BY x.target, x.id
            RETURN collect([x.target, relations, weights]) AS edges
        }}
        RETURN n.id AS source, edges ORDER BY source"""


def _distinct(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids))


# --- values ----------------------------------------------------------------------------------------------------------


def _head(row: Row) -> CommunityHead:
    community_id, source_id, dataset, level, parent, title, origin, report, stale, vectors = row["head"]
    return CommunityHead(
        id=community_id,
        source_id=source_id,
        dataset=dataset,
        level=level,
        parent=parent,
        title=title if row["is_whole"] else "",
        origin=CommunityOrigin(origin),
        report=None if report is None else ReportOrigin(report),
        is_whole=row["is_whole"],
        stale=stale,
        size=row["size"],
        vectors=vectors,
        metadata=read_metadata(row["metadata"]) if row["is_whole"] else {},
    )


def _member(row: Sequence[Any]) -> Member:
    entity_id, source_id, name, label, description, passages = row
    status = Status.SUPPORTED if passages else Status.UNSUPPORTED
    return Member(entity_id, source_id, name, label, description, status, passages)


def _claim(row: Sequence[Sequence[Any]]) -> Claim:
    own, subject, other, passages = row
    fields: dict[str, Any] = dict(zip(_CLAIM, own, strict=True))
    return Claim(
        **{**fields, "metadata": read_metadata(fields["metadata"])},
        subject_id=subject[0],
        subject=subject[1],
        object_id=other[0],
        object=other[1],
        passage_ids=tuple(sorted(passages)),
    )


def _weight(relations: int, weights: Sequence[float]) -> float:
    """Summed exactly, so that the order in which a store has them makes no difference."""
    return fsum((*weights, relations - len(weights)))
