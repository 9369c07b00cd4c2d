"""What a scope sees of communities in random worlds is what the oracle sees, to the last field."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.explorer import Explorer
from backend.models import Scope
from backend.scope import resolve
from backend.stores.base import GraphView
from tests.bundles import write_bundle
from tests.model import Row, Truth
from tests.model_communities import Hierarchy, SeenCommunities
from tests.servers.neo4j import Neo4j
from tests.worlds import MEMORY, ON_A_SERVER, World, check, differences, loads, opened, outcome, scopes


@st.composite
def hierarchies(draw: st.DrawFn, truth: Truth) -> Hierarchy:
    """Up to six communities on three levels, of entities that are there and of some that are not."""
    entities = [*sorted(e.source_id for e in truth.entities.values() if e.dataset == "alpha"), "e99"]
    passages = ["d0p0", "d0p1", "d1p0", "d2p0", "d9p9"]
    communities: list[Row] = []
    for number in range(draw(st.integers(1, 6))):
        row: Row = {"id": f"c{number}", "level": draw(st.integers(0, 2))}
        row["entity_ids"] = draw(st.lists(st.sampled_from(entities), max_size=6, unique=True))
        parent, title = draw(st.sampled_from((None, "c0", "c1", "c9"))), draw(st.sampled_from((None, "Group")))
        communities.append({**row, **({"parent": parent} if parent else {}), **({"title": title} if title else {})})
    reports: list[Row] = []
    for row in communities[:4]:
        cites = draw(st.lists(st.sampled_from(passages), max_size=2, unique=True))
        text = f"As told [Data: Sources ({', '.join(cites)})]." if cites else "As told."
        if draw(st.booleans()):
            reports.append({"community_id": row["id"], "title": f"On {row['id']}", "summary": text, "cites": cites})
    claims: list[Row] = []
    for number in range(draw(st.integers(0, 4))):
        row = {"id": f"k{number}", "subject_id": draw(st.sampled_from(entities)), "description": "So it is."}
        other = draw(st.sampled_from((None, None, *entities)))
        stated = draw(st.lists(st.sampled_from(passages), max_size=2, unique=True))
        row |= {"object_id": other} if other else {}
        claims.append(row | ({"passage_ids": stated} if stated else {}))
    return Hierarchy("alpha", communities, reports, claims)


@settings(max_examples=200)
@given(world=loads(), data=st.data())
def test_communities_are_those_of_the_oracle(world: World, data: st.DataObject) -> None:
    compare(world, data, "sqlite")


@pytest.mark.neo4j
@settings(max_examples=ON_A_SERVER)
@given(world=loads(), data=st.data())
def test_communities_on_neo4j_are_those_of_the_oracle(neo4j_server: Neo4j, world: World, data: st.DataObject) -> None:
    compare(world, data, neo4j_server.address)


def compare(world: World, data: st.DataObject, store_place: str) -> None:
    if "alpha" not in Truth(world).datasets or (hasattr(world[-1], "committed") and not world[-1].committed):
        return  # nothing to have communities, or somebody who writes already
    with opened(world, store_place) as (explorer, truth):
        hierarchy = data.draw(hierarchies(truth))
        load(explorer, hierarchy)
        number = 6 if store_place == "sqlite" else 2
        for scope in [Scope(), *(data.draw(scopes(truth)) for _ in range(number))]:
            found = compared(explorer, truth, hierarchy, scope)
            if found:
                break
    check(world, scope, found, partial(compared_again, store_place, hierarchy))


def compared_again(store_place: str, hierarchy: Hierarchy, world: World, scope: Scope) -> list[str]:
    with opened(world, store_place) as (explorer, truth):
        load(explorer, hierarchy)
        return compared(explorer, truth, hierarchy, scope)


def load(explorer: Explorer, hierarchy: Hierarchy) -> None:
    reports = [{key: value for key, value in row.items() if key != "cites"} for row in hierarchy.reports]
    rows = {"communities": list(hierarchy.communities), "reports": reports, "claims": list(hierarchy.claims)}
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        explorer.load([write_bundle(Path(name), **rows)], dataset=hierarchy.dataset)


def compared(explorer: Explorer, truth: Truth, hierarchy: Hierarchy, scope: Scope) -> list[str]:
    """Where store and oracle differ."""

    def expected() -> dict[str, Any]:
        seen = SeenCommunities(truth, hierarchy, scope)
        return {
            "heads": tuple(seen.heads()),
            "communities of": _listed(seen.communities_of(sorted(truth.entities))),
            "reports": _listed(seen.report_titles()),
            "members": _listed(seen.members(3)),
            "inside": _listed(seen.inside(3)),
            "central": _listed(seen.central_passages(3)),
            "claims": _listed(seen.claims(3)),
            "weights": _listed(seen.edge_weights()),
            "edges": tuple(seen.weighted_edges()),
            "counts": (
                len(seen.heads()),
                len([h for h in seen.heads() if h.report and h.is_whole]),
                seen.claim_count(),
            ),
        }

    want = outcome(expected)
    if not isinstance(want, dict):
        return []  # what a scope may not name is another test's matter
    resolved = resolve(scope)
    ids = [SeenCommunities(truth, hierarchy, Scope()).id(row) for row in hierarchy.communities]
    edges = sorted(edge.id for edge in SeenCommunities(truth, hierarchy, Scope()).seen.edges)

    def inside(view: GraphView) -> tuple[Any, ...]:
        found = view.inside(ids, 3, resolved)
        return _listed({k: ([edge.id for edge in v.edges], v.read, v.more) for k, v in found.items()})

    def counts(view: GraphView) -> tuple[int, ...]:
        own = next(one for one in view.dataset_counts(resolved) if one.name == hierarchy.dataset)
        return own.communities, own.reports, own.claims

    # Each is a reading of its own: a server that meets a statement for the first time plans it for a second or more.
    read: dict[str, Callable[[GraphView], Any]] = {
        "heads": lambda view: tuple(replace(head, vectors=None) for head in view.communities(None, 100, resolved)),
        "communities of": lambda view: _listed(view.communities_of(sorted(truth.entities), resolved)),
        "reports": lambda view: _listed({key: one.title for key, one in view.reports(ids, resolved).items()}),
        "members": lambda view: _listed(view.members(ids, 3, resolved)),
        "inside": inside,
        "central": lambda view: _listed(view.central_passages(ids, 3, resolved)),
        "claims": lambda view: _listed(view.claims(ids, 3, resolved)),
        "weights": lambda view: _listed(view.edge_weights(edges, resolved)),
        "edges": lambda view: tuple(view.weighted_edges(hierarchy.dataset, resolved)),
        "counts": counts,
    }

    got = {part: explorer.store.read(action) for part, action in read.items()}
    return [difference for part in want for difference in differences(got[part], want[part], part)]


def _listed(found: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(found.items()))
