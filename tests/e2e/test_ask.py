"""A question, its evidence, and the answer that cites it, with a model and without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.application import Server, serve
from tests.e2e.conftest import Enter
from tests.e2e.visit import Visit
from tests.servers.model import ModelServer, Wait, says

pytestmark = pytest.mark.browser

QUESTION = "Did MV Halcyon sail to Marsa al-Sinjab?"
LIT = re.compile("rgb")  # the shadow of a passage that a number leads to

# Streamlit sends a click when the browser is next idle; this makes that a second.
_HELD_BACK = """() => {
  const plain = window.setTimeout;
  window.setTimeout = (done, after, ...rest) =>
    after ? plain(done, after, ...rest) : plain(() => { done(...rest); window.sent = true; }, 1000);
}"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model that follows the script of each test."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def with_model(demo_home: Path, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the demo graph that has this model."""
    log = tmp_path_factory.mktemp("model") / "log"
    with serve(demo_home, log, ATTEST_LLM_URL=model.address, ATTEST_LLM_MODEL="small") as server:
        yield server


def passage(visit: Visit, number: int) -> Locator:
    """The evidence with this number."""
    return visit.page.locator('[class*="st-key-passage-evidence-"]', has=visit.page.locator(f"#evidence-{number}"))


def ask(visit: Visit, question: str) -> None:
    visit.open("ask", strategy="passages")
    visit.question_box.fill(question)
    visit.press("Enter")


def test_a_number_of_the_answer_lights_its_passage_and_scrolls_to_it(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    ask(visit, QUESTION)
    visit.expect_words("quotations", "These sentences are quoted from the evidence.")
    visit.expect_address(question=QUESTION)
    cites = visit.page.locator("a.at-cite")
    last = max(int(number) for number in cites.all_inner_texts())
    expect(passage(visit, last)).not_to_have_css("box-shadow", LIT)
    expect(passage(visit, last)).not_to_be_in_viewport()
    cites.get_by_text(str(last), exact=True).click()
    expect(passage(visit, last)).to_have_css("box-shadow", LIT)
    expect(passage(visit, last)).to_be_in_viewport()
    cites.first.focus()
    visit.press("Enter")  # by the keyboard too
    first = int(cites.first.inner_text())
    expect(passage(visit, first)).to_have_css("box-shadow", LIT)
    expect(passage(visit, last)).not_to_have_css("box-shadow", LIT)
    expect(visit.pane.locator(".at-sentence").first).to_be_visible()


def test_guided_question_and_the_way_to_the_graph(visit: Visit) -> None:
    visit.open("ask")
    visit.button(f"Ask {QUESTION}").click()
    visit.expect_address(question=QUESTION)
    visit.expect_words("quotations", "Open in Explore")
    visit.page.get_by_text("How it was found").click()
    expect(visit.page.get_by_text("Automatic chose")).to_be_visible()
    visit.page.get_by_role("link", name="MV Halcyon").click()
    visit.wait_for_graph()
    expect(visit.title).to_contain_text("MV Halcyon")
    visit.go("Ask")
    expect(visit.question_box).to_have_value(QUESTION)
    visit.expect_words("quotations")


def test_a_question_is_the_same_for_whoever_opens_its_address(visit: Visit, demo: Server, browser: Browser) -> None:
    visit.open("ask", collection="Press")
    visit.question_box.fill("Who chartered MV Halcyon?")
    visit.button("Ask", exact=True).click()
    visit.pick("Strategy", "Passages")
    visit.expect_address(question="Who chartered MV Halcyon?", strategy="passages", collection="Press")
    visit.expect_words("quotations")
    visit.settle()
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = Visit(context, demo)
    other.goto(visit.page.url)
    other.expect_words("quotations")
    expect(other.question_box).to_have_value("Who chartered MV Halcyon?")
    expect(other.pane).to_have_text(visit.pane.inner_text(), use_inner_text=True)
    assert other.address == visit.address
    other.check()
    context.close()


def test_evidence_comes_before_the_answer_which_comes_in_pieces(
    with_model: Server, model: ModelServer, enter: Enter
) -> None:
    model.script = [
        Wait(4),
        "The ship did not enter Marsa al-Sinjab in the year 2022 [1]. ",
        Wait(2),
        *says("It sank."),
    ]
    visit = enter(with_model)
    ask(visit, QUESTION)
    expect(passage(visit, 8)).to_be_attached()
    visit.expect_words("small is writing an answer")
    expect(visit.page.locator(".at-said")).to_have_count(0)
    expect(visit.page.locator(".at-said").first).to_contain_text("did not enter Marsa al-Sinjab")
    visit.expect_words("written by a model", "small · 1 sentence not supported", "Not supported. It cites no evidence.")
    expect(visit.page.locator(".at-unsupported")).to_have_css("border-left-style", "dashed")


def test_a_click_that_the_browser_sends_twice_counts_once(with_model: Server, model: ModelServer, enter: Enter) -> None:
    model.script = ["The ship did not enter Marsa al-Sinjab in the year 2022 [1]. ", "And then", Wait(60)]
    visit = enter(with_model)
    ask(visit, QUESTION)
    visit.expect_words("And then")
    visit.page.evaluate(_HELD_BACK)  # so that what draws itself by a clock sends the click first
    visit.button("In context").first.click()
    expect(visit.button("Close").first).to_be_visible()
    visit.page.wait_for_function("window.sent")
    visit.settle()
    expect(visit.button("Close").first).to_be_visible()
    visit.button("Stop", exact=True).click()
    visit.expect_words("You stopped the model small.")
    expect(visit.button("Close").first).to_be_visible()


def test_stop_keeps_what_came(with_model: Server, model: ModelServer, enter: Enter) -> None:
    model.script = ["The ship did not enter Marsa al-Sinjab in the year 2022 [1]. ", "And then", Wait(60)]
    model.hung_up.clear()
    visit = enter(with_model)
    ask(visit, QUESTION)
    visit.expect_words("And then")
    visit.page.locator("a.at-cite").first.click()  # while it comes
    expect(passage(visit, 1)).to_have_css("box-shadow", LIT)
    visit.button("In context").first.click()
    expect(visit.button("Close").first).to_be_visible()
    visit.expect_words("small is writing an answer")
    visit.button("Stop", exact=True).click()
    visit.expect_words("You stopped the model small.", "did not enter Marsa al-Sinjab", "It broke off here.")
    assert model.hung_up.wait(30)
    expect(passage(visit, 8)).to_be_attached()
