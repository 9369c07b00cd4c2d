"""The demo graph shows what it is there to show: questions whose answer stands in another document than their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.explorer import Explorer
from backend.questions import Question
from tests.worlds import new_explorer

DEMO = Path(__file__).parents[3] / "demo"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    explorer = new_explorer(tmp_path_factory.mktemp("demo"))
    explorer.load([DEMO / "first", DEMO / "second"], dataset="demo")
    yield explorer
    explorer.close()


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("Where was the designer of Sinyaya Vyp born?", "review-drawing-office-p1", "courier-brass-compass-p1"),
        ("Who taught the harbour master of Saint Averil?", "courier-harbour-master-p1", "review-evening-school-p2"),
        ("Who founded the company that lends to Lanthorn Assets?", "filing-ship-mortgage-p1", "review-lenders-p1"),
    ],
)
def test_questions_of_two_steps_find_both_documents(demo: Explorer, text: str, near: str, far: str) -> None:
    found = demo.retrieve(Question(text))
    assert {near, far} <= set(found.ranked[:8])
    (item,) = [item for item in found.evidence if item.passage.source_id == far]
    assert len(item.why) > 2
