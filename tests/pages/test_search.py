"""The Search page, as a visitor reads it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from backend.explorer import Explorer
from backend.vectors.base import Vectors
from components import cached
from tests.bundles import fleet, write_bundle
from tests.encoders import LettersEncoder
from tests.pages.conftest import HOSTILE, Visitor
from tests.world import entity
from tests.worlds import ExactIndex


def test_empty_store_says_so_and_leads_to_loading(served: Explorer, visitor: Visitor) -> None:
    assert "Nothing is loaded yet." in visitor.open("search").words
    assert "Load a graph" in [link.value for link in visitor.app.page_link]


def test_before_anything_is_asked_the_page_says_what_there_is(world: Explorer, visitor: Visitor) -> None:
    words = visitor.open("search").words
    assert "8 entities from 6 passages" in words
    assert "Places to start" not in words  # those are for the demo graph


def test_demo_graph_has_guided_starts_that_ask(served: Explorer, visitor: Visitor, folder: Path) -> None:
    served.load([write_bundle(folder / "demo", **fleet(3))], dataset="demo")
    visitor.open("search").click("Search for Port Ostrava Bay")
    assert visitor.address["q"] == "Port Ostrava Bay"
    assert visitor.app.text_input(key="q").value == "Port Ostrava Bay"


def test_hit_explains_itself_and_its_evidence_stands_beside_it(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="petrel")
    assert "<mark>Petrel</mark>" in visitor.markup
    assert "exact name, 1st · meaning" in visitor.words
    assert "3 passages in 3 documents" in visitor.words
    assert "1 · Harbour register · records" in visitor.words
    assert "<mark>Skerry Line</mark> owns the <mark>" not in visitor.markup  # only what was found is marked


def test_names_are_searched_where_vectors_are_lost_and_the_page_says_so(
    world: Explorer, visitor: Visitor, index: ExactIndex
) -> None:
    for name in index.names():
        index.drop(name)
    visitor.open("search", q="petrel")
    assert "are not in the vector store" in visitor.errors
    assert "exact name, 1st · 3 passages" in visitor.words
    assert "1 · Harbour register · records" in visitor.words


def test_another_hit_is_one_click_away(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="ida berg").click("Evidence for North Light")
    assert visitor.address["hit"] == entity("light")
    assert "The <mark>light</mark> has burned all winter." in visitor.markup


def test_alias_is_named(world: Explorer, visitor: Visitor) -> None:
    assert "exact alias “the keeper”, 1st" in visitor.open("search", q="the keeper").words


def test_hit_leads_to_explore_under_the_same_scope(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="petrel", collection="press")
    link = next(link for link in visitor.app.page_link if link.value == "Explore" and link.proto.query_string)
    assert link.proto.query_string == f"entity={entity('petrel')}&collection=press"


def test_labels_filter_and_keep_the_counts_of_all(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="line light", mode="lexical")
    assert visitor.app.get_by_key("search-labels").options == ["Company 1", "Place 1"]
    visitor.choose("search-labels", ["Place"])
    assert visitor.address["label"] == "Place"
    assert "Evidence for North Light" in visitor.buttons
    assert "Evidence for Skerry Line" not in visitor.buttons
    assert visitor.app.get_by_key("search-labels").options == ["Place 1", "Company 1"]


def test_every_hit_can_be_filtered_by_its_label(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="petrel")  # one name, and the rest by meaning
    assert visitor.app.get_by_key("search-labels").options == ["Company 2", "Person 2", "Place 2", "Vessel 2"]
    visitor.open("search", q="petrel", limit="1")
    options = [option.replace("\\", "") for option in visitor.app.get_by_key("search-labels").options]
    assert options == ["Company 2+", "Person 2+", "Place 2+", "Vessel 2+"]


def test_unsupported_is_said_in_words(world: Explorer, visitor: Visitor) -> None:
    words = visitor.open("search", q="old salvage").words
    assert "unsupported" in words
    assert "no current passage mentions it" in words
    assert "The passages that mentioned it were superseded" in words


def test_nothing_found_says_what_was_tried_and_offers_names(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="petrol", mode="lexical")
    assert "Nothing found for “petrol”." in visitor.words
    assert "Tried names and aliases, in 3 of 3 documents." in visitor.words
    assert "Petrel" in visitor.click("Petrel").words
    assert visitor.address["q"] == "Petrel"


def test_only_meaning_found_something(world: Explorer, visitor: Visitor) -> None:
    assert "No name matches. These are nearest in meaning." in visitor.open("search", q="xyzzy").words


def test_link_reopens_the_search(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="petrel", mode="semantic", label="Vessel", hit=entity("gannet"), collection="press")
    assert visitor.app.get_by_key("search-mode").value == "semantic"
    assert visitor.app.get_by_key("scope-collections").value == ["press"]
    assert "1 of 3 documents in scope" in visitor.words
    assert "The <mark>Gannet</mark> was seen off the North Light." in visitor.markup


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"results": "magic"}, "results=magic in the address is not known"),
        ({"mode": "magic"}, "mode=magic in the address is not known"),
        ({"limit": "many"}, "limit=many in the address is not a number"),
        ({"label": "Spaceship"}, "There is no label 'Spaceship'"),
        ({"collection": "attic"}, "There is no collection 'attic'"),
        ({"as_of": "yesterday"}, "'yesterday' is not an ISO date"),
        ({"where": "nonsense"}, "'nonsense' is not a condition"),
        ({"document": "17"}, "'17' is not a document id"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_link_that_does_not_resolve_says_so(
    world: Explorer, visitor: Visitor, params: dict[str, str], sentence: str
) -> None:
    visitor.open("search", q="petrel", **params)
    assert visitor.errors.count(sentence) == 1  # not once for the hits and once for the evidence
    assert sentence not in visitor.markup
    assert "`attest" not in visitor.errors


def test_scope_narrows_what_is_found(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="ida").choose("scope-collections", ["press"])
    assert visitor.address["collection"] == "press"
    assert "Evidence for Ida Berg" not in visitor.buttons


class SlowEncoder(LettersEncoder):
    """An encoder that loads until it is let go."""

    def __init__(self) -> None:
        self.loaded = threading.Event()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.loaded.wait()
        return super().encode(texts)


def test_names_are_searched_while_the_encoder_loads(world: Explorer, visitor: Visitor, index: ExactIndex) -> None:
    encoder = SlowEncoder()
    still_loading = Explorer(world.store, index=lambda: index, encoder=lambda: encoder, settings=world.settings)
    cached.open_with(lambda settings: still_loading)
    visitor.open("search", q="petrel")
    assert "Meaning is still loading" in visitor.words
    assert "exact name, 1st · 3 passages" in visitor.words
    encoder.loaded.set()
    still_loading.warm()
    assert "Meaning is still loading" not in visitor.run().words
    assert "exact name, 1st · meaning" in visitor.words


def test_nothing_is_not_the_last_word_while_the_encoder_loads(
    world: Explorer, visitor: Visitor, index: ExactIndex
) -> None:
    encoder = SlowEncoder()
    still_loading = Explorer(world.store, index=lambda: index, encoder=lambda: encoder, settings=world.settings)
    cached.open_with(lambda settings: still_loading)
    visitor.open("search", q="who keeps it")
    assert "No name matches “who keeps it”." in visitor.words
    assert "Nothing found" not in visitor.words
    encoder.loaded.set()


def test_passages_are_results_that_explain_themselves(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="petrel").choose("search-results", "passages")
    assert visitor.address["results"] == "passages"
    assert "<mark>Skerry Line</mark> owns the <mark>Petrel</mark>" in visitor.markup
    assert "records · passage 1" in visitor.words
    assert "all of the words, 1st · meaning" in visitor.words
    assert "Petrel" in [link.value for link in visitor.app.page_link if link.proto.query_string]
    assert visitor.app.get_by_key("search-mode").options == ["Both", "Words", "Meaning"]
    assert "Evidence for Petrel" in visitor.choose("search-results", "entities").buttons


def test_another_passage_is_one_click_away_and_its_link_reopens_it(world: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="light", results="passages", collection="press")
    label = next(label for label in visitor.buttons if label.startswith("Read "))
    visitor.click(label)
    hit = visitor.address["hit"]
    assert isinstance(hit, str)
    visitor.open("search", q="light", results="passages", collection="press", hit=hit)
    assert "1 of 3 documents in scope" in visitor.words
    link = next(link for link in visitor.app.page_link if link.proto.query_string)
    assert link.proto.query_string.startswith("entity=")
    assert link.proto.query_string.endswith("&collection=press")


def test_no_passage_found_says_what_was_tried(world: Explorer, visitor: Visitor) -> None:
    words = visitor.open("search", q="xyzzy", results="passages", mode="lexical", collection="press").words
    assert "No passage found for “xyzzy”." in words
    assert "Tried words, in 1 of 3 documents." in words
    assert "1 of 3" not in visitor.click("Everything in scope").words


def test_words_of_passages_are_searched_while_the_encoder_loads(
    world: Explorer, visitor: Visitor, index: ExactIndex
) -> None:
    encoder = SlowEncoder()
    still_loading = Explorer(world.store, index=lambda: index, encoder=lambda: encoder, settings=world.settings)
    cached.open_with(lambda settings: still_loading)
    visitor.open("search", q="petrel", results="passages")
    assert "Meaning is still loading: for now words are searched." in visitor.words
    assert "all of the words, 1st" in visitor.words
    encoder.loaded.set()


def test_hostile_passages_are_shown_as_text(hostile: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="img src", results="passages")
    assert "<img" not in visitor.markup
    assert "[U+202E]gnp.exe" in visitor.words
    assert not [label for label in visitor.buttons if ":red[" in label or "![" in label]
    assert not [link.value for link in visitor.app.page_link if ":red[" in link.value]


def test_hostile_texts_are_shown_as_text(hostile: Explorer, visitor: Visitor) -> None:
    visitor.open("search", q="img src")
    assert "<img" not in visitor.markup
    assert "[U+202E]gnp.exe" in visitor.words
    assert HOSTILE.split(" ![")[0] in visitor.words
    assert not [label for label in visitor.buttons if ":red[" in label or "![" in label]
