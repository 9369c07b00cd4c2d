"""Pages as a visitor meets them: the application itself, in Streamlit's AppTest, over a real small store.

The pages open the explorer of the fixture in place of one over ATTEST_HOME: its encoder is the small one of the tests,
since the real one takes half a minute to load.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest

from backend.explorer import Explorer, open_explorer
from backend.settings import Settings
from components import cached
from tests.bundles import write_bundle
from tests.worlds import ExactIndex

APP = Path(__file__).parents[2] / "app.py"
PAGES = {page: f"pages/{page}.py" for page in ("search", "explore", "ask", "communities", "data")}
HOSTILE = "<img src=x onerror=alert(1)> ![i](http://evil.test/a.png) :red[x] $x^2$ **b** \u202egnp.exe </style>"


class Visitor:
    """Somebody with a browser: opens addresses, reads, clicks."""

    def __init__(self) -> None:
        self.app = AppTest.from_file(str(APP), default_timeout=60)

    def open(self, page: str, **params: str | list[str]) -> Visitor:
        """Opens an address in a new session."""
        self.app = AppTest.from_file(str(APP), default_timeout=60)
        for key, value in params.items():
            self.app.query_params[key] = value
        if page != "search":
            self.app.run()  # Streamlit knows the pages only after this
            for key, value in params.items():
                self.app.query_params[key] = value
            self.app.switch_page(PAGES[page])
        return self.run()

    def run(self) -> Visitor:
        self.app.run()
        assert not self.app.exception
        return self

    def click(self, label: str) -> Visitor:
        """Clicks the button with this label."""
        button = next(button for button in self.app.button if button.label == label)
        button.click()
        return self.run()

    def choose(self, key: str, value: object) -> Visitor:
        """Gives the widget with this key a value."""
        self.app.get_by_key(key).set_value(value)
        return self.run()

    @property
    def markup(self) -> str:
        """The HTML of the page, as it was made."""
        return "\n".join(element.value for element in self.app.html)

    @property
    def words(self) -> str:
        """What the page says, without tags."""
        said = [re.sub(r"<style>.*?</style>", "", self.markup, flags=re.S)]
        said += [element.value for kind in ("error", "info", "markdown") for element in getattr(self.app, kind)]
        return html.unescape(re.sub(r"<[^>]+>", "", "\n".join(said)))

    @property
    def errors(self) -> str:
        """The errors that the page shows, with the escapes of their Markdown taken away."""
        return (
            "\n".join(error.value for error in (*self.app.error, *self.app.info))
            .replace("\\", "")
            .replace("\u2060", "")
        )

    @property
    def buttons(self) -> list[str]:
        return [button.label for button in self.app.button]

    def drawn(self, what: str) -> dict[str, Any]:
        """What the component with this in its data was given."""
        given = [json.loads(element.proto.json) for element in self.app.get("bidi_component")]
        return next(data for data in given if what in data)

    def did(self, component: str, kind: str, target: str) -> Visitor:
        """Does something in a component, as the browser would tell it; AppTest itself has no way to."""
        shown = next(one.proto.id for one in self.app.get("bidi_component") if one.proto.id.endswith(f"-{component}"))
        states = self.app._tree.get_widget_states()
        said = {"event": "event", "value": {"kind": kind, "id": target, "turn": 1}}
        states.widgets.add(id=_make_trigger_id(shown, "events"), json_trigger_value=json.dumps([said]))
        self.app._run(states)
        return self.run()  # AppTest forgets the pages in a run of fragments alone

    @property
    def address(self) -> dict[str, str | list[str]]:
        return dict(self.app.query_params)


@pytest.fixture
def served(explorer: Explorer) -> Iterator[Explorer]:
    """The empty store, with its encoder loaded, as the one that the pages open."""
    explorer.warm()
    cached.open_with(lambda settings: explorer)
    yield explorer
    cached.open_with(open_explorer)


@pytest.fixture
def world(served: Explorer, small_world: Explorer) -> Explorer:
    """The small world, as the pages see it."""
    return small_world


@pytest.fixture
def hostile(served: Explorer, folder: Path) -> Explorer:
    """A graph in which every text is an attack."""
    text = f"{HOSTILE}\x00 mentions {HOSTILE}."
    bundle = write_bundle(
        folder / "hostile",
        documents=[
            {
                "id": "d",
                "title": HOSTILE,
                "collection": HOSTILE,
                "url": "javascript:alert(1)",
                "author": HOSTILE,
                "metadata": {HOSTILE: HOSTILE},
            }
        ],
        passages=[{"id": "p", "document_id": "d", "text": text, "heading": HOSTILE}],
        entities=[
            {"id": "a", "name": HOSTILE, "type": HOSTILE, "aliases": [HOSTILE], "description": HOSTILE},
            {"id": "b", "name": "Evil twin", "type": HOSTILE},
        ],
        mentions=[
            {"entity_id": "a", "passage_id": "p", "start": 0, "end": len(HOSTILE)},
            {"entity_id": "b", "passage_id": "p"},
        ],
        relations=[{"source": "a", "target": "b", "type": HOSTILE, "passage_ids": ["p"]}],
    )
    served.load([bundle], dataset=HOSTILE)
    return served


@pytest.fixture
def grouped(world: Explorer) -> Explorer:
    """The small world with the communities that were found in it."""
    world.build_communities()
    return world


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()


@pytest.fixture
def read_only(world: Explorer, index: ExactIndex) -> Callable[[], None]:
    """Makes the server one that may only read."""
    settings = Settings(home=world.settings.home, read_only=True)
    reader = Explorer(world.store, index=lambda: index, encoder=world.encoder, settings=settings)
    return lambda: cached.open_with(lambda _: reader)
