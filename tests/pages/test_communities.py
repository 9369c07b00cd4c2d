"""The Communities page, as a visitor reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.communities.values import CommunityHead
from backend.errors import NotConfigured
from backend.explorer import Explorer
from backend.identity import edge_id, stable_id
from components import cached
from tests.bundles import Rows, write_bundle
from tests.pages.conftest import HOSTILE, Visitor
from tests.world import entity

TREE, PICTURE, REPORT = "communities-hierarchy", "communities-picture", "community-text"
INDEX = "index"
SUMMARY = "Ada runs the yard [Data: Entities (ada, nobody); Reports (low)]. It sells [Data: Relationships (sells)]."
FINDING = "The yard is old [Data: Sources (p0); Claims (old); Rumours (7)]."


def index_rows(text: str = SUMMARY) -> dict[str, Rows]:
    """A graph that came with communities: one above another, each with a report that cites, and a claim."""
    names = {"ada": "Ada", "yard": "The Yard", "bo": "Bo"}
    texts = ["Ada runs The Yard, which is old.", "The Yard sells to Bo."]
    return {
        "documents": [{"id": "d", "title": "Yard news", "collection": "news", "date": "2021-05-01"}],
        "passages": [{"id": f"p{n}", "document_id": "d", "text": text} for n, text in enumerate(texts)],
        "entities": [{"id": key, "name": name, "type": "Thing"} for key, name in names.items()],
        "mentions": [
            {"entity_id": one, "passage_id": passage}
            for one, passage in (("ada", "p0"), ("yard", "p0"), ("yard", "p1"), ("bo", "p1"))
        ],
        "relations": [
            {"id": "runs", "source": "ada", "target": "yard", "type": "RUNS", "passage_ids": ["p0"]},
            {"id": "sells", "source": "yard", "target": "bo", "type": "SELLS_TO", "passage_ids": ["p1"]},
            {"id": "knows", "source": "ada", "target": "bo", "type": "KNOWS"},
        ],
        "communities": [
            {"id": "top", "level": 0, "title": "Ada and her yard", "entity_ids": ["ada", "yard", "bo"]},
            {"id": "low", "level": 1, "parent": "top", "title": "Yard and Bo", "entity_ids": ["yard", "bo"]},
        ],
        "reports": [
            {
                "community_id": "top",
                "title": "Ada and her yard",
                "summary": text,
                "findings": [{"summary": "It is old", "explanation": FINDING}],
                "rank": 7.5,
            },
            {"community_id": "low", "title": "Yard and Bo", "summary": "They trade."},
        ],
        "claims": [
            {
                "id": "old",
                "subject_id": "yard",
                "type": "AGE",
                "status": "TRUE",
                "start_date": "1900-01-01",
                "description": "The yard is said to be old.",
                "passage_ids": ["p0"],
            }
        ],
    }


def index_id(kind: str, source: str) -> str:
    return stable_id(kind, INDEX, source)


TOP, LOW = index_id("community", "top"), index_id("community", "low")


@pytest.fixture
def index_loaded(served: Explorer, folder: Path) -> Explorer:
    """A graph that came with communities."""
    served.load([write_bundle(folder / "index", **index_rows())], dataset=INDEX)
    return served


def largest(explorer: Explorer) -> CommunityHead:
    return max(explorer.hierarchy(), key=lambda head: (head.size, head.id))


def rows(visitor: Visitor) -> list[tuple[int, str, str]]:
    """Depth, title and what is told of each row of the tree."""
    return [(row["depth"], row["title"], row.get("about", "")) for row in visitor.drawn("rows")["rows"]]


def cited(visitor: Visitor) -> list[tuple[str, str | None]]:
    """Each citation of the report that is shown, and what it leads to."""
    parts = [part for block in visitor.drawn("blocks")["blocks"] for part in block["parts"]]
    return [(part["text"], part["thing"]) for part in parts if isinstance(part, dict)]


# --- the hierarchy ---------------------------------------------------------------------------------------------------


def test_tree_begins_with_datasets_and_what_stands_at_their_top(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities")
    assert rows(visitor) == [
        (0, "index", "2 communities on 2 levels"),
        (1, "Ada and her yard", "3 members · 1 community within · rated 7.5 · imported: written by a model"),
    ]


def test_row_opens_and_closes(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities").did(TREE, "unfold", TOP)
    assert rows(visitor)[2] == (2, "Yard and Bo", "2 members · imported: written by a model")
    visitor.did(TREE, "unfold", TOP)  # a browser may send one click twice
    assert len(rows(visitor)) == 3
    visitor.did(TREE, "fold", TOP)
    assert len(rows(visitor)) == 2


def test_chosen_community_stands_beside_the_tree_and_in_the_address(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities").did(TREE, "choose", TOP)
    assert visitor.address == {"at": TOP}
    assert "Ada and her yard" in visitor.words
    assert "rated 7.5 by its writer" in visitor.words
    assert "A model wrote this: it is not evidence." in visitor.words
    assert cited(visitor)[0] == ("ada", f"entity:{index_id('entity', 'ada')}")


def test_link_to_a_community_opens_the_tree_down_to_it(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", at=LOW)
    assert [(row["id"], row.get("selected", False)) for row in visitor.drawn("rows")["rows"]][1:] == [
        (TOP, False),
        (LOW, True),
    ]


def test_titles_are_found_by_their_words_at_any_level(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities").choose("communities-find", "BO yard")
    assert "1 community found." in visitor.words
    assert rows(visitor) == [(0, "Yard and Bo", "Level 1 · 2 members · imported: written by a model")]
    visitor.choose("communities-find", "zebra")
    assert "No community has these words in its title." in visitor.words


def test_only_what_is_opened_is_shown_and_more_on_request(served: Explorer, visitor: Visitor, folder: Path) -> None:
    many = index_rows()
    many["communities"] += [{"id": f"c{n}", "level": 0, "entity_ids": ["bo"], "title": f"C {n}"} for n in range(120)]
    served.load([write_bundle(folder / "index", **many)], dataset=INDEX)
    visitor.open("communities")
    assert len(rows(visitor)) == 1 + 50 + 1
    assert rows(visitor)[-1] == (1, "50 more of 71 smaller ones", "")
    visitor.did(TREE, "more", "more:dataset:index")
    assert rows(visitor)[-1] == (1, "21 more of 21 smaller ones", "")


def test_picture_goes_in_level_by_level_and_back(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", shown="picture")
    (tile,) = visitor.drawn("tiles")["tiles"]
    assert (tile["title"], tile["place"], len(tile["inner"])) == ("Ada and her yard", [0, 0, 100, 100], 1)
    visitor.did(PICTURE, "enter", TOP)
    assert visitor.address == {"shown": "picture", "at": TOP}
    assert [tile["title"] for tile in visitor.drawn("tiles")["tiles"]] == ["Yard and Bo"]
    visitor.click("Everything")
    assert visitor.address == {"shown": "picture"}
    assert [tile["title"] for tile in visitor.drawn("tiles")["tiles"]] == ["Ada and her yard"]


def test_picture_begins_with_datasets_where_there_are_several(
    index_loaded: Explorer, visitor: Visitor, folder: Path
) -> None:
    index_loaded.load([write_bundle(folder / "other", **index_rows())], dataset="other")
    visitor.open("communities", shown="picture")
    assert [tile["id"] for tile in visitor.drawn("tiles")["tiles"]] == ["dataset:index", "dataset:other"]
    visitor.did(PICTURE, "enter", "dataset:index")
    assert [tile["id"] for tile in visitor.drawn("tiles")["tiles"]] == [TOP]
    assert "2 communities on 2 levels" in visitor.words


def test_what_a_browser_makes_up_is_not_heard(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities").did(TREE, "choose", "nothing").did(TREE, "open", LOW)
    assert visitor.address == {}


# --- one community ---------------------------------------------------------------------------------------------------


def test_every_citation_leads_to_its_thing_or_says_that_it_is_nothing(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP)
    sells = edge_id(index_id("entity", "yard"), "SELLS_TO", index_id("entity", "bo"))
    passage = next(one.id for one in index_loaded.community(TOP).passages if "old" in one.text)
    assert cited(visitor) == [
        ("ada", f"entity:{index_id('entity', 'ada')}"),
        ("nobody", None),
        ("low", f"community:{LOW}"),
        ("sells", f"relation:{sells}"),
        ("p0", f"passage:{passage}"),
        ("old", f"claim:{index_id('claim', 'old')}"),
        ("7", None),
    ]
    told = [part["told"] for block in visitor.drawn("blocks")["blocks"] for part in block["parts"] if "told" in part]
    assert told[:3] == ["entity ada: Ada", "leads to nothing: there is no entity nobody", "community low: Yard and Bo"]
    assert told[-1] == "leads to nothing: “Rumours” is no kind of thing here"


def test_citation_of_a_passage_shows_it_whole_with_its_place(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP)
    thing = dict(cited(visitor))["p0"]
    assert thing is not None
    visitor.did(REPORT, "cite", thing)
    assert visitor.address == {"community": TOP, "thing": thing}
    assert "Yard news passage 1" in visitor.words
    assert "which is old." in visitor.words
    visitor.click("Close")
    assert visitor.address == {"community": TOP}
    assert "Passages that mention most members" in visitor.words


def test_citation_of_a_relation_shows_what_states_it(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP)
    visitor.did(REPORT, "cite", str(dict(cited(visitor))["sells"]))
    assert "The Yard SELLS_TO → Bo" in visitor.words
    assert "1 passage in 1 document" in visitor.words


def test_citation_of_an_entity_is_one_step_from_explore(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP, collection="news")
    visitor.did(REPORT, "cite", str(dict(cited(visitor))["ada"]))
    assert f"entity={index_id('entity', 'ada')}&collection=news" in links(visitor)


def test_citation_of_a_claim_shows_status_dates_and_passage(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP)
    visitor.did(REPORT, "cite", str(dict(cited(visitor))["old"]))
    for words in ("The Yard: AGE", "The yard is said to be old.", "TRUE", "1 Jan 1900", "Ada runs The Yard"):
        assert words in visitor.words


def test_citation_of_a_report_opens_that_community_with_its_way_back(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP).did(REPORT, "cite", f"community:{LOW}")
    assert visitor.address == {"community": LOW}
    assert "Yard and Bo" in visitor.words
    assert f"community={TOP}" in links(visitor)


def test_sentences_of_an_extractive_report_lead_to_their_passages(grouped: Explorer, visitor: Visitor) -> None:
    head = largest(grouped)
    report = grouped.community(head.id).report
    visitor.open("communities", community=head.id)
    assert "quoted from passages" in visitor.words
    assert "Every sentence is quoted from a passage, to which its number leads." in visitor.words
    blocks = visitor.drawn("blocks")["blocks"]
    assert [block["parts"][0] for block in blocks] == [sentence.text for sentence in report.sentences]
    visitor.did(REPORT, "cite", cited(visitor)[0][1] or "")
    assert 'class="at-sentence"' in visitor.markup


def test_members_relations_and_claims_are_tables_whose_rows_have_evidence(
    index_loaded: Explorer, visitor: Visitor
) -> None:
    visitor.open("communities", community=TOP, part="members")
    assert "An edge weighs the number of its relations" in visitor.words
    members = visitor.app.dataframe[0].value
    assert list(members["Member"]) == ["Ada", "Bo", "The Yard"]
    assert list(members["Centrality"]) == ["2", "2", "2"]
    visitor.choose("community-part", "relations")
    relations = visitor.app.dataframe[0].value
    assert set(zip(relations["Relation"], relations["Stated"], strict=True)) == {
        ("RUNS", "stated"),
        ("SELLS_TO", "stated"),
        ("KNOWS", "no passage states it"),
    }
    visitor.choose("community-part", "claims")
    (claim,) = visitor.app.dataframe[0].value.to_dict("records")
    assert (claim["Subject"], claim["Status"], claim["From"]) == ("The Yard", "TRUE", "1 Jan 1900")


def test_graph_is_that_of_explore_and_its_clicks_show_evidence(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", community=TOP, part="graph")
    graph = visitor.drawn("nodes")
    assert {node["label"] for node in graph["nodes"]} == {"Ada", "Bo", "The Yard"}
    assert sorted(edge["kind"] for edge in graph["edges"]) == ["assertion", "assertion", "path"]
    assert "3 members, 3 relations. Nothing is left out." in visitor.words
    knows = edge_id(index_id("entity", "ada"), "KNOWS", index_id("entity", "bo"))
    visitor.did("community-graph", "edge", knows)
    assert visitor.address == {"community": TOP, "part": "graph", "thing": f"relation:{knows}"}
    assert "No passage states this relation." in visitor.words


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"community": stable_id("community", "x", "y")}, "There is no community"),
        ({"community": "top"}, "'top' is not an id"),
        ({"community": TOP, "thing": "moon:1"}, "thing=moon:1 in the address is not known"),
        ({"community": TOP, "thing": f"relation:{TOP}"}, "is not in scope"),
        ({"community": TOP, "part": "moon"}, "part=moon in the address is not known"),
        ({"about": "Ada", "level": "x"}, "level=x in the address is not a number"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_link_that_does_not_resolve_says_so(
    index_loaded: Explorer, visitor: Visitor, params: dict[str, str], sentence: str
) -> None:
    assert sentence in visitor.open("communities", **params).errors


def test_narrower_scope_shows_what_it_sees_and_says_what_it_hides(
    served: Explorer, visitor: Visitor, folder: Path
) -> None:
    wider = index_rows()
    wider["documents"].append({"id": "e", "title": "Elsewhere", "collection": "other"})
    wider["passages"].append({"id": "p2", "document_id": "e", "text": "Bo was elsewhere."})
    wider["mentions"].append({"entity_id": "bo", "passage_id": "p2"})
    served.load([write_bundle(folder / "index", **wider)], dataset=INDEX)
    visitor.open("communities", collection="news")
    assert visitor.drawn("rows")["rows"][1]["marks"] == ["covers more than this scope"]
    visitor.open("communities", community=TOP, collection="news")
    assert "covers more than this scope" in visitor.words
    assert "rests on passages that this scope hides" in visitor.words
    assert "runs the yard" not in str(visitor.drawn("blocks"))


# --- a question ------------------------------------------------------------------------------------------------------


def test_question_finds_communities_that_explain_themselves(grouped: Explorer, visitor: Visitor) -> None:
    visitor.open("communities").choose("communities-question", "What does Skerry Line own?")
    assert visitor.address == {"about": "What does Skerry Line own?"}
    assert "Names: Skerry Line" in visitor.words
    assert f"entity={entity('line')}" in links(visitor)
    for words in ("meaning ", "names 0.", "relations ", "1st", "score 0.0", "quoted from passages"):
        assert words in visitor.words
    assert "The score adds up 1 / (60 + rank) over the three ranks." in visitor.words
    assert 'id="evidence-1"' in visitor.markup
    assert "it is no evidence" in visitor.words


def test_level_and_score_are_chosen_and_stay_in_the_address(grouped: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", about="Who owns the Petrel?").choose("communities-level", 0)
    visitor.choose("communities-score", "weighted")
    assert visitor.address == {"about": "Who owns the Petrel?", "level": "0", "score": "weighted"}
    assert "0.5 × meaning + 0.3 × names + 0.2 × relations" in visitor.words


def test_community_that_was_found_opens_and_leads_back(grouped: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", about="Who owns the Petrel?")
    visitor.click(next(label for label in visitor.buttons if label.startswith("Open ")))
    assert "community" in visitor.address
    assert "about=Who+owns+the+Petrel%3F" in " ".join(links(visitor))


def test_time_of_a_question_becomes_a_condition_of_the_scope(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", about="What did Ada run in 2021?")
    visitor.click("Only documents of 2021")
    assert visitor.address["where"] == ["date >= 2021-01-01", "date <= 2021-12-31"]
    assert "1 of 1 document in scope" in visitor.words
    assert "Ada and her yard" in visitor.words


def test_question_about_nothing_in_scope_says_so(index_loaded: Explorer, visitor: Visitor) -> None:
    visitor.open("communities", about="Ada", where="date < 1900-01-01")
    assert "No community is in scope." in visitor.words


# --- none yet, and out of date ---------------------------------------------------------------------------------------


def test_without_communities_the_page_says_how_to_get_them(world: Explorer, visitor: Visitor) -> None:
    visitor.open("communities")
    assert "No communities yet" in visitor.words
    assert "attest index --communities" in visitor.words
    assert "Find communities" in visitor.buttons


def test_empty_store_says_so(served: Explorer, visitor: Visitor) -> None:
    visitor.open("communities")
    assert "Nothing is loaded yet." in visitor.words
    assert "Find communities" not in visitor.buttons


def test_button_starts_a_process_of_its_own(world: Explorer, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(world, "start_communities", lambda datasets: started.append(datasets) or os.getpid())
    visitor.open("communities").click("Find communities")
    assert started == [()]
    assert next(button for button in visitor.app.button if button.label == "Find communities").disabled


def test_reading_only_there_is_no_button(read_only: Callable[[], None], world: Explorer, visitor: Visitor) -> None:
    read_only()
    visitor.open("communities")
    assert "This server may only read." in visitor.words
    assert "Find communities" not in visitor.buttons
    with pytest.raises(NotConfigured):
        cached.start_communities(())
    with pytest.raises(NotConfigured):
        cached.explorer().start_communities()


def test_communities_older_than_their_data_are_stale_and_can_be_found_anew(
    grouped: Explorer, visitor: Visitor, folder: Path
) -> None:
    grouped.load(
        [
            write_bundle(
                folder / "more",
                entities=[{"id": "new", "name": "New", "type": "Person"}],
                documents=[{"id": "n", "title": "N"}],
                passages=[{"id": "n0", "document_id": "n", "text": "New is here."}],
                mentions=[{"entity_id": "new", "passage_id": "n0"}],
            )
        ],
        dataset="harbour",
    )
    cached.forget()
    visitor.open("communities")
    assert visitor.drawn("rows")["rows"][1]["marks"] == ["stale"]
    assert "The data of harbour has changed since its communities were found." in visitor.words
    assert "Find them anew" in visitor.buttons


# --- from entities and back, and hostile texts -----------------------------------------------------------------------


@pytest.mark.parametrize("page", ["search", "explore"])
def test_entity_leads_to_its_communities(grouped: Explorer, visitor: Visitor, page: str) -> None:
    params = {"entity": entity("line")} if page == "explore" else {"q": "Skerry Line", "mode": "lexical"}
    visitor.open(page, **params)
    (head,) = grouped.communities_of(entity("line"))[-1:]
    assert f"community={head.id}" in links(visitor)


def test_hostile_reports_and_titles_are_text(hostile: Explorer, visitor: Visitor, folder: Path) -> None:
    bad = index_rows(f"{HOSTILE} [Data: Entities (ada); {HOSTILE} (1)]")
    bad["reports"][0] |= {"title": HOSTILE, "findings": [{"summary": HOSTILE, "explanation": HOSTILE}]}
    bad["communities"][1]["title"] = bad["reports"][1]["title"] = HOSTILE
    bad["claims"][0] |= {"type": HOSTILE, "description": HOSTILE, "start_date": HOSTILE, "status": HOSTILE}
    hostile.load([write_bundle(folder / "bad", **bad)], dataset=INDEX)
    claim = f"claim:{index_id('claim', 'old')}"
    for params in ({"at": TOP}, {"shown": "picture"}, {"community": TOP}, {"community": TOP, "thing": claim}):
        visitor.open("communities", **params)
        assert "<img" not in visitor.markup
        assert "\u202e" not in visitor.markup
        given = "".join(element.proto.json for element in visitor.app.get("bidi_component"))
        assert "\u202e" not in given
        assert "\\u202e" not in given
        labels = [*visitor.buttons, *(link.proto.label for link in visitor.app.get("page_link"))]
        assert not [label for label in labels if ":red[" in label or "![" in label]
    assert "[U+202E]gnp.exe" in visitor.words


def links(visitor: Visitor) -> list[str]:
    return [link.proto.query_string for link in visitor.app.page_link]
