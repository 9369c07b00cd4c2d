"""A graph from somebody who wishes us ill: all it holds is text, on every page; nothing runs, nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from backend.identity import edge_id, stable_id
from tests.bundles import Rows, write_bundle
from tests.e2e.application import Server, attest, serve
from tests.e2e.conftest import Enter, once
from tests.e2e.visit import Visit
from tests.servers.model import ModelServer, says

pytestmark = pytest.mark.browser

# Short enough to be shown whole in one line; each is found by its word.
NAMES = {
    "words": "Quill :red[x] $x$ **b** [l](http://evil.example) :material/home: `c` <b>d</b>",
    "picture": "Quill ![x](http://evil.example/x.png) :red-background[y]",
    "script": "Quill <script>window.__pwned=1</script>",
    "image": "Quill <img src=http://evil.example/y.png onerror=window.__pwned=2>",
    "link": 'Quill <a href="javascript:window.__pwned=3">href</a>',
    "quotes": 'Quill " onfocus=window.__pwned=4 autofocus x=\'" --><svg onload=window.__pwned=5>',
    "style": "Quill </style></script><style>*{display:none}</style><iframe src=http://evil.example>",
    "turned": "Quill \u202egnp.exe\u202c \u2066x",
    "nothing": "Quill a\u0000b {{7*7}} ${7*7} %s \\n \\u0000",
    "long": "Quill " + "long " * 20_480,  # 100 KB
}
DATASET = "hostile <img src=x onerror=window.__pwned=6> :red[x] $x$ **b**"
COLLECTION = "C <script>window.__pwned=7</script> :red[x] $x$ **b**"
LITERAL = (":red[x]", "$x$", "**b**")
EVERYTHING = " ".join(name for key, name in NAMES.items() if key != "long")

# Elements and attributes that no text may become; every shadow root is looked into.
MADE = """() => {
    const found = [];
    const roots = [document];
    for (const root of roots) {
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) roots.push(one.shadowRoot);
            const written = [...one.attributes].filter(({ name, value }) =>
                name.startsWith("on")
                || (/^(src|href|action|data|formaction|srcdoc|style)$/.test(name)
                    && /^\\s*javascript:|^[^?]*(evil|pwned)/i.test(value)));
            const made = (/^(script|style)$/i.test(one.tagName) && /pwned|display:none}</.test(one.textContent))
                || /^(iframe|object|embed|base|meta)$/i.test(one.tagName) && /evil|pwned/.test(one.outerHTML)
                || one.matches(".katex, img[src='x']");
            if (made || written.length) found.push(one.outerHTML.slice(0, 200));
        }
    }
    return found;
}"""


def entity(key: str) -> str:
    return stable_id("entity", DATASET, key)


def edge(target: str) -> str:
    return edge_id(entity("words"), NAMES[target], entity(target))


@pytest.fixture(scope="module")
def hostile(stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a graph in which every text is an attack."""

    def load(home: Path) -> None:
        bundle = write_bundle(tmp_path_factory.mktemp("bundle") / "hostile", **rows())
        attest(home, "load", str(bundle), "--dataset", DATASET)

    home, log = once(stores / "hostile", load), tmp_path_factory.mktemp("hostile") / "log"
    said = says(*(f"{name} [{n}]. " for n, name in enumerate(NAMES.values(), 1) if len(name) < 200))
    with (
        ModelServer(said) as model,
        serve(home, log, ATTEST_LLM_URL=model.address, ATTEST_LLM_MODEL=NAMES["image"]) as server,
    ):
        yield server


