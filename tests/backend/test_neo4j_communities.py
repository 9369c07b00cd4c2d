"""Communities, reports and claims: what is written of them, what a scope sees, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import pytest

from backend.communities.values import (
    Citation,
    Claim,
    CommunityHead,
    CommunityOrigin,
    Finding,
    Report,
    ReportOrigin,
    ReportSentence,
    SentenceSource,
)
from backend.explorer import Explorer
from backend.identity import edge_id
from backend.loading.jobs import run_job
from backend.models import Scope, Status, VectorCollection
from backend.scope import resolve
from backend.stores.base import EdgeRead, GraphStore, GraphView, GraphWriter
from backend.stores.communities import Member, Members, WeightedEdge
from backend.stores.encoded import REPORT, VectorText
from backend.stores.rows import NewClaim, NewCommunity
from tests.model import Load, Removal
from tests.servers.neo4j import Neo4j
from tests.world import DATASET, FIRST, SMALL_WORLD, document, edge, entity
from tests.worlds import Abandoned, apply, new_explorer, run

pytestmark = pytest.mark.neo4j

T = TypeVar("T")
ALL, LETTERS, RECORDS = Scope(), Scope(collections=("letters",)), Scope(collections=("records",))
BEFORE = Scope(as_of="2021-12-31")


@pytest.fixture
def explorer(neo4j_server: Neo4j, tmp_path: Path) -> Iterator[Explorer]:
    """The small world in a store."""
    opened = new_explorer(tmp_path / "home", neo4j_server.address)
    for step in SMALL_WORLD:
        apply(opened, step, tmp_path)
    yield opened
    opened.close()


@contextmanager
def writing(store: GraphStore, kind: str = "index", dataset: str | None = DATASET) -> Iterator[GraphWriter]:
    """A writer of a job that commits at the end of the block."""
    with run_job(store.jobs, kind, dataset) as (job, _), store.writer(job.id) as writer:
        yield writer
        writer.commit(None)


def community(name: str) -> str:
    """An id as a community of this name would have it, in the order of their names."""
    return f"00000000-0000-5000-8000-{name.encode().hex():0>12}"


def ids(*names: str) -> list[str]:
    return [community(name) for name in names]


def entities(*names: str) -> tuple[str, ...]:
    return tuple(sorted(map(entity, names)))


def passage(explorer: Explorer, name: str, source_id: str) -> str:
    (found,) = (one.id for one in explorer.document(document(name)).passages if one.source_id == source_id)
    return found


def report(title: str, *cited: str, **fields: Any) -> Report:
    return Report(ReportOrigin.IMPORTED, title, f"About {title}.", cited=cited, **fields)


def new(name: str, level: int, *members: str, parent: str | None = None, **fields: Any) -> NewCommunity:
    return NewCommunity(
        id=community(name),
        source_id=name,
        level=level,
        parent=None if parent is None else community(parent),
        title=f"Title of {name}",
        origin=CommunityOrigin.IMPORTED,
        member_ids=entities(*members),
        **fields,
    )


def hierarchy(explorer: Explorer) -> list[NewCommunity]:
    """Everybody and under it the ships and the shore; one whose report cites the letter, and one without members."""
    ships = ("petrel", "gannet", "line", "salvage", "tomas")
    letter = passage(explorer, "letter", "l1")
    return [
        new("all", 0, *ships, "ida", "light", "kobe", report=report("The harbour"), metadata={"period": "2024"}),
        new("nobody", 0, report=report("Nobody")),
        new("ships", 1, *ships, parent="all", report=report("Ships", rank=7.5)),
        new("shore", 1, "ida", "light", parent="all"),
        new("quoted", 2, "kobe", parent="ships", report=report("Kobe", letter)),
    ]


def claim(name: str, subject: str, target: str | None = None, *passages: str, **fields: Any) -> NewClaim:
    own = {"type": "RISK", "status": "TRUE", "start_date": "2021-01-01", "end_date": None, **fields}
    return NewClaim(
        id=community(name),
        source_id=name,
        subject_id=entity(subject),
        object_id=None if target is None else entity(target),
        description=f"Claim {name}",
        unstated=not passages,
        passage_ids=tuple(sorted(passages)),
        **own,
    )


@pytest.fixture
def built(explorer: Explorer) -> Explorer:
    """The small world with its hierarchy."""
    with writing(explorer.store) as writer:
        writer.put_communities(DATASET, hierarchy(explorer))
    return explorer


def ask(explorer: Explorer, action: Callable[..., T], scope: Scope = ALL, *asked: Any) -> T:
    return explorer.store.read(lambda view: action(view, *asked, resolve(scope)))


def heads(explorer: Explorer, scope: Scope = ALL, which: Sequence[str] | None = None) -> dict[str, CommunityHead]:
    found = explorer.store.read(lambda view: view.communities(which, 100, resolve(scope)))
    return {head.source_id: head for head in found}


def rows(explorer: Explorer) -> list[NewCommunity]:
    return explorer.store.read(lambda view: view.community_rows(DATASET))


def is_stale(explorer: Explorer) -> set[bool]:
    return {row.stale for row in rows(explorer)}


def seen(explorer: Explorer, action: Callable[[GraphView], T]) -> T:
    """What the action reads, at the cost of one query."""
    before = explorer.store.reads
    found = explorer.store.read(action)
    assert explorer.store.reads - before == 1
    return found


# --- what is written is read -----------------------------------------------------------------------------------------


def test_hierarchy_is_read_as_it_was_written(built: Explorer) -> None:
    assert rows(built) == sorted(hierarchy(built), key=lambda row: (row.level, row.id))
    counts = built.store.read(lambda view: view.row_counts())[DATASET]
    assert (counts["communities"], counts["claims"]) == (5, 0)


def test_whole_report_is_read_as_it_was_written(explorer: Explorer) -> None:
    one = passage(explorer, "letter", "l0")
    whole = Report(
        origin=ReportOrigin.WRITTEN,
        title="Title 東京",
        summary="A “summary”.",
        findings=(Finding("One", ""), Finding("", "Two")),
        rank=3.25,
        text="# All of it",
        citations=(Citation("entity", "5", entity("ida")), Citation("passage", "9", None)),
        sentences=(
            ReportSentence("A sentence.", (SentenceSource(one, 0, 3), SentenceSource(one, 4, 9)), supported=False),
        ),
        cited=(one,),
        metadata={"rating": [1, "two", None]},
    )
    with writing(explorer.store) as writer:
        writer.put_communities(DATASET, [new("all", 0, "ida", report=whole)])
    found = seen(explorer, lambda view: view.reports(ids("all"), resolve(ALL)))
    assert found == {community("all"): whole}


def test_claims_are_read_as_they_were_written(explorer: Explorer) -> None:
    stated = claim("stated", "line", "gannet", passage(explorer, "register", "r1"), metadata={"n": 1})
    bare = claim("bare", "ida", type=None, status=None, start_date=None)
    with writing(explorer.store) as writer:
        writer.put_claims(DATASET, [stated, bare])
    found = explorer.store.read(lambda view: view.row_ids("claim", DATASET))
    assert found == sorted([stated.id, bare.id])
    assert explorer.store.read(lambda view: view.claim_rows(found)) == [bare, stated]
    assert explorer.store.read(lambda view: view.row_counts())[DATASET]["claims"] == 2


def test_claim_is_changed_in_place_and_keeps_its_passages(built: Explorer) -> None:
    first, second = passage(built, "register", "r1"), passage(built, "gazette", "g1")
    with writing(built.store) as writer:
        writer.put_claims(DATASET, [claim("c", "line", "gannet", first)])
    with writing(built.store) as writer:
        writer.put_claims(DATASET, [claim("c", "petrel", "kobe", second, status="FALSE")])
        (before,) = built.store.read(lambda view: view.claim_rows(ids("c")))
        assert (before.subject_id, before.status, before.passage_ids) == (entity("line"), "TRUE", (first,))
    (after,) = built.store.read(lambda view: view.claim_rows(ids("c")))
    assert after == claim("c", "petrel", "kobe", first, second, status="FALSE")
    (shown,) = built.store.read(lambda view: view.claims(ids("ships"), 9, resolve(ALL)))[community("ships")]
    assert (shown.subject, shown.object) == ("Petrel", "神戸港")


# --- communities through a scope -------------------------------------------------------------------------------------


def test_communities_are_seen_whole_where_nothing_is_hidden(built: Explorer) -> None:
    found = seen(built, lambda view: view.communities(None, 100, resolve(ALL)))
    assert found[0] == CommunityHead(
        id=community("all"),
        source_id="all",
        dataset=DATASET,
        level=0,
        parent=None,
        title="Title of all",
        origin=CommunityOrigin.IMPORTED,
        report=ReportOrigin.IMPORTED,
        is_whole=True,
        stale=False,
        size=8,
        vectors=None,
        metadata={"period": "2024"},
    )
    assert [(one.source_id, one.is_whole, one.size, one.report) for one in found] == [
        ("all", True, 8, ReportOrigin.IMPORTED),
        ("nobody", True, 0, ReportOrigin.IMPORTED),
        ("ships", True, 5, ReportOrigin.IMPORTED),
        ("shore", True, 2, None),
        ("quoted", True, 1, ReportOrigin.IMPORTED),
    ]
    first = built.store.read(lambda view: view.communities(None, 2, resolve(ALL)))
    assert first == found[:2]
    some = built.store.read(lambda view: view.communities(ids("shore", "all", "else", "all"), 9, resolve(ALL)))
    assert [one.source_id for one in some] == ["all", "shore"]


@pytest.mark.parametrize("scope", [ALL, LETTERS], ids=["everything", "letters"])
def test_communities_of_a_level_or_under_a_parent_are_those_of_all_that_are_there(
    built: Explorer, scope: Scope
) -> None:
    every = list(heads(built, scope).values())
    for level in (0, 1, 2, 7):
        found = seen(built, lambda view, level=level: view.communities(None, 9, resolve(scope), level=level))
        assert found == [one for one in every if one.level == level]
    for parent in (*ids("all", "ships", "else"), "no id"):
        found = seen(built, lambda view, parent=parent: view.communities(None, 9, resolve(scope), parent=parent))
        assert found == [one for one in every if one.parent == parent]
    children = seen(built, lambda view: view.communities(None, 9, resolve(scope), parent=community("all")))
    assert {"ships", "shore"} <= {one.source_id for one in children}


def test_narrow_scope_sees_members_in_it_and_no_title_of_what_is_more(built: Explorer) -> None:
    found = heads(built, LETTERS)
    assert {name: (head.title, head.is_whole, head.size) for name, head in found.items()} == {
        "all": ("", False, 4),
        "ships": ("", False, 2),
        "shore": ("", False, 2),
    }
    assert ask(built, lambda view, scope: view.reports(ids("all", "ships", "quoted", "nobody"), scope), LETTERS) == {}


def test_community_is_whole_where_the_scope_has_all_its_passages(built: Explorer) -> None:
    with writing(built.store) as writer:
        kobe, pair = new("kobe", 0, "kobe", report=report("Kobe")), new("pair", 0, "kobe", "light")
        writer.put_communities(DATASET, [kobe, pair, replace(hierarchy(built)[4], parent=None)])
    found = heads(built, RECORDS)
    assert (found["kobe"].is_whole, found["kobe"].title) == (True, "Title of kobe")
    assert not found["pair"].is_whole  # the letter mentions the light
    assert not found["quoted"].is_whole  # its report cites the letter
    assert heads(built, Scope(collections=("records", "letters")))["quoted"].is_whole
    assert set(built.store.read(lambda view: view.reports(ids("kobe", "quoted"), resolve(RECORDS)))) == set(ids("kobe"))


def test_passage_that_states_a_relation_of_members_is_hidden_though_it_mentions_none(
    explorer: Explorer, tmp_path: Path
) -> None:
    relation = {"id": "r", "source": "a", "target": "b", "type": "T", "passage_ids": ["q"]}
    loop = {"id": "l", "source": "a", "target": "a", "type": "T", "passage_ids": ["s"]}
    load = Load(
        "pairs",
        [{"id": one, "collection": one} for one in ("d", "e", "f")],
        [{"id": p, "document_id": d, "text": "Words."} for p, d in (("p", "d"), ("q", "e"), ("s", "f"))],
        [{"id": "a", "name": "Aa"}, {"id": "b", "name": "Bb"}],
        [{"entity_id": one, "passage_id": "p"} for one in ("a", "b")],
        [relation, loop],
    )
    run(explorer, load, tmp_path)
    members = tuple(entity(name, "pairs") for name in "ab")
    with writing(explorer.store, dataset="pairs") as writer:
        pair = replace(new("pair", 0), member_ids=members)
        writer.put_communities("pairs", [pair, replace(new("alone", 0), member_ids=members[:1])])
    found = heads(explorer, Scope(collections=("d",)))
    assert (found["pair"].is_whole, found["alone"].is_whole) == (False, True)
    assert heads(explorer, Scope(collections=("d", "e")))["pair"].is_whole


def test_time_hides_what_is_visible_today(built: Explorer) -> None:
    found = heads(built, BEFORE)
    # The register of 2022 is hidden; what it superseded is not what an empty scope sees.
    assert {name: head.is_whole for name, head in found.items()} == {
        "all": False,
        "ships": False,
        "shore": True,
        "quoted": False,
    }
    assert heads(built, Scope(as_of="2022-12-31"))["all"].is_whole


def test_time_to_come_hides_what_is_superseded_until_then(built: Explorer, tmp_path: Path) -> None:
    to_come = {"id": "register", "title": "Harbour register", "collection": "records", "valid_from": "2999-03-01"}
    text = {"id": "r9", "document_id": "register", "text": "Nobody owns anything."}
    run(built, Load(DATASET, [to_come], [text]), tmp_path)
    assert {head.is_whole for head in heads(built).values()} == {True}
    later = heads(built, Scope(as_of="2999-12-31"))
    assert {name for name, head in later.items() if head.is_whole} == {"shore"}
    assert "nobody" not in later


def test_community_without_members_is_seen_where_all_of_its_dataset_is(built: Explorer) -> None:
    everything = Scope(collections=("letters", "records", "press"))
    assert "nobody" in heads(built, everything)
    assert "nobody" not in heads(built, Scope(collections=("letters", "records")))
    assert list(built.store.read(lambda view: view.reports(ids("nobody"), resolve(everything)))) == ids("nobody")


def test_entity_in_scope_has_its_communities(built: Explorer) -> None:
    found = seen(
        built, lambda view: view.communities_of([entity("petrel"), entity("kobe"), entity("ida")], resolve(LETTERS))
    )
    assert found == {entity("petrel"): tuple(ids("all", "ships")), entity("ida"): tuple(sorted(ids("all", "shore")))}


def test_members_are_those_in_scope_in_order_of_id(built: Explorer) -> None:
    found = seen(built, lambda view: view.members(ids("shore", "ships", "nobody"), 2, resolve(ALL)))
    assert found[community("shore")] == Members(
        tuple(
            sorted(
                (
                    Member(entity("ida"), "ida", "Ida Berg", "Person", "Keeps the light.", Status.SUPPORTED, 1),
                    Member(entity("light"), "light", "North Light", "Place", None, Status.SUPPORTED, 2),
                )
            )
        ),
        more=False,
    )
    assert [one.id for one in found[community("ships")].members] == list(
        entities("petrel", "gannet", "line", "salvage", "tomas")[:2]
    )
    assert found[community("ships")].more
    assert set(found) == set(ids("shore", "ships"))
    every = built.store.read(lambda view: view.members(ids("ships"), 9, resolve(ALL)))[community("ships")]
    assert {one.source_id: (one.status, one.passages) for one in every.members} == {
        "petrel": (Status.SUPPORTED, 3),
        "gannet": (Status.SUPPORTED, 2),
        "line": (Status.SUPPORTED, 3),
        "tomas": (Status.SUPPORTED, 2),
        "salvage": (Status.UNSUPPORTED, 0),
    }
    narrow = built.store.read(lambda view: view.members(ids("ships", "quoted"), 9, resolve(LETTERS)))
    assert {name: [one.source_id for one in own.members] for name, own in narrow.items()} == {
        community("ships"): [name for _, name in sorted((entity(name), name) for name in ("petrel", "tomas"))]
    }


def edges_of(read: EdgeRead) -> dict[str, tuple[int, int]]:
    return {one.id: (one.stated, one.unstated) for one in read.edges}


def test_edges_inside_are_those_between_members_that_the_scope_keeps(built: Explorer) -> None:
    found = seen(built, lambda view: view.inside(ids("ships", "shore"), 100, resolve(ALL)))
    ships = found[community("ships")]
    assert edges_of(ships) == {
        edge("line", "OWNS", "petrel"): (2, 0),
        edge("tomas", "COMMANDS", "petrel"): (1, 0),
        edge("salvage", "MERGED_INTO", "line"): (0, 1),
        edge("line", "OWNS", "gannet"): (1, 0),
    }
    assert (ships.read, ships.more) == (5, False)  # what only the former register stated was read too
    assert edges_of(found[community("shore")]) == {edge("ida", "KEEPS", "light"): (1, 0)}
    around = built.store.read(lambda view: view.edges_around([entity("tomas")], ("COMMANDS",), 9, resolve(ALL)))
    assert around.edges[0] in ships.edges
    narrow = built.store.read(lambda view: view.inside(ids("ships"), 100, resolve(LETTERS)))
    assert edges_of(narrow[community("ships")]) == {edge("tomas", "COMMANDS", "petrel"): (1, 0)}
    first = built.store.read(lambda view: view.inside(ids("ships"), 2, resolve(ALL)))[community("ships")]
    # Of two documents each; which one of these comes first of equal passages, their ids say.
    assert set(edges_of(first)) == {edge("line", "OWNS", "petrel"), edge("tomas", "COMMANDS", "petrel")}
    assert (first.read, first.more) == (2, True)


def test_central_passages_mention_most_members(built: Explorer) -> None:
    found = seen(built, lambda view: view.central_passages(ids("ships", "shore"), 2, resolve(ALL)))
    twos = sorted(passage(built, *one) for one in (("register", "r0"), ("register", "r1"), ("letter", "l1")))
    assert found[community("ships")] == ((passage(built, "gazette", "g0"), 3), (twos[0], 2))
    assert found[community("shore")] == ((passage(built, "letter", "l0"), 2), (passage(built, "gazette", "g1"), 1))
    narrow = built.store.read(lambda view: view.central_passages(ids("ships"), 9, resolve(LETTERS)))
    assert narrow == {community("ships"): ((passage(built, "letter", "l1"), 2),)}


def test_claims_are_seen_with_their_ends_and_a_passage(built: Explorer) -> None:
    letter, register = passage(built, "letter", "l1"), passage(built, "register", "r0")
    with writing(built.store) as writer:
        writer.put_claims(
            DATASET,
            [
                claim("a", "petrel", None, letter, register, metadata={"n": 1}),
                claim("b", "petrel", "kobe"),
                claim("c", "petrel", "kobe", letter),
                claim("d", "petrel", None, register),
                claim("e", "ida"),
            ],
        )
    found = seen(built, lambda view: view.claims(ids("ships"), 100, resolve(ALL)))[community("ships")]
    assert [one.source_id for one in found] == ["a", "b", "c", "d"]
    assert found[0] == Claim(
        id=community("a"),
        source_id="a",
        dataset=DATASET,
        subject_id=entity("petrel"),
        subject="Petrel",
        object_id=None,
        object=None,
        type="RISK",
        status="TRUE",
        start_date="2021-01-01",
        end_date=None,
        description="Claim a",
        passage_ids=tuple(sorted((letter, register))),
        metadata={"n": 1},
    )
    assert (found[1].object, found[1].passage_ids) == ("神戸港", ())
    narrow = built.store.read(lambda view: view.claims(ids("ships", "shore"), 100, resolve(LETTERS)))
    assert [(one.source_id, one.passage_ids) for one in narrow[community("ships")]] == [("a", (letter,))]
    assert [one.source_id for one in narrow[community("shore")]] == ["e"]
    first = built.store.read(lambda view: view.claims(ids("ships"), 2, resolve(ALL)))[community("ships")]
    assert first == found[:2]
    (counts,) = built.store.read(lambda view: view.dataset_counts(resolve(ALL)))
    assert (counts.communities, counts.reports, counts.claims) == (5, 4, 5)
    (counts,) = built.store.read(lambda view: view.dataset_counts(resolve(LETTERS)))
    assert (counts.communities, counts.reports, counts.claims) == (3, 0, 2)


def test_claim_that_once_named_a_passage_is_not_seen_without_one(built: Explorer) -> None:
    with writing(built.store) as writer:
        writer.put_claims(DATASET, [claim("c", "petrel", None, passage(built, "register", "r0"))])
    with writing(built.store) as writer:
        writer.put_claims(DATASET, [claim("c", "petrel")])
    found = [
        built.store.read(lambda view, scope=scope: view.claims(ids("ships"), 9, resolve(scope)))
        for scope in (ALL, LETTERS)
    ]
    assert [[one.source_id for one in claims.get(community("ships"), ())] for claims in found] == [["c"], []]


def answers(explorer: Explorer, scope: Scope) -> list[Any]:
    """What every primitive says of everything."""
    resolved = resolve(scope)
    names = [entity(name) for name in ("petrel", "gannet", "line", "salvage", "tomas", "ida", "light", "kobe")]

    def read(view: GraphView) -> list[Any]:
        every = [row.id for row in view.community_rows(DATASET)]
        inside = view.inside(every, 100, resolved)
        edges = sorted(edge.id for read in inside.values() for edge in read.edges)
        return [
            view.communities(None, 100, resolved),
            view.communities_of(names, resolved),
            view.reports(every, resolved),
            view.members(every, 100, resolved),
            {name: (sorted(read.edges), read.read, read.more) for name, read in inside.items()},
            view.central_passages(every, 100, resolved),
            view.claims(every, 100, resolved),
            view.edge_weights(edges, resolved),
            list(view.weighted_edges(DATASET, resolved)),
            view.dataset_counts(resolved),
        ]

    return explorer.store.read(read)


def test_filter_that_hides_nothing_changes_no_answer(built: Explorer, tmp_path: Path) -> None:
    letter = passage(built, "letter", "l1")
    # One changes its weight, one moves while a passage still states what it was, and then weighs something else.
    changes = [
        {"id": "calls", "source": "petrel", "type": "CALLS_AT", "target": "kobe", "passage_ids": ["r0"], "weight": 0.7},
        {"id": "keeps", "source": "ida", "type": "KEPT", "target": "light", "weight": 0.1},
        {"id": "knows", "source": "ida", "type": "KNOWS", "target": "tomas", "weight": 0.2},
    ]
    run(built, Load(DATASET, [], [], [], [], changes), tmp_path)
    run(built, Load(DATASET, [], [], [], [], [{**changes[1], "weight": 0.5}]), tmp_path)
    with writing(built.store) as writer:
        writer.put_communities(DATASET, hierarchy(built))
        writer.put_claims(DATASET, [claim("a", "petrel", "kobe", letter), claim("b", "ida")])
    found = answers(built, ALL)
    assert all(found)
    assert answers(built, Scope(collections=("letters", "records", "press"))) == found


# --- weights ---------------------------------------------------------------------------------------------------------


def test_weights_are_those_of_the_relations_that_the_scope_keeps(explorer: Explorer, tmp_path: Path) -> None:
    weighted = Load(
        "heavy",
        [{"id": "d", "collection": "one"}, {"id": "e", "collection": "two"}],
        [{"id": "p", "document_id": "d", "text": "Words."}, {"id": "q", "document_id": "e", "text": "Words."}],
        [{"id": one, "name": one.upper()} for one in "abc"],
        [{"entity_id": one, "passage_id": p} for one in "abc" for p in "pq"],
        [
            {"source": "a", "target": "b", "type": "T", "id": "1", "weight": 0.1, "passage_ids": ["p"]},
            {"source": "a", "target": "b", "type": "T", "id": "2", "weight": 0.2, "passage_ids": ["q"]},
            {"source": "a", "target": "b", "type": "T", "id": "3", "weight": 0.3},
            {"source": "b", "target": "a", "type": "T", "id": "4", "weight": 4, "passage_ids": ["q"]},
            {"source": "c", "target": "c", "type": "T", "id": "5", "weight": 9},
        ],
    )
    run(explorer, weighted, tmp_path)
    a, b, c = (entity(one, "heavy") for one in "abc")

    def edges(dataset: str, scope: Scope) -> list[WeightedEdge]:
        return explorer.store.read(lambda view: list(view.weighted_edges(dataset, resolve(scope))))

    assert edges("heavy", ALL) == sorted([WeightedEdge(a, b, 3, 0.6), WeightedEdge(b, a, 1, 4.0)])
    assert edges("heavy", Scope(collections=("one",))) == [WeightedEdge(a, b, 2, 0.4)]
    every = [edge_id(a, "T", b), edge_id(b, "T", a), edge_id(c, "T", c), edge("ida", "KNOWS", "tomas")]
    found = seen(explorer, lambda view: view.edge_weights(every, resolve(ALL)))
    assert found == {every[0]: 0.6, every[1]: 4.0, every[3]: 1.0}
    narrow = explorer.store.read(lambda view: view.edge_weights(every, resolve(Scope(collections=("one",)))))
    assert narrow == {every[0]: 0.4}


def test_edges_of_a_dataset_are_those_that_the_scope_keeps(explorer: Explorer) -> None:
    def kept(scope: Scope) -> list[WeightedEdge]:
        return explorer.store.read(lambda view: list(view.weighted_edges(DATASET, resolve(scope))))

    def weighted(source: str, target: str, relations: int = 1) -> WeightedEdge:
        return WeightedEdge(entity(source), entity(target), relations, float(relations))

    commands, keeps = weighted("tomas", "petrel"), weighted("ida", "light")
    assert kept(LETTERS) == sorted([commands, keeps, weighted("ida", "tomas")])
    every = [commands, keeps, weighted("ida", "tomas"), weighted("light", "kobe"), weighted("petrel", "kobe")]
    every += [weighted("salvage", "line"), weighted("line", "gannet"), weighted("line", "petrel", 2)]
    assert kept(ALL) == sorted(every)


def test_datasets_are_weighted_where_every_relation_has_a_weight(explorer: Explorer, tmp_path: Path) -> None:
    def load(name: str, *weights: float | None) -> None:
        relations = [
            {"source": "a", "target": "b", "type": "T", "id": str(n), "weight": weight, "passage_ids": ["p"]}
            for n, weight in enumerate(weights)
        ]
        passages = [{"id": "p", "document_id": "d", "text": "Words."}]
        names = [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]
        run(explorer, Load(name, [{"id": "d"}], passages, names, [], relations), tmp_path)

    def weighted() -> frozenset[str]:
        return seen(explorer, lambda view: view.weighted_datasets())

    load("every", 1.5, 2)
    load("some", 1.5, None)
    load("none")
    assert weighted() == {"every"}
    load("some", 1.5, 3)
    load("every", 1.5, None)
    assert weighted() == {"some"}


# --- replacing, killing, removing ------------------------------------------------------------------------------------


def contents(server: Neo4j) -> dict[str, int]:
    """How many communities, claims and relationships of theirs the database has, seen or not."""
    counts = "MATCH (n:{0}) RETURN count(n) AS count", "MATCH ()-[n:{0}]->() RETURN count(n) AS count"
    kinds = {"Community": 0, "Claim": 0, "IN_COMMUNITY": 1, "PARENT_COMMUNITY": 1, "SUBJECT": 1, "CLAIMED_IN": 1}
    with server.driver() as driver:
        return {
            kind: driver.execute_query(counts[number].format(kind)).records[0]["count"]  # type: ignore[arg-type]
            for kind, number in kinds.items()
        }


def test_new_hierarchy_takes_the_place_of_the_former_in_the_commit(built: Explorer, neo4j_server: Neo4j) -> None:
    before = rows(built)
    after = [new("all", 0, "ida", report=report("New")), new("other", 1, "ida", parent="all")]
    with writing(built.store) as writer:
        writer.put_communities(DATASET, after)
        assert rows(built) == before
        assert heads(built)["all"].size == 8
    assert rows(built) == after
    assert [(one.source_id, one.size) for one in heads(built).values()] == [("all", 1), ("other", 1)]
    assert ask(built, lambda view, scope: view.communities_of([entity("petrel")], scope)) == {entity("petrel"): ()}
    assert contents(neo4j_server) == {
        "Community": 2,
        "Claim": 0,
        "IN_COMMUNITY": 2,
        "PARENT_COMMUNITY": 1,
        "SUBJECT": 0,
        "CLAIMED_IN": 0,
    }
    with writing(built.store) as writer:
        writer.put_communities(DATASET, [])
    assert (rows(built), heads(built)) == ([], {})


def abandon(explorer: Explorer, give_up: Callable[[], None] | None = None) -> None:
    """Runs a job that has written communities and a claim when it ends without a commit."""
    letter = passage(explorer, "letter", "l0")
    with writing(explorer.store) as writer:
        if give_up is not None:
            writer.give_up = give_up  # type: ignore[attr-defined]
        writer.put_communities(DATASET, [new("all", 0, "ida"), new("more", 1, "ida", parent="all")])
        writer.put_claims(DATASET, [claim("c", "ida", "light", letter)])
        raise Abandoned


def test_reading_during_a_commit_sees_one_hierarchy_whole(built: Explorer) -> None:
    members = {"One": ("ida", "light"), "Two": ("petrel", "kobe")}
    sides = {title: [new(name, 0, *own, report=report(title)) for name in "abc"] for title, own in members.items()}
    known = {title: (title, tuple((one.id, one.member_ids) for one in side)) for title, side in sides.items()}
    stop = Event()

    def look(view: GraphView) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
        every, scope = [head.id for head in view.communities(None, 9, resolve(ALL))], resolve(ALL)
        members = view.members(every, 9, scope)
        (title,) = {one.title for one in view.reports(every, scope).values()}
        return title, tuple((name, tuple(one.id for one in own.members)) for name, own in sorted(members.items()))

    def watch() -> list[Any]:
        found = []
        while not stop.is_set():
            found.append(built.store.read(look))
        return found

    def put(title: str) -> None:
        with writing(built.store) as writer:
            writer.put_communities(DATASET, sides[title])

    put("One")
    assert built.store.read(look) == known["One"]  # the server has planned the statements now
    with ThreadPoolExecutor(2) as pool:
        watching = [pool.submit(watch) for _ in range(2)]
        try:
            for title in ("Two", "One") * 4:
                put(title)
                assert built.store.read(look) == known[title]
        finally:
            stop.set()
        found = [one for each in watching for one in each.result()]
    assert found
    assert set(found) <= set(known.values())


def test_job_that_does_not_commit_leaves_no_community_and_no_claim(built: Explorer, neo4j_server: Neo4j) -> None:
    before, stored = rows(built), contents(neo4j_server)
    with pytest.raises(Abandoned):
        abandon(built)
    assert (rows(built), contents(neo4j_server)) == (before, stored)


def test_job_that_is_killed_is_swept_by_the_next(built: Explorer, neo4j_server: Neo4j) -> None:
    before, stored = rows(built), contents(neo4j_server)
    with pytest.raises(Abandoned):
        abandon(built, give_up=lambda: None)
    assert contents(neo4j_server) != stored
    assert rows(built) == before
    assert heads(built)["all"].size == 8
    assert built.store.read(lambda view: view.row_counts())[DATASET]["claims"] == 0
    with writing(built.store):
        pass
    assert (rows(built), contents(neo4j_server)) == (before, stored)


def test_removed_dataset_leaves_no_community_and_no_claim(built: Explorer, neo4j_server: Neo4j) -> None:
    with writing(built.store) as writer:
        writer.put_claims(DATASET, [claim("c", "ida", "light", passage(built, "letter", "l0"))])
    built.remove(dataset=DATASET)
    assert set(contents(neo4j_server).values()) == {0}
    assert (heads(built), built.store.read(lambda view: view.row_counts())) == ({}, {})


def test_removed_document_takes_claims_and_members_that_only_it_held(built: Explorer) -> None:
    letter, gazette = passage(built, "letter", "l0"), passage(built, "gazette", "g1")
    with writing(built.store) as writer:
        writer.put_claims(
            DATASET,
            [
                claim("both", "light", None, letter, gazette),
                claim("ida", "ida", None, gazette),
                claim("letter", "light", None, letter),
                claim("object", "light", "ida"),
                claim("without", "light"),
            ],
        )
    with writing(built.store) as writer:
        writer.put_communities(DATASET, hierarchy(built))
    built.remove(document_id=document("letter"))
    found = built.store.read(lambda view: view.claim_rows(view.row_ids("claim", DATASET)))
    assert {row.source_id: row.passage_ids for row in found} == {"both": (gazette,), "without": ()}
    shore = {row.source_id: row for row in rows(built)}["shore"]
    assert (shore.member_ids, shore.stale) == ((entity("light"),), True)
    quoted = heads(built)["quoted"]
    assert (quoted.is_whole, quoted.title, quoted.report) == (False, "", ReportOrigin.IMPORTED)


def everything(explorer: Explorer) -> dict[str, set[str]]:
    """The ids of what the dataset has."""
    kinds = ("document", "entity", "relation")
    return explorer.store.read(lambda view: {kind: set(view.row_ids(kind, DATASET)) for kind in kinds})


def test_retired_claims_end_with_their_passages_or_at_once(built: Explorer) -> None:
    letter = passage(built, "letter", "l0")
    with writing(built.store) as writer:
        writer.put_claims(DATASET, [claim("gone", "ida"), claim("kept", "ida"), claim("stated", "ida", None, letter)])
    with writing(built.store) as writer:
        counts = writer.retire(DATASET, kept={**everything(built), "claim": {community("kept")}})
    assert counts == {"documents": 0, "entities": 0, "relations": 0, "claims": 1}
    assert built.store.read(lambda view: view.row_ids("claim", DATASET)) == sorted(ids("kept", "stated"))
    assert rows(built) == []


def test_retiring_keeps_the_hierarchy_of_the_same_job(built: Explorer) -> None:
    with writing(built.store) as writer:
        writer.put_communities(DATASET, [new("new", 0, "ida")])
        writer.retire(DATASET, kept={**everything(built), "claim": set()})
    assert rows(built) == [new("new", 0, "ida")]


# --- staleness -------------------------------------------------------------------------------------------------------


def test_load_that_changes_nothing_leaves_communities_as_they_are(built: Explorer, tmp_path: Path) -> None:
    run(built, SMALL_WORLD[1], tmp_path)
    assert is_stale(built) == {False}


@pytest.mark.parametrize(
    "change",
    [
        Load(DATASET, [], [], [{"id": "ida", "name": "Ida Berg", "type": "Person"}]),
        Load(DATASET, [], [], [{"id": "new", "name": "New"}]),
        Load(DATASET, [{"id": "more"}], [{"id": "m", "document_id": "more", "text": "More."}]),
        Load(DATASET, [], [], [], [], [{"id": "knows", "source": "ida", "type": "KNEW", "target": "tomas"}]),
        Load(DATASET, [], [], [], [], [{"source": "ida", "type": "MET", "target": "tomas"}]),
        Removal(DATASET, "gazette"),
    ],
    ids=["entity changed", "entity added", "document", "relation changed", "relation added", "document removed"],
)
def test_change_of_the_dataset_makes_its_communities_stale(built: Explorer, tmp_path: Path, change: Any) -> None:
    apply(built, change, tmp_path)
    assert is_stale(built) == {True}
    assert {head.stale for head in heads(built).values()} == {True}
    with writing(built.store) as writer:
        writer.put_communities(DATASET, hierarchy(built)[:3])
    assert is_stale(built) == {False}


def test_other_dataset_does_not_make_communities_stale(built: Explorer, tmp_path: Path) -> None:
    run(built, replace(FIRST, dataset="other"), tmp_path)
    assert is_stale(built) == {False}


def test_claims_make_communities_stale_where_they_differ(built: Explorer) -> None:
    first = claim("c", "ida", None, passage(built, "letter", "l0"))

    def put(one: NewClaim) -> set[bool]:
        with writing(built.store) as writer:
            writer.put_claims(DATASET, [one])
        found = is_stale(built)
        with writing(built.store) as writer:
            writer.put_communities(DATASET, hierarchy(built))
        return found

    assert put(first) == {True}
    assert put(first) == {False}
    assert put(replace(first, status="FALSE")) == {True}
    assert put(replace(first, status="FALSE", passage_ids=(passage(built, "gazette", "g1"),))) == {True}


def test_stale_communities_are_copied_as_they_are(explorer: Explorer) -> None:
    with writing(explorer.store) as writer:
        writer.put_communities(DATASET, [new("all", 0, "ida", stale=True)])
    assert is_stale(explorer) == {True}


# --- vectors of reports ----------------------------------------------------------------------------------------------


def collection(name: str, count: int) -> VectorCollection:
    return VectorCollection(name, REPORT, "job", count, "letters")


def index_of_reports(explorer: Explorer) -> tuple[str, str]:
    (found,) = (one for one in explorer.catalog().indexes if one.index == REPORT)
    return str(found.state), found.detail


def test_reports_are_encoded_and_placed(built: Explorer) -> None:
    assert index_of_reports(built) == ("missing", "4 of 4 have no vector")
    first, second = collection("first", 4), collection("second", 1)
    with writing(built.store) as writer:
        waiting = list(writer.vector_texts(REPORT, missing_only=True))
        assert waiting == [
            VectorText(one, one, level, f"{title}\nAbout {title}.")
            for one, level, title in sorted(
                (community(name), level, title)
                for name, level, title in (
                    ("all", "0", "The harbour"),
                    ("nobody", "0", "Nobody"),
                    ("ships", "1", "Ships"),
                    ("quoted", "2", "Kobe"),
                )
            )
        ]
        writer.place_vectors(first, [text.owner for text in waiting])
    assert index_of_reports(built) == ("online", "")
    assert {name: head.vectors for name, head in heads(built).items()} == {
        "all": "first",
        "nobody": "first",
        "ships": "first",
        "shore": None,
        "quoted": "first",
    }
    with writing(built.store) as writer:
        # A new hierarchy has no vectors yet, and what is said of the former ones does not concern it.
        writer.forget_vectors(first, ids("all"))
        writer.put_communities(DATASET, hierarchy(built)[:2])
        assert list(writer.placed_vectors(first)) == []
        waiting = list(writer.vector_texts(REPORT, missing_only=True))
        assert sorted(text.owner for text in waiting) == sorted(ids("all", "nobody"))
        writer.place_vectors(second, ids("all"))
        assert [text.owner for text in writer.placed_vectors(second)] == ids("all")
    assert index_of_reports(built) == ("missing", "1 of 2 have no vector")
    assert {name: head.vectors for name, head in heads(built).items()} == {"all": "second", "nobody": None}
    assert [one.name for one in built.catalog().vector_collections if one.kind == REPORT] == ["second"]
    with writing(built.store) as writer:
        writer.forget_vectors(second)
    assert [one.name for one in built.catalog().vector_collections if one.kind == REPORT] == []
