"""Community retrieval: from the names in a question to communities, and from these to passages that can be cited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from backend.communities.reading import BY_COUNT, BY_WEIGHT
from backend.communities.values import CommunityOrigin, CommunityQuery, CommunityResult, ReportOrigin
from backend.errors import IndexNotReady, Malformed, NotConfigured, Unavailable
from backend.explorer import Explorer
from backend.models import Scope
from backend.questions import Question
from backend.stores.rows import NewCommunity
from tests.bundles import Rows, write_bundle
from tests.servers.model import ModelServer, says
from tests.worlds import new_explorer

# Two rings of three that one relation joins, in two collections.
_NAMES = {"a": "Ada Berg", "b": "Bo Lind", "c": "Cid Frost", "x": "Xylo Works", "y": "Yarn Hall", "z": "Zinc Yard"}
_PAIRS = [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "z"), ("z", "x"), ("c", "x")]
_VERBS = dict.fromkeys(_PAIRS[:3], "MEETS") | dict.fromkeys(_PAIRS[3:6], "SELLS_TO") | {("c", "x"): "OWNS"}


def _bundle(weights: bool = False) -> dict[str, Rows]:
    documents: Rows = [
        {"id": "people", "title": "People", "collection": "people", "date": "1950-05-01"},
        {"id": "firms", "title": "Firms", "collection": "firms", "date": "1999-05-01"},
    ]
    passages: Rows = []
    mentions: Rows = []
    relations: Rows = []
    for number, (one, other) in enumerate(_PAIRS):
        document = "people" if one in "abc" and other in "abc" else "firms"
        text = f"{_NAMES[one]} {_VERBS[one, other].lower().replace('_', ' ')} {_NAMES[other]}. It rained."
        passages.append({"id": f"p{number}", "document_id": document, "text": text})
        mentions += [{"entity_id": end, "passage_id": f"p{number}"} for end in (one, other)]
        row = {"id": f"r{number}", "source": one, "target": other, "type": _VERBS[one, other]}
        relations.append({**row, "passage_ids": [f"p{number}"], **({"weight": number + 1} if weights else {})})
    entities: Rows = [{"id": key, "name": name, "type": "Thing"} for key, name in _NAMES.items()]
    return {
        "documents": documents,
        "passages": passages,
        "entities": entities,
        "mentions": mentions,
        "relations": relations,
    }


@pytest.fixture
def explorer(folder: Path) -> Iterator[Explorer]:
    """On the embedded store: that the other one answers alike is compared elsewhere."""
    with closing(new_explorer(folder / "store")) as explorer:
        yield explorer


@pytest.fixture
def loaded(explorer: Explorer, folder: Path) -> Explorer:
    explorer.load([write_bundle(folder / "rings", **_bundle())], dataset="rings")
    return explorer


@pytest.fixture
def rings(loaded: Explorer) -> Explorer:
    loaded.build_communities()
    return loaded


def ask(explorer: Explorer, text: str, **fields: object) -> CommunityResult:
    return explorer.communities(CommunityQuery(text, **fields))  # type: ignore[arg-type]


def stored(explorer: Explorer) -> list[NewCommunity]:
    return explorer.store.read(lambda view: view.community_rows("rings"))


# --- building --------------------------------------------------------------------------------------------------------


def test_communities_are_found_by_their_relations(rings: Explorer) -> None:
    members = {
        tuple(sorted(view.member.name for view in rings.community(head.id).members)) for head in rings.hierarchy()
    }
    assert members == {("Ada Berg", "Bo Lind", "Cid Frost"), ("Xylo Works", "Yarn Hall", "Zinc Yard")}


def test_building_twice_gives_the_same_communities_and_reports(rings: Explorer) -> None:
    before = stored(rings)
    rings.build_communities()
    assert stored(rings) == before
    assert {row.origin for row in before} == {CommunityOrigin.BUILT}


def test_each_has_a_report_of_sentences_that_stand_in_passages(rings: Explorer) -> None:
    for row in stored(rings):
        assert row.report is not None
        assert row.report.origin is ReportOrigin.EXTRACTIVE
        assert row.report.title == row.title
        for sentence in row.report.sentences:
            (source,) = sentence.sources
            assert rings.passage(source.passage_id).text[source.start : source.end] == sentence.text
    titles = {row.title for row in stored(rings)}
    assert titles == {"Ada Berg, Bo Lind, Cid Frost", "Xylo Works, Yarn Hall, Zinc Yard"}


def test_a_later_load_marks_them_stale_until_they_are_built_again(rings: Explorer, folder: Path) -> None:
    assert not any(head.stale for head in rings.hierarchy())
    more: Rows = [{"id": "w", "name": "Wax Shop"}]
    rings.load([write_bundle(folder / "more", entities=more)], dataset="rings")
    assert all(head.stale for head in rings.hierarchy())
    rings.build_communities()
    assert not any(head.stale for head in rings.hierarchy())


def test_only_the_named_dataset_is_given_communities(loaded: Explorer, folder: Path) -> None:
    loaded.load([write_bundle(folder / "again", **_bundle())], dataset="other")
    loaded.build_communities(["other"])
    assert {head.dataset for head in loaded.hierarchy()} == {"other"}


def test_an_unknown_dataset_is_unavailable_and_the_known_ones_are_named(loaded: Explorer) -> None:
    with pytest.raises(Unavailable, match="nowhere") as error:
        loaded.build_communities(["nowhere"])
    assert "rings" in error.value.hint


def test_communities_that_an_index_brought_are_left_alone(loaded: Explorer, folder: Path) -> None:
    communities: Rows = [{"id": "one", "level": 0, "title": "One", "entity_ids": ["a", "b"]}]
    loaded.load([write_bundle(folder / "own", **_bundle(), communities=communities)], dataset="rings")
    loaded.build_communities()
    assert [head.title for head in loaded.hierarchy()] == ["One"]
    loaded.build_communities(["rings"])
    assert "One" not in [head.title for head in loaded.hierarchy()]


def with_model(explorer: Explorer, server: ModelServer) -> Explorer:
    settings = replace(explorer.settings, llm_url=server.address, llm_model="tiny")
    return Explorer(explorer.store, index=explorer.index_store, encoder=explorer.encoder, settings=settings)


def test_a_model_writes_reports_that_are_checked_and_the_rest_are_quotations(loaded: Explorer) -> None:
    said = "Title: People\nSummary: Ada Berg meets Bo Lind [1]. They own 99 ships [1]."
    with ModelServer(says(said)) as server:
        with_model(loaded, server).build_communities(written=True)
    by_origin = {row.report.origin: row.report for row in stored(loaded) if row.report}
    assert set(by_origin) == {ReportOrigin.WRITTEN, ReportOrigin.EXTRACTIVE}
    assert by_origin[ReportOrigin.WRITTEN].summary == "Ada Berg meets Bo Lind."
    assert not any("99" in report.summary + report.title for report in by_origin.values())
    assert all(head.vectors for head in loaded.hierarchy())


def test_a_model_may_discard_communities(rings: Explorer) -> None:
    with ModelServer(says('[{"number": 1, "relevance": 0}, {"number": 2, "relevance": 4}]')) as server:
        asked = with_model(rings, server)
        before, found = ask(asked, "Whom does Cid Frost meet?"), ask(asked, "Whom does Cid Frost meet?", rerank=True)
    assert [hit.id for hit in found.communities] == [before.communities[1].id]
    assert "relevance" in found.truncated_by


def test_re_ranking_without_a_model_is_not_configured(rings: Explorer) -> None:
    with pytest.raises(NotConfigured):
        ask(rings, "Whom does Ada Berg meet?", rerank=True)


def test_without_a_model_nothing_can_be_written(loaded: Explorer) -> None:
    with pytest.raises(NotConfigured, match="language model"):
        loaded.build_communities(written=True)
    assert loaded.hierarchy() == ()


# --- asking ----------------------------------------------------------------------------------------------------------


def test_without_communities_the_strategy_is_not_ready_and_names_the_command(loaded: Explorer) -> None:
    with pytest.raises(IndexNotReady) as error:
        ask(loaded, "Who is Ada Berg?")
    assert error.value.details["remedy"] == "attest index --communities"
    with pytest.raises(IndexNotReady):
        loaded.retrieve(Question("Who is Ada Berg?", "communities"))


def test_a_name_leads_to_its_community_with_all_three_signals(rings: Explorer) -> None:
    found = ask(rings, "Whom does Ada Berg meet?")
    assert [entity.name for entity in found.entities] == ["Ada Berg"]
    best = found.communities[0]
    assert {view.member.name for view in rings.community(best.id).members} == {"Ada Berg", "Bo Lind", "Cid Frost"}
    assert best.signals["overlap"].value == pytest.approx(1 / 3)
    assert best.signals["structure"].value == 2
    assert best.signals["structure"].rank == best.signals["overlap"].rank == 1
    assert best.signals["semantic"].rank is not None


def test_numbered_evidence_is_what_the_communities_lead_to(rings: Explorer) -> None:
    found = ask(rings, "Whom does Ada Berg meet?", limit=1)
    assert [item.n for item in found.evidence] == list(range(1, len(found.evidence) + 1))
    assert {item.passage.source_id for item in found.evidence} == {"p0", "p1", "p2", "p6"}
    report = next(one for one in found.context if one.kind == "report")
    assert report.origin == "extractive"
    assert set(report.evidence) <= {item.n for item in found.evidence}
    assert {one.kind for one in found.context} == {"report", "relation", "member"}


def test_a_question_without_a_name_is_answered_from_the_coarsest_level(rings: Explorer) -> None:
    found = ask(rings, "who sells what to whom")
    assert found.entities == ()
    assert {hit.level for hit in found.communities} == {0}
    assert all(hit.signals["overlap"].rank is None for hit in found.communities)


def test_a_level_is_taken_alone(rings: Explorer) -> None:
    assert ask(rings, "Whom does Ada Berg meet?", level=7).communities == ()


def test_weighted_scores_add_the_three_signals(rings: Explorer) -> None:
    found = ask(rings, "Whom does Ada Berg meet?", score="weighted", alpha=0.0, beta=1.0, gamma=0.0)
    best = found.communities[0]
    assert best.score == pytest.approx(best.signals["overlap"].value or 0, abs=1e-6)


def test_weights_count_where_every_relation_has_one(explorer: Explorer, folder: Path) -> None:
    explorer.load([write_bundle(folder / "weighed", **_bundle(weights=True))], dataset="rings")
    explorer.build_communities()
    found = ask(explorer, "Whom does Ada Berg meet?")
    assert found.weighting == BY_WEIGHT
    assert found.communities[0].signals["structure"].value == 1 + 3


def test_relations_count_where_not_every_one_has_a_weight(rings: Explorer) -> None:
    assert ask(rings, "Whom does Ada Berg meet?").weighting == BY_COUNT


@pytest.mark.parametrize(
    "fields", [{"score": "best"}, {"alpha": -0.1}, {"gamma": 1.5}, {"level": -1}, {"limit": 0}, {"limit": 51}]
)
def test_what_cannot_be_asked_is_malformed(rings: Explorer, fields: dict[str, object]) -> None:
    with pytest.raises(Malformed):
        ask(rings, "Whom does Ada Berg meet?", **fields)


# --- scope -----------------------------------------------------------------------------------------------------------


def test_under_a_scope_the_report_is_made_of_what_is_visible(rings: Explorer) -> None:
    scope = Scope(collections=("firms",))
    (head,) = [one for one in rings.hierarchy(scope) if one.size == 1]  # Cid Frost alone is left of the people
    view = rings.community(head.id, scope)
    assert (head.is_whole, head.title) == (False, "")
    assert view.report.title == "Cid Frost"
    assert {sentence.text for sentence in view.report.sentences} == {"Cid Frost owns Xylo Works."}
    assert not view.covers_more  # no model wrote what is not shown


def test_a_community_none_of_whose_members_is_in_scope_is_unavailable(rings: Explorer) -> None:
    scope = Scope(collections=("people",))
    hidden = {head.id for head in rings.hierarchy()} - {head.id for head in rings.hierarchy(scope)}
    assert len(hidden) == 1
    with pytest.raises(Unavailable):
        rings.community(hidden.pop(), scope)


def test_an_imported_report_is_shown_only_where_nothing_of_it_is_hidden(explorer: Explorer, folder: Path) -> None:
    communities: Rows = [{"id": "one", "level": 0, "entity_ids": ["a", "b", "c"]}]
    reports: Rows = [{"community_id": "one", "title": "A secret", "summary": "Cid owns a works."}]
    bundle = write_bundle(folder / "own", **_bundle(), communities=communities, reports=reports)
    explorer.load([bundle], dataset="rings")
    whole, part = Scope(), Scope(collections=("people",))
    (head,) = explorer.hierarchy(whole)
    assert explorer.community(head.id, whole).report.title == "A secret"
    view = explorer.community(head.id, part)
    assert view.covers_more
    assert "secret" not in repr(view)
    found = ask(explorer, "Whom does Ada Berg meet?", scope=part)
    assert found.communities[0].covers_more
    assert "secret" not in repr(found)
    assert ask(explorer, "Whom does Ada Berg meet?").communities[0].origin is ReportOrigin.IMPORTED


def test_a_report_that_cites_a_hidden_passage_is_not_shown(explorer: Explorer, folder: Path) -> None:
    communities: Rows = [{"id": "one", "level": 0, "entity_ids": ["a", "b"]}]
    reports: Rows = [{"community_id": "one", "title": "Cited", "summary": "See [Data: Sources (p4)]."}]
    bundle = write_bundle(folder / "own", **_bundle(), communities=communities, reports=reports)
    explorer.load([bundle], dataset="rings")
    (head,) = explorer.hierarchy()
    assert explorer.community(head.id).report.title == "Cited"
    assert explorer.community(head.id, Scope(collections=("people",))).covers_more


def test_the_strategy_answers_within_the_scope(rings: Explorer) -> None:
    found = rings.retrieve(Question("Cid Frost", "communities", scope=Scope(collections=("people",))))
    assert {item.passage.document.source_id for item in found.evidence} == {"people"}


def test_automatic_takes_communities_for_a_question_about_the_whole(rings: Explorer) -> None:
    assert rings.retrieve(Question("What are the main themes?")).strategy.chosen == "communities"
    assert rings.retrieve(Question("Whom does Ada Berg meet?")).strategy.chosen == "guided-walk"


def test_automatic_without_communities_says_how_to_get_them(loaded: Explorer) -> None:
    choice = loaded.retrieve(Question("What are the main themes?")).strategy
    assert choice.chosen == "guided-walk"
    assert "attest index --communities" in choice.why