def rows() -> dict[str, Rows]:
    """Each entity has a name and a label of its own; the first has a relation to every other, all but two stated."""
    others = [key for key in NAMES if key != "words"]
    lines = {"words": EVERYTHING, **{key: f"{NAMES['words']} meets {NAMES[key]}" for key in others if key != "long"}}
    return {
        "documents": [
            {
                "id": f"d-{key}",
                "title": NAMES[key],
                "collection": COLLECTION,
                "url": "javascript:window.__pwned=8",
                "author": NAMES["image"],
                "date": "<img src=x onerror=window.__pwned=9>",
                "metadata": {NAMES["words"]: NAMES["image"], NAMES["image"]: [NAMES["script"], NAMES["picture"]]},
            }
            for key in NAMES
        ],
        "passages": [
            {"id": f"p-{key}", "document_id": f"d-{key}", "text": lines.get(key, NAMES[key]), "heading": NAMES["image"]}
            for key in NAMES
        ]
        + [{"id": "after", "document_id": "d-words", "text": NAMES["picture"], "heading": NAMES["script"]}],
        "entities": [
            {
                "id": key,
                "name": name,
                "type": name[:200],
                "aliases": [NAMES["image"], NAMES["words"]],
                "description": EVERYTHING,
                "metadata": {NAMES["words"]: NAMES["link"], NAMES["image"]: {NAMES["script"]: NAMES["quotes"]}},
            }
            for key, name in NAMES.items()
        ],
        "mentions": [{"entity_id": "words", "passage_id": "p-words", "start": 0, "end": len(NAMES["words"])}]
        + [{"entity_id": key, "passage_id": f"p-{key}"} for key in others]
        + [{"entity_id": "words", "passage_id": f"p-{key}"} for key in others],
        "relations": [
            {
                "id": f"r-{key}",
                "source": "words",
                "target": key,
                "type": NAMES[key],
                "passage_ids": [] if key in ("script", "image") else [f"p-{key}"],
            }
            for key in others
        ],
    }


@pytest.fixture
def visit(hostile: Server, enter: Enter) -> Visit:
    """A page of the hostile graph's server."""
    return enter(hostile)


def only_text(visit: Visit, *texts: str) -> None:
    """Nothing ran, nothing was made of any text, and these can be read as they are."""
    visit.settle()
    visit.expect_words(*texts)
    assert visit.page.evaluate(MADE) == []
    assert visit.page.evaluate("() => window.__pwned") is None


def test_search(visit: Visit) -> None:
    visit.open(q="quill", mode="lexical")
    expect(visit.page.locator(".at-hit")).to_have_count(10)
    only_text(visit, *LITERAL, NAMES["script"], NAMES["image"], NAMES["link"], "[U+202E]gnp.exe")
    visit.button(re.compile("more kinds?")).click()
    visit.page.get_by_role("combobox", name="Kind").click()
    expect(visit.page.get_by_role("option").first).to_be_visible()
    only_text(visit)
    visit.press("Escape", "Escape")
    visit.page.get_by_role("toolbar", name="Kinds").get_by_role("button").first.click()
    expect(visit.page.locator(".at-hit")).to_have_count(1)
    only_text(visit)


def test_passages_as_results(visit: Visit) -> None:
    visit.open(q="quill", results="passages", mode="lexical")
    expect(visit.page.locator(".at-hit")).to_have_count(10)
    only_text(visit, *LITERAL, NAMES["script"], NAMES["image"], NAMES["link"], "[U+202E]gnp.exe")
    visit.button(re.compile("^Read Quill")).nth(1).click()
    expect(visit.page.locator(".st-key-mentioned a").first).to_be_visible()
    only_text(visit, *LITERAL)


def test_evidence_and_answer_of_a_model(visit: Visit) -> None:
    visit.open("ask", question=f"Quill {NAMES['image']}")
    visit.expect_words("written by a model")
    expect(visit.pane.locator(".at-text").first).to_be_visible()
    only_text(visit, NAMES["script"], NAMES["image"], ":red[x]", "$x$", "window.__pwned=3", "Not supported.")
    visit.question_box.fill(NAMES["words"])
    visit.press("Enter")
    visit.expect_address(question=NAMES["words"])
    visit.expect_words("written by a model", "Asked before")
    only_text(visit, NAMES["image"], *LITERAL)


@pytest.mark.parametrize("key", ["words", "image", "long"])
def test_evidence_of_a_hit(visit: Visit, key: str) -> None:
    visit.open(q="quill", mode="lexical", hit=entity(key))
    expect(visit.pane.locator(".at-text").first).to_be_visible()
    only_text(visit, *LITERAL)
    visit.choose("What to show", "About")
    expect(visit.pane.locator(".at-facts")).to_be_visible()
    only_text(visit, *LITERAL, NAMES["link"])
    assert "display:none" not in visit.page.evaluate("() => getComputedStyle(document.body).display")


def test_nothing_found(visit: Visit) -> None:
    asked = f"zzz {NAMES['words']} <img src=x onerror=window.__pwned=10>"
    visit.open(q=asked, mode="lexical", label=NAMES["image"])
    expect(visit.page.locator(".at-nothing, .at-hit, [data-testid='stAlert']").first).to_be_visible()
    only_text(visit)


