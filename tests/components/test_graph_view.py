"""The view as a script sees it: what it sends, when it sends it again, and what it makes of what comes back."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.errors import NotConfigured
from components.graph import assets
from tests.e2e.graph_playground import invented

WALK = invented(15)
CACHED_FROM = 10_000  # bytes: `global.minCachedMessageSize` of Streamlit


def script() -> None:
    import streamlit as st

    from components.graph import graph_view
    from tests.e2e.graph_playground import invented, within

    walk = within(invented(15), st.session_state.get("bound", 15))
    st.session_state["event"] = graph_view(walk, selected=st.session_state.get("chosen"), key="graph")


@pytest.fixture
def app() -> AppTest:
    app = AppTest.from_function(script, default_timeout=30).run()
    assert not app.exception
    return app


def protos(app: AppTest) -> list[Any]:
    return [element.proto for element in app.get("bidi_component")]


def sent(app: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    picture, selection = protos(app)
    return json.loads(picture.json), json.loads(selection.json)


def click(app: AppTest, **event: object) -> AppTest:
    app.session_state["graph"] = {"event": event}
    app.run()
    assert not app.exception
    return app


def test_the_picture_is_sent_as_data(app: AppTest) -> None:
    picture, selection = sent(app)
    assert len(picture["nodes"]) == 15
    assert picture["start"] == WALK.start.id
    assert selection == {"key": "graph", "selected": None, "turn": 0}


def test_choosing_leaves_the_picture_as_it_is(app: AppTest) -> None:
    before = protos(app)[0].SerializeToString()
    app.session_state["chosen"] = WALK.edges[0].id
    app.run()
    picture, _ = protos(app)
    assert picture.SerializeToString() == before
    assert sent(app)[1]["selected"] == WALK.edges[0].id


@pytest.mark.parametrize("bound", [1, 5, 15])
def test_even_a_small_picture_is_large_enough_to_be_remembered(app: AppTest, bound: int) -> None:
    app.session_state["bound"] = bound
    app.run()
    assert CACHED_FROM <= protos(app)[0].ByteSize() < 2 * CACHED_FROM


def test_the_library_travels_in_no_message(app: AppTest) -> None:
    assert all(len(proto.js_content) < 1_000 for proto in protos(app))


def test_nodes_stay_where_they_are_when_the_bound_is_raised(app: AppTest) -> None:
    def places() -> dict[str, tuple[float, float]]:
        return {node["id"]: (node["x"], node["y"]) for node in sent(app)[0]["nodes"]}

    app.session_state["bound"] = 8
    app.run()
    few = places()
    app.session_state["bound"] = 15
    app.run()
    assert {node: places()[node] for node in few} == few


@pytest.mark.parametrize(
    ("kind", "target"),
    [("node", WALK.nodes[3].id), ("edge", WALK.edges[2].id), ("expand", WALK.nodes[1].id), ("none", None)],
)
def test_a_click_is_an_event_of_one_run(app: AppTest, kind: str, target: str | None) -> None:
    click(app, kind=kind, id=target, turn=1)
    event = app.session_state["event"]
    assert (event.kind, event.id) == (kind, target)
    assert sent(app)[1] == {"key": "graph", "selected": target, "turn": 1}
    app.session_state["graph"] = {}
    app.run()
    assert app.session_state["event"] is None


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "node", "id": "no such node", "turn": 1},
        {"kind": "node", "id": ["a list"], "turn": 1},
        {"kind": "drop table", "id": WALK.nodes[0].id, "turn": 1},
        {"kind": ["node"], "id": WALK.nodes[0].id, "turn": 1},
        {"id": WALK.nodes[0].id, "turn": "many"},
        {},
    ],
)
def test_what_makes_no_sense_is_no_event(app: AppTest, event: dict[str, object]) -> None:
    click(app, **event)
    assert app.session_state["event"] is None


def test_scripts_are_published_once_in_a_folder_named_by_their_content(tmp_path: Path) -> None:
    assets.published.cache_clear()
    address = assets.published(tmp_path)
    [folder] = tmp_path.iterdir()
    assert address == f"app/static/{folder.name}/"
    assert {path.name for path in folder.iterdir()} >= {"graph.js", "view.js", "vis-network.min.js"}
    written = (folder / "graph.js").stat().st_mtime_ns
    assets.published.cache_clear()
    assert assets.published(tmp_path) == address
    assert (folder / "graph.js").stat().st_mtime_ns == written


def test_many_may_publish_at_once(tmp_path: Path) -> None:
    together = threading.Barrier(6)
    addresses: list[str] = []

    def publish() -> None:
        together.wait()
        addresses.append(assets.published.__wrapped__(tmp_path))

    threads = [threading.Thread(target=publish) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(addresses) == 6
    assert len(set(addresses)) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    place = tmp_path / "static"
    place.write_text("a file where the folder should be")
    assets.published.cache_clear()
    with pytest.raises(NotConfigured, match="static"):
        assets.published(place)
