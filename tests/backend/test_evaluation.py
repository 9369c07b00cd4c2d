"""Measuring strategies on a bundle's questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend import cli
from backend.errors import Malformed, Unavailable
from backend.evaluation import EvalQuestion, Measured, read_questions, table
from backend.explorer import Explorer
from tests.bundles import fleet, write_bundle

QUESTIONS = [
    {"id": "q1", "question": "Where does Vessel 1 first call?", "gold_passage_ids": ["passage1"], "type": "port"},
    {"id": "q2", "question": "Where does Vessel 3 first call?", "gold_passage_ids": ["passage3", "passage4"]},
]


def test_recall_is_the_share_of_the_gold_and_all_counts_only_all() -> None:
    questions = [EvalQuestion("a", "?", ("p1", "p2"), "x"), EvalQuestion("b", "?", ("p3",), "y")]
    measured = [Measured("a", ("p1", "p9", "p2"), 10.0, 4), Measured("b", ("p9", "p3"), 30.0, 6)]
    whole, first, second = table(questions, measured, [1, 2, 3])
    assert (whole.type, whole.questions, whole.ms, whole.queries) == ("all", 2, 20.0, 5.0)
    assert whole.recall == {"R@1": 25.0, "R@2": 75.0, "R@3": 100.0}
    assert whole.all_in == {"all@3": 100.0}
    assert (first.type, first.recall["R@2"], second.type, second.recall["R@2"]) == ("x", 50.0, "y", 100.0)


def test_a_dataset_is_measured_within_its_own_collections(explorer: Explorer, folder: Path) -> None:
    bundle = write_bundle(folder / "fleet", **fleet(6), questions=QUESTIONS)
    explorer.load([bundle], dataset="fleet")
    explorer.load([write_bundle(folder / "other", **_elsewhere(fleet(6)))], dataset="other")
    found = explorer.evaluate(read_questions(bundle), dataset="fleet", strategy="automatic", cutoffs=[2, 5])
    assert [one.id for one in found.questions] == ["q1", "q2"]
    assert all(one.ranked and one.queries > 0 and one.ms > 0 for one in found.questions)
    assert found.questions[0].ranked[0] == "passage1"
    with pytest.raises(Unavailable, match="no dataset 'fleets'"):
        explorer.evaluate(read_questions(bundle), dataset="fleets", strategy="automatic", cutoffs=[2])


def _elsewhere(bundle: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    documents = [{**row, "collection": "Elsewhere"} for row in bundle["documents"]]
    return {**bundle, "documents": documents}


def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    rows = [{"id": f"q{n}", "question": f"Who is {n}?", "gold_passage_ids": ["p"]} for n in range(50)]
    bundle = write_bundle(tmp_path / "b", entities=[{"id": "a", "name": "A"}], questions=rows)
    chosen = [one.id for one in read_questions(bundle, sample=10, seed=3)]
    assert chosen == [one.id for one in read_questions(bundle, sample=10, seed=3)]
    assert len(set(chosen)) == 10
    assert chosen != [one.id for one in read_questions(bundle, sample=10, seed=4)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no questions"),
        ([{"question": "Who?"}], "Line 1"),
        ([{"question": " ", "gold_passage_ids": ["p"]}], "Line 1"),
    ],
)
def test_questions_that_cannot_be_asked_are_named(tmp_path: Path, rows: list[dict[str, object]], said: str) -> None:
    files = {"questions": rows} if rows else {}
    bundle = write_bundle(tmp_path / "b", entities=[{"id": "a", "name": "A"}], **files)
    with pytest.raises(Malformed, match=said):
        read_questions(bundle)


def test_the_command_prints_each_question_and_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    from tests.explorers import open_test_explorer

    bundle = write_bundle(tmp_path / "fleet", **fleet(6), questions=QUESTIONS)
    monkeypatch.setattr(cli, "open_explorer", lambda settings: open_test_explorer(tmp_path / "home"))
    cli.app(["load", str(bundle), "--json"], standalone_mode=False)
    capsysbinary.readouterr()
    cli.app(["eval", str(bundle), "--dataset", "fleet", "--k", "1,2", "--json"], standalone_mode=False)
    found = json.loads(capsysbinary.readouterr().out)
    assert set(found) == {"questions", "table"}
    assert set(found["questions"][0]) == {"id", "ranked", "ms", "queries"}
    assert set(found["table"][0]["recall"]) == {"R@1", "R@2"}
    with pytest.raises(Malformed, match="--k is"):
        cli.app(["eval", str(bundle), "--dataset", "fleet", "--k", "0,2"], standalone_mode=False)
