"""Every statement that answers a question is answered from an index: its plan scans no label and no type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.models import Condition, EntityQuery, Mode, PassageQuery, Scope, WalkQuery
from backend.passages import search_passages
from backend.scope import resolve
from backend.search import search
from backend.stores.neo4j import statements
from backend.stores.neo4j.driver import Address, Parameters, Reading, Row, Server
from backend.stores.neo4j.store import Neo4jView
from backend.walks import walk
from backend.words import words
from tests.encoders import LettersEncoder
from tests.servers.neo4j import Neo4j
from tests.world import SMALL_WORLD, document, entity
from tests.worlds import ExactIndex, apply, new_explorer

pytestmark = pytest.mark.neo4j

# Nodes that stand for names: a few of each kind, all of which are wanted.
NAMES = "Attest"
SCANS = ("AllNodesScan", "NodeByLabelScan", "RelationshipTypeScan", "AllRelationshipsScan", "UnionNodeByLabels")
SCOPES = (
    Scope(),
    Scope(
        collections=("letters",),
        document_ids=(document("letter"),),
        conditions=(Condition("title", "contains", ("e",)), Condition("author", ">=", ("A",))),
    ),
)


class Noted(Reading):
    """A reading that keeps the statements that it was asked, with their parameters."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading._server, reading._transaction)
        self.asked: list[tuple[str, Parameters]] = []

    def read(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        self.asked.append((statement, parameters or {}))
        return super().read(statement, parameters)


@pytest.mark.parametrize("scope", SCOPES, ids=["everything", "filtered"])
def test_no_statement_of_a_search_or_a_walk_scans(neo4j_server: Neo4j, tmp_path: Path, scope: Scope) -> None:
    index, encoder = ExactIndex(), LettersEncoder()

    def ask(view: Neo4jView) -> None:
        for labels in ((), ("Person", "Place")):
            query = EntityQuery("ida li", labels=labels, mode=Mode.HYBRID, scope=scope)
            search(view, query, index=lambda: index, encoder=lambda: encoder)
        for types in ((), ("KEEPS",)):
            walk(view, WalkQuery(entity("ida"), depth=2, relation_types=types, scope=scope))
        passages = PassageQuery("ida keeps the light", scope=scope)
        found = search_passages(view, passages, index=lambda: index, encoder=lambda: encoder)
        assert found.hits
        resolved = resolve(scope)
        view.few_passages(10, resolved)
        view.edge(view.edges_around([entity("ida")], (), 10, resolved).edges[0].id, resolved)
        view.relation_types(entity("ida"), 100, resolved)
        view.mentioning_both(entity("ida"), entity("light"), 5, resolved)
        view.document(document("letter"), None, resolved)
        view.find("harbour", "ida")

    assert _scanning(neo4j_server, tmp_path, index, ask) == []


@pytest.mark.parametrize("scope", SCOPES, ids=["everything", "filtered"])
def test_no_statement_of_the_lexical_graph_scans(neo4j_server: Neo4j, tmp_path: Path, scope: Scope) -> None:
    def ask(view: Neo4jView) -> None:
        resolved, entities = resolve(scope), [entity("ida"), entity("light")]
        passages = [row.id for row in view.passage_rows([document("letter")])]
        topics = [row.id for row in view.topic_rows([document("letter")])]
        view.contents(passages, resolved)
        view.occurrences(entities, 10, resolved)
        view.neighbourhoods(entities, 10, resolved)
        view.degrees(entities, resolved)
        view.named(["ida berg"], entities, words("idda"), 10, resolved)
        view.topics(topics, resolved)
        view.topics_near(topics, ("passage", "adjacent", "entity"), 10, resolved)

    assert _scanning(neo4j_server, tmp_path, ExactIndex(), ask) == []


@pytest.mark.parametrize("scope", SCOPES, ids=["everything", "filtered"])
def test_no_statement_of_communities_scans(neo4j_server: Neo4j, tmp_path: Path, scope: Scope) -> None:
    def ask(view: Neo4jView) -> None:
        resolved, entities, communities = resolve(scope), [entity("ida"), entity("light")], [entity("any")]
        view.communities(None, 10, resolved)
        view.communities(communities, 10, resolved)
        view.communities(None, 10, resolved, level=0)
        view.communities(None, 10, resolved, parent=communities[0])
        view.communities_of(entities, resolved)
        view.reports(communities, resolved)
        view.members(communities, 10, resolved)
        view.inside(communities, 10, resolved)
        view.central_passages(communities, 10, resolved)
        view.claims(communities, 10, resolved)
        edges = [edge.id for edge in view.edges_around(entities, (), 10, resolved).edges]
        assert view.edge_weights(edges, resolved)
        assert list(view.weighted_edges("harbour", resolved))
        view.weighted_datasets()

    assert _scanning(neo4j_server, tmp_path, ExactIndex(), ask) == []


def _scanning(neo4j_server: Neo4j, folder: Path, index: ExactIndex, ask: Callable[[Neo4jView], None]) -> list[str]:
    """The statements that scan, of all that are asked of the small world."""
    explorer = new_explorer(folder, neo4j_server.address, index)
    for step in SMALL_WORLD:
        apply(explorer, step, folder)
    # All of it is one reading here, and each statement is planned for the first time.
    server = Server(Address(neo4j_server.address), read_seconds=240.0)
    with server.reading() as reading:
        (state,) = reading.peek(statements.STATE)
        noted = Noted(reading)
        ask(Neo4jView(noted, state))
    server.close()
    explorer.close()
    found = []
    with neo4j_server.driver() as driver:
        for statement, parameters in dict(noted.asked).items():
            if not statement.lstrip().startswith("SHOW"):
                plan = driver.execute_query("EXPLAIN " + statement, dict(parameters)).summary.plan  # type: ignore[arg-type]
                assert plan is not None
                found += [f"{scan} in {statement}" for scan in _scans(plan)]
    return found


def _scans(plan: dict[str, Any]) -> Iterator[str]:
    details = str(plan["args"].get("Details", ""))
    if any(scan in plan["operatorType"] for scan in SCANS) and NAMES not in details:
        yield f"{plan['operatorType']} {details}"
    for child in plan.get("children", ()):
        yield from _scans(child)
