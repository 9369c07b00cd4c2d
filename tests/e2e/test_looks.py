"""Both themes, on a laptop and on a projector: everything fits, nothing is cut off. The pictures are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.visit import Visit, edge, entity

pytestmark = pytest.mark.browser

BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 24, 27)"}
SIZES = {"1440": (1440, 900), "1280": (1280, 720)}
CHARTERS = edge("meridian-freight", "charters", "halcyon")

# What a visitor would have to scroll to see, and what is cut off: text wider than the control that it stands in, and
# controls that the window does not hold.
PROBLEMS = """() => {
    const problems = [];
    const page = document.documentElement;
    const places = '[data-testid="stMain"], [data-testid="stAppViewContainer"], [data-testid="stSidebarContent"]';
    for (const place of [page, ...document.querySelectorAll(places)]) {
        const name = place.dataset.testid ?? "the page";
        const scrolls = (way) => place === page || /auto|scroll/.test(getComputedStyle(place)[`overflow${way}`]);
        const [down, aside] = [place.scrollHeight - place.clientHeight, place.scrollWidth - place.clientWidth];
        if (scrolls("Y") && down > 1) problems.push(`${name} scrolls down by ${down}`);
        if (scrolls("X") && aside > 1) problems.push(`${name} scrolls sideways by ${aside}`);
    }
    const controls = 'button, a, input, label, [role="radio"], [role="combobox"], h1, h2, .at-bound, .attest-legend';
    const roots = [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];
    for (const one of roots.flatMap((root) => [...root.querySelectorAll(controls)])) {
        const box = one.getBoundingClientRect();
        if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || box.width < 3) continue;
        if (one.closest("[aria-hidden]")) continue;
        const text = (one.textContent || one.placeholder || one.ariaLabel || one.tagName).trim().slice(0, 40);
        for (const part of [one, ...one.querySelectorAll("*")]) {
            const spare = getComputedStyle(part).overflowX === "visible" ? 6 : 1; // what spills can still be read
            if (part.clientWidth > 2 && part.scrollWidth > part.clientWidth + spare) problems.push(`cut off: ${text}`);
        }
        for (let around = one.parentElement; around; around = around.parentElement) {
            const frame = around.getBoundingClientRect();
            const clips = /hidden|clip/.test(getComputedStyle(around).overflowX) && frame.width > 2;
            if (clips && (box.right > frame.right + 2 || box.left < frame.left - 2)) problems.push(`cut off: ${text}`);
        }
        if (box.left < 0 || box.right > innerWidth + 1) problems.push(`beside the window: ${text}`);
        const scrolled = one.closest('[class*="st-key-pane-"], .st-key-hits, .st-key-answer, .st-key-table');
        if (!scrolled && (box.top < 0 || box.bottom > innerHeight + 1)) problems.push(`below the window: ${text}`);
    }
    for (const pane of document.querySelectorAll("[class*='st-key-pane-']")) {
        if (pane.getBoundingClientRect().bottom > innerHeight) problems.push("the evidence pane ends below the window");
    }
    return [...new Set(problems)];
}"""


@pytest.fixture(params=[(theme, size) for theme in BACKGROUNDS for size in SIZES], ids="-".join)
def dressed(request: pytest.FixtureRequest, visit: Visit) -> Visit:
    """A visit in each theme and size."""
    theme, size = request.param
    width, height = SIZES[size]
    visit.page.set_viewport_size({"width": width, "height": height})
    visit.page.emulate_media(color_scheme=theme)
    return visit


def look(visit: Visit, folder: Path, name: str) -> list[str]:
    """The problems of the page as it stands; its picture is kept."""
    visit.page.mouse.move(5, 5)  # no tooltip
    visit.page.screenshot(path=folder / f"{name}.png")
    problems: list[str] = visit.page.evaluate(PROBLEMS)
    return [f"{name}: {problem}" for problem in problems]


def test_everything_fits_and_nothing_is_cut_off(dressed: Visit, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    theme = request.node.callspec.params["dressed"][0]
    dressed.open(q="MV", mode="lexical")
    expect(dressed.page.locator(".at-hit")).to_have_count(10)
    expect(dressed.page.locator(".stApp")).to_have_css("background-color", BACKGROUNDS[theme])
    problems = look(dressed, tmp_path, "search")
    dressed.open(q="Meridian", results="passages")
    expect(dressed.page.locator(".at-hit")).to_have_count(10)
    problems += look(dressed, tmp_path, "passages")
    dressed.open("ask")
    problems += look(dressed, tmp_path, "questions")
    dressed.open("ask", question="Did MV Halcyon sail to Marsa al-Sinjab?")
    dressed.expect_words("quotations")
    dressed.page.get_by_text("How it was found").click()
    dressed.settle()
    problems += look(dressed, tmp_path, "ask")
    dressed.explore("meridian-freight", depth="2", edge=CHARTERS)
    expect(dressed.graph).to_have_css("background-color", BACKGROUNDS[theme])
    problems += look(dressed, tmp_path, "explore")
    dressed.choose("Shown as", "Table")
    expect(dressed.table).to_be_attached()
    dressed.settle()
    problems += look(dressed, tmp_path, "table")
    assert not problems, "\n".join(problems)


def test_hub_and_long_trail_fit(visit: Visit, tmp_path: Path) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    visit.open(q="Meridian Freight")
    visit.hit("Meridian Freight").get_by_role("link", name="Explore").click()
    for name in ("halcyon", "halvard-quist", "halcyon", "port-ostrava-bay"):
        visit.wait_for_graph()
        visit.click_node(entity(name))
        visit.button("Walk from here").click()
        visit.expect_address(entity=entity(name))
    visit.choose("Steps", "2 steps")
    expect(visit.bounds).to_contain_text("node")
    visit.wait_for_graph()
    problems = look(visit, tmp_path, "hub")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])  # without the row of kinds and with it
def test_list_of_hits_reaches_the_bottom_of_the_window(visit: Visit, mode: str) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    visit.open(q="MV", mode=mode)
    expect(visit.page.locator(".at-hit")).to_have_count(10)
    box = visit.page.locator(".st-key-hits").bounding_box()
    assert box is not None
    assert 720 - 20 < box["y"] + box["height"] < 720


def test_narrow_window_puts_one_pane_below_the_other(visit: Visit, tmp_path: Path) -> None:
    visit.page.set_viewport_size({"width": 800, "height": 720})
    visit.open(q="Meridian Freight")
    problems = look(visit, tmp_path, "search")
    visit.open("ask", question="Who chartered MV Halcyon?")
    visit.expect_words("quotations")
    problems += look(visit, tmp_path, "ask")
    visit.explore("meridian-freight", depth="2")
    problems += look(visit, tmp_path, "explore")
    visit.open("data")
    problems += look(visit, tmp_path, "data")
    assert not [problem for problem in problems if "down" not in problem and "below" not in problem]
