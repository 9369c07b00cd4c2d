"""The same answers, byte for byte, from a Neo4j as from SQLite, on real graphs.

Names are searched as they are and broken off; a walk starts at every entity that is found. Vectors are left out: where
they are is no matter of the graph store.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from backend.communities.reading import CommunityView
from backend.communities.values import CommunityQuery
from backend.explorer import Explorer
from backend.models import EntityQuery, Mode, Scope, WalkQuery
from backend.questions import Question, Retrieval
from backend.retrieval.retrieve import IMPLEMENTED
from tests.lexical import Asked, lexical_differences, stored_ids
from tests.servers.neo4j import Neo4j
from tests.worlds import new_explorer, outcome

DEMO = Path(__file__).parents[2] / "demo"
_QUERIES, _WALKS = 100, 40
_READ, _BEGUN, _HUBS = 50, 15, 5
_ASKED, _COMMUNITIES = 24, 8

pytestmark = pytest.mark.neo4j


# The third of the sets has five thousand relation types, which take a server a while.
GRAPHS = [
    "demo",
    pytest.param("redocred-300", marks=pytest.mark.shared),
    pytest.param("twowiki-101", marks=pytest.mark.shared),
    pytest.param("musique-100", marks=[pytest.mark.shared, pytest.mark.thorough]),
]


@pytest.fixture(scope="module", params=GRAPHS)
def pair(
    request: pytest.FixtureRequest,
    neo4j_server: Neo4j,
    shared_data: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Explorer, Explorer]]:
    """The same graph in both stores."""
    name = request.param
    paths = [DEMO / "first", DEMO / "second"] if name == "demo" else [shared_data(name)]
    folder = tmp_path_factory.mktemp("same")
    both = new_explorer(folder / "sqlite"), new_explorer(folder / "neo4j", neo4j_server.address)
    for explorer in both:
        explorer.load(paths, dataset=name)
        if name == "demo":
            explorer.build_communities()
    yield both
    for explorer in both:
        explorer.close()


def text(result: Any) -> bytes:
    """What `--json` prints, its times aside."""
    shown = replace(result, timings_ms={}) if hasattr(result, "timings_ms") else result
    is_result = is_dataclass(shown) and not isinstance(shown, type)
    return orjson.dumps(asdict(shown) if is_result else shown, option=orjson.OPT_INDENT_2, default=str)


def test_searches_and_walks_are_the_same(pair: tuple[Explorer, Explorer]) -> None:
    embedded, server = pair
    rng = random.Random(7)
    scopes = [Scope(), Scope(as_of="2019-06-30"), Scope(collections=embedded.catalog().collections[:1])]
    starts: set[str] = set()
    for name in rng.choices(_names(embedded), k=_QUERIES):
        query = EntityQuery(
            name if rng.random() < 0.4 else _broken(name, rng), mode=Mode.LEXICAL, limit=20, scope=rng.choice(scopes)
        )
        found, other = outcome(embedded.search, query), outcome(server.search, query)
        assert text(found) == text(other), query
        starts |= {hit.id for hit in found.hits[:2]}
    for start in rng.sample(sorted(starts), k=min(_WALKS, len(starts))):
        walk = WalkQuery(
            start, depth=rng.choice((1, 2)), max_nodes=rng.choice((20, 100, 500)), scope=rng.choice(scopes)
        )
        assert text(outcome(embedded.walk, walk)) == text(outcome(server.walk, walk)), walk
        assert text(outcome(embedded.show, start)) == text(outcome(server.show, start)), start
    assert text(embedded.status().datasets) == text(server.status().datasets)
    assert text(embedded.status().collections) == text(server.status().collections)


def test_the_lexical_graph_reads_the_same(pair: tuple[Explorer, Explorer]) -> None:
    embedded, server = pair
    rng = random.Random(11)
    stored, names = stored_ids(embedded), _names(embedded)
    asked = Asked(
        passages=rng.sample(stored.passages, k=min(_READ, len(stored.passages))),
        entities=rng.sample(stored.entities, k=min(_READ, len(stored.entities))) + _hubs(embedded),
        topics=rng.sample(stored.topics, k=min(_READ, len(stored.topics))),
        named=rng.sample(names, k=min(_READ, len(names))),
        begun=rng.sample(names, k=min(_BEGUN, len(names))),
        limits=(3, 30),
    )
    for scope in (Scope(), Scope(as_of="2019-06-30"), Scope(collections=embedded.catalog().collections[:1])):
        assert [*lexical_differences(embedded, server, asked, scope)] == []


def test_evidence_is_the_same(pair: tuple[Explorer, Explorer]) -> None:
    embedded, server = pair
    rng = random.Random(13)
    names = _names(embedded)
    scopes = [Scope(), Scope(collections=embedded.catalog().collections[:1])]
    for number in range(_ASKED):
        text_of = f"Where did {rng.choice(names)} meet {rng.choice(names)}?"
        question = Question(text_of, strategy=IMPLEMENTED[number % len(IMPLEMENTED)], scope=rng.choice(scopes))
        here, there = outcome(embedded.retrieve, question), outcome(server.retrieve, question)
        assert text(_timeless(here)) == text(_timeless(there)), question


def _timeless(found: Any) -> Any:
    return replace(found, steps=()) if isinstance(found, Retrieval) else found


def _hubs(explorer: Explorer) -> list[str]:
    """The entities that the most relations are at."""
    ids = [key for name in explorer.store.read(lambda view: view.row_counts()) for key in _relations(explorer, name)]
    rows = explorer.store.read(lambda view: view.relation_rows(ids))
    return [key for key, _ in Counter(end for row in rows for end in (row.source, row.target)).most_common(_HUBS)]


def _relations(explorer: Explorer, dataset: str) -> list[str]:
    return explorer.store.read(lambda view: view.row_ids("relation", dataset))


def _names(explorer: Explorer) -> list[str]:
    """Names of the graph, as its commonest words find them."""
    found = {
        hit.name
        for word in ("the", "of", "a", "s", "m", "b", "c", "1", "new", "in")
        for hit in explorer.search(EntityQuery(word, mode=Mode.LEXICAL, limit=500, support_limit=0)).hits
    }
    return sorted(found)


def _broken(name: str, rng: random.Random) -> str:
    """A part of a name, its last word perhaps broken off."""
    words = name.split()
    first = rng.randrange(len(words))
    part = " ".join(words[first : first + rng.randint(1, 3)])
    return part[: rng.randint(1, len(part))]


# On the demo alone: finding those of thousands of entities takes a server long.
@pytest.mark.parametrize("pair", ["demo"], indirect=True)
def test_communities_are_the_same(pair: tuple[Explorer, Explorer]) -> None:
    embedded, server = pair
    assert embedded.hierarchy()
    rng = random.Random(17)
    scopes = [Scope(), Scope(collections=embedded.catalog().collections[:1]), Scope(as_of="2022-06-30")]
    for scope in scopes:
        heads = [replace(head, vectors=None) for head in embedded.hierarchy(scope)]
        assert heads == [replace(head, vectors=None) for head in server.hierarchy(scope)]
        assert embedded.titles(heads, scope) == server.titles(heads, scope)
        for head in rng.sample(heads, k=min(_COMMUNITIES, len(heads))):
            here, there = (replace(one.community(head.id, scope), head=head) for one in pair)
            assert _nameless(here) == _nameless(there), (head, scope)
    names = rng.choices(_names(embedded), k=_COMMUNITIES)
    for question in [*(f"What has {name} to do with the harbour?" for name in names), "what is all this about"]:
        for scope in scopes:
            query = CommunityQuery(question, scope=scope)
            assert text(outcome(embedded.communities, query)) == text(outcome(server.communities, query)), query


def _nameless(view: CommunityView) -> CommunityView:
    """A view without the names of the collections in which vectors are."""
    above, below = (tuple(replace(head, vectors=None) for head in heads) for heads in (view.above, view.below))
    return replace(view, above=above, below=below)