def test_graph_with_its_tooltips_and_evidence(visit: Visit) -> None:
    visit.open("explore", entity=entity("words"))
    visit.wait_for_graph()
    assert visit.counts() == (len(NAMES), len(NAMES) - 1)
    tip = visit.page.locator(".attest-tip")
    for key in NAMES:
        place = visit.ask_graph("nodeDom", entity(key))
        visit.page.mouse.move(place["x"], place["y"], steps=2)
        expect(tip).to_be_visible()
    for target in ("image", "link"):
        place = visit.ask_graph("edgeDom", edge(target))
        visit.page.mouse.move(place["x"], place["y"], steps=2)
        expect(tip).to_contain_text(NAMES[target])
    only_text(visit, *LITERAL)
    for key in ("image", "long", "nothing"):
        visit.click_node(entity(key))
        expect(visit.pane.locator("h2")).to_contain_text(NAMES[key].split("\0")[0][:40])
    visit.choose("What to show", "About")
    only_text(visit, *LITERAL)
    for target in ("link", "image"):
        visit.click_edge(edge(target))
        expect(visit.pane.locator("h2")).to_contain_text(NAMES[target][:30])
        for tab in ("Both mention", "About"):
            visit.choose("What to show", tab)
            only_text(visit, *LITERAL)
        visit.choose("What to show", "Evidence")


def test_table_trail_and_types(visit: Visit) -> None:
    visit.open("explore", entity=entity("words"), view="table", edge=edge("quotes"))
    expect(visit.table).to_be_attached()
    expect(visit.table).to_contain_text(NAMES["image"])
    only_text(visit, *LITERAL, NAMES["quotes"])
    visit.choose("Rows", "Entities")
    expect(visit.table).to_contain_text(NAMES["script"])
    visit.page.get_by_role("combobox", name="Relation types").click()
    expect(visit.page.get_by_role("option").first).to_be_visible()
    only_text(visit, *LITERAL)
    visit.page.get_by_role("option", name=NAMES["image"][:40]).click()
    visit.press("Escape")
    expect(visit.bounds).to_contain_text("2 entities")
    only_text(visit, *LITERAL)


def test_walk_on_shows_the_trail(visit: Visit) -> None:
    visit.open("explore", entity=entity("words"), node=entity("image"))
    visit.button("Walk from here").click()
    expect(visit.title).to_contain_text(NAMES["image"])
    only_text(visit, NAMES["image"], LITERAL[0])
    visit.go("Search")
    visit.go("Explore")
    expect(visit.title).to_contain_text(NAMES["image"])


def test_document_and_scope_picker(visit: Visit) -> None:
    visit.open(q="quill", mode="lexical", hit=entity("words"))
    visit.button("In context").first.click()
    visit.button("Whole document").click()
    document = visit.page.get_by_role("dialog")
    expect(document).to_contain_text("javascript:window.__pwned=8")
    only_text(visit, *LITERAL, NAMES["image"], NAMES["picture"], COLLECTION)
    visit.button("Only this document in scope").click()
    expect(visit.page.get_by_text("1 of 10 documents in scope")).to_be_visible()
    only_text(visit, *LITERAL)
    visit.add("Collections", COLLECTION[:20])
    visit.expect_address(collection=COLLECTION)
    visit.button("Add a condition").click()
    visit.page.get_by_role("combobox", name="Key").click()
    expect(visit.page.get_by_role("option", name=NAMES["image"])).to_be_visible()
    only_text(visit, NAMES["image"])
    visit.page.get_by_role("option", name=NAMES["image"]).click()
    visit.page.get_by_role("textbox", name="Value").fill(NAMES["script"])
    visit.button("Add", exact=True).click()
    expect(visit.page.get_by_role("combobox", name="Conditions")).to_be_visible()
    only_text(visit, *LITERAL)


def test_data(visit: Visit) -> None:
    visit.open("data")
    expect(visit.page.get_by_role("heading", name="Jobs")).to_be_visible()
    only_text(visit, DATASET, COLLECTION)
    visit.page.get_by_text("Every label").click()
    visit.page.locator('.st-key-jobs, [class*="st-key-job-"]').get_by_text("Report", exact=True).first.click()
    expect(visit.page.get_by_text("Read", exact=True)).to_be_visible()
    only_text(visit, DATASET, COLLECTION, NAMES["image"])
    visit.button("Remove a dataset").click()
    visit.button("Remove …").click()
    expect(visit.button("Keep it")).to_be_visible()
    only_text(visit, DATASET)
    visit.button("Keep it").click()
    expect(visit.button("Keep it")).to_have_count(0)
