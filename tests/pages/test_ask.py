"""The Ask page, as a visitor reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from backend.explorer import Explorer
from components import cached
from tests.bundles import fleet, long_report, write_bundle
from tests.pages.conftest import HOSTILE, Visitor
from tests.pages.test_search import SlowEncoder
from tests.servers.model import Fail, ModelServer, Step, Wait, says
from tests.world import entity
from tests.worlds import ExactIndex

QUESTION = "Who owns the Petrel?"
Wire = Callable[..., ModelServer]


@pytest.fixture
def wire(served: Explorer, index: ExactIndex) -> Iterator[Wire]:
    """Gives the pages a model that follows a script."""
    with ExitStack() as servers:

        def make(*script: Step) -> ModelServer:
            server = servers.enter_context(ModelServer(script))
            settings = replace(served.settings, llm_url=server.address, llm_model="small")
            explorer = Explorer(served.store, index=lambda: index, encoder=served.encoder, settings=settings)
            explorer.warm()
            cached.open_with(lambda _: explorer)
            return server

        yield make


def until(visitor: Visitor, text: str) -> Visitor:
    """Draws the page again until this can be read, as its own clock would."""
    end = monotonic() + 30
    while text not in visitor.words:
        assert monotonic() < end, visitor.words
        visitor.run()
    return visitor


def test_empty_store_says_so(served: Explorer, visitor: Visitor) -> None:
    assert "Nothing is loaded yet." in visitor.open("ask").words


def test_guided_questions_are_for_the_demo_graph(world: Explorer, visitor: Visitor) -> None:
    words = visitor.open("ask").words
    assert "8 entities from 6 passages" in words
    assert "Questions to start with" not in words


def test_guided_question_is_asked(served: Explorer, visitor: Visitor, folder: Path) -> None:
    served.load([write_bundle(folder / "demo", **fleet(3))], dataset="demo")
    visitor.open("ask").click("Ask When did Lanthorn divide itself in two?")
    assert visitor.address == {"question": "When did Lanthorn divide itself in two?"}
    assert visitor.app.text_input(key="ask-question").value == "When did Lanthorn divide itself in two?"
    assert "Questions to start with" not in visitor.words


def test_question_has_numbered_evidence_and_an_answer_of_quotations(world: Explorer, visitor: Visitor) -> None:
    visitor.open("ask", strategy="passages").choose("ask-question", QUESTION)
    assert visitor.address == {"question": QUESTION, "strategy": "passages"}
    assert "1 · Harbour register · records" in visitor.words
    assert "words of the question (place 1)" in visitor.words
    assert 'id="evidence-1"' in visitor.markup
    assert 'href="#evidence-1"' in visitor.markup
    assert "<mark>Skerry Line</mark> owns the <mark>Petrel</mark>" in visitor.markup
    assert "quotations" in visitor.words
    assert "These sentences are quoted from the evidence." in visitor.words
    assert "<q><bdi>Skerry Line owns the Petrel, which calls at 神戸港.</bdi></q>" in visitor.markup


def test_steps_say_what_they_found_and_why_this_strategy(world: Explorer, visitor: Visitor) -> None:
    visitor.open("ask", question=QUESTION)
    assert "Automatic chose Guided walk." in visitor.words
    visitor.choose("ask-strategy", "passages")
    assert [one.label.split(",")[:2] for one in visitor.app.expander] == [["How it was found: Passages", " 3 steps"]]
    assert "It was asked for." in visitor.words
    assert "Passages by their words" in visitor.words
    assert "Milliseconds" in visitor.words


def test_link_reopens_question_strategy_and_scope(world: Explorer, visitor: Visitor) -> None:
    visitor.open("ask", question=QUESTION, strategy="passages", collection="press")
    assert visitor.app.text_input(key="ask-question").value == QUESTION
    assert visitor.app.get_by_key("ask-strategy").value == "passages"
    assert "1 of 3 documents in scope" in visitor.words
    assert "The Gazette" in visitor.words
    assert "Harbour register" not in visitor.words


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"strategy": "magic"}, "strategy=magic in the address is not known"),
        ({"collection": "attic"}, "There is no collection 'attic'"),
    ],
    ids=["strategy", "scope"],
)
def test_link_that_does_not_resolve_says_so(
    world: Explorer, visitor: Visitor, params: dict[str, str], sentence: str
) -> None:
    visitor.open("ask", question=QUESTION, **params)
    assert visitor.errors.count(sentence) == 1


def test_explore_opens_two_steps_around_one_entity_and_the_others_are_links_under_the_same_scope(
    world: Explorer, visitor: Visitor
) -> None:
    visitor.open("ask", question=QUESTION, collection="records")
    queries = [link.proto.query_string for link in visitor.app.page_link if link.proto.query_string]
    (best,) = [query for query in queries if "depth=2" in query]
    assert best == f"entity={entity('line')}&depth=2&collection=records"
    assert f"entity={entity('petrel')}&collection=records" in queries
    assert "A graph begins at one entity." in visitor.words


def test_a_bound_that_cut_what_was_looked_at_is_named_and_can_be_raised(
    served: Explorer, visitor: Visitor, folder: Path
) -> None:
    served.load([write_bundle(folder / "report", **long_report(130))])
    visitor.open("ask", question="When did the light burn?", strategy="traversal")
    assert "Cut by the candidate bound of 100: " in visitor.words
    visitor.click("Read 2 times as many")
    assert visitor.address["reach"] == "2"
    assert "Cut by the candidate bound" not in visitor.words
    assert "Read 2 times as many" not in visitor.buttons


def test_what_a_full_prompt_left_out_is_marked_beside_the_evidence(
    served: Explorer, visitor: Visitor, folder: Path, index: ExactIndex
) -> None:
    bundle = long_report(3)
    bundle["passages"][1]["text"] += " Nobody saw it." * 300
    served.load([write_bundle(folder / "report", **bundle)])
    with ModelServer(says("It burned [1].")) as model:
        settings = replace(served.settings, llm_url=model.address, llm_model="small", llm_tokens=700)
        explorer = Explorer(served.store, index=lambda: index, encoder=served.encoder, settings=settings)
        explorer.warm()
        cached.open_with(lambda _: explorer)
        until(visitor.open("ask", question="When did the light burn?"), "written by a model")
    assert visitor.words.count("The model was given only the underlined sentences of this passage") == 1


def test_without_evidence_there_is_no_answer(world: Explorer, visitor: Visitor) -> None:
    visitor.open("ask", question=QUESTION, where="issue = 99")
    assert "No passage was found" in visitor.words
    assert "Nothing in scope was found for this question." in visitor.words
    assert "quotations" not in visitor.words


def test_questions_asked_before_open_again(world: Explorer, visitor: Visitor) -> None:
    visitor.open("ask", collection="press").choose("ask-question", QUESTION).choose("ask-question", "Who is late?")
    assert "Asked before" in visitor.words
    again = next(label for label in visitor.buttons if label.startswith("Who owns the Petrel"))
    assert again.endswith("· press")
    visitor.choose("scope-collections", []).click(again)
    assert visitor.address == {"question": QUESTION, "collection": "press"}


def test_evidence_waits_for_the_encoder_and_says_so(world: Explorer, visitor: Visitor, index: ExactIndex) -> None:
    encoder = SlowEncoder()
    loading = Explorer(world.store, index=lambda: index, encoder=lambda: encoder, settings=world.settings)
    cached.open_with(lambda settings: loading)
    assert "Meaning is still loading" in visitor.open("ask", question=QUESTION).words
    encoder.loaded.set()
    loading.warm()
    assert "quotations" in visitor.run().words


def test_sentence_without_support_looks_different_and_says_why(world: Explorer, visitor: Visitor, wire: Wire) -> None:
    wire(*says("Skerry Line owns the Petrel [1]. ", "The moon is made of cheese."))
    until(visitor.open("ask", question=QUESTION), "written by a model")
    assert "small · 1 sentence not supported" in visitor.words
    assert "Not supported. It cites no evidence." in visitor.words
    assert visitor.markup.count("at-said at-unsupported") == 1


def test_model_is_asked_once_and_anew_when_the_data_changes(
    world: Explorer, visitor: Visitor, wire: Wire, folder: Path
) -> None:
    model = wire(*says("Skerry Line owns the Petrel [1]."))
    until(visitor.open("ask", question=QUESTION), "written by a model")
    visitor.app.switch_page("pages/search.py")
    visitor.run()
    visitor.app.switch_page("pages/ask.py")
    visitor.run()
    assert "written by a model" in visitor.words
    assert len(model.requests) == 1
    world.load([write_bundle(folder / "more", **fleet(3))], dataset="more")
    cached.forget()
    until(visitor.run(), "written by a model")
    assert len(model.requests) == 2


def test_evidence_stands_while_the_answer_comes_and_stop_keeps_what_came(
    world: Explorer, visitor: Visitor, wire: Wire
) -> None:
    model = wire("Skerry Line owns the Petrel [1]. ", "Then it", Wait(60))
    until(visitor.open("ask", question=QUESTION), "Then it")
    assert "small is writing an answer" in visitor.words
    assert 'id="evidence-1"' in visitor.markup
    assert "Skerry Line owns the Petrel." in visitor.words
    until(visitor.click("Stop"), "You stopped the model small.")
    assert "Not supported. It broke off here." in visitor.words
    assert model.hung_up.wait(30)
    model.script = says("It is owned by Skerry Line [1].")
    until(visitor.click("Answer again"), "It is owned by Skerry Line.")


def test_answer_that_nobody_waits_for_any_more_is_stopped(world: Explorer, visitor: Visitor, wire: Wire) -> None:
    model = wire("Skerry Line", Wait(60))
    until(visitor.open("ask", question=QUESTION), "Skerry Line")
    visitor.choose("ask-question", "Who is late?")
    assert model.hung_up.wait(30)


def test_model_that_fails_leaves_quotations_and_says_what_happened(
    world: Explorer, visitor: Visitor, wire: Wire
) -> None:
    wire(Fail(400, "no such model"))
    until(visitor.open("ask", question=QUESTION), "quotations")
    assert "no such model" in visitor.words
    assert "These sentences are quoted from the evidence." in visitor.words


def test_hostile_passages_and_models_are_shown_as_text(hostile: Explorer, visitor: Visitor, wire: Wire) -> None:
    wire(*says(f"{HOSTILE} [1]. ", '[click](javascript:alert(1)) "><a href="#evidence-1" onclick=alert(1)>x</a> [2].'))
    until(visitor.open("ask", question=HOSTILE), "written by a model")
    assert "<img" not in visitor.markup
    assert "<a href" not in visitor.markup
    assert "[U+202E]gnp.exe" in visitor.words
    assert not [label for label in visitor.buttons if ":red[" in label or "![" in label]
    assert not [link.value for link in visitor.app.page_link if ":red[" in link.value]
