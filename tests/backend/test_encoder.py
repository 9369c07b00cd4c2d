"""What an Encoder promises: the bundled one, those that a user names, and the small one of the tests.

`python -m tests.backend.test_encoder` encodes in a process of its own in which a socket is the end.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from backend.errors import NotConfigured
from backend.vectors.base import Encoder, Vectors
from backend.vectors.encoder import open_encoder
from tests.encoders import LettersEncoder

ROOT = Path(__file__).parents[2]
BUNDLED = open_encoder(None)

HOSTILE = [
    "",
    " ",
    "\0",
    "\ud800",
    "a\ud800b",
    "船",
    "\u202eabc",
    "👩‍👩‍👧",
    "[SEP] [CLS]",
    "x" * 100_000,
    " " * 100_000,
    "\n",
]

encoders = pytest.mark.parametrize(
    "encoder",
    [pytest.param(BUNDLED, marks=pytest.mark.encoder, id="bundled"), pytest.param(LettersEncoder(), id="letters")],
)


def unit_length(vectors: Vectors) -> bool:
    return bool(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5))


@encoders
def test_there_is_one_row_of_unit_length_for_each_text(encoder: Encoder) -> None:
    vectors = encoder.encode(["ship", "port of Piraeus", "ship", *HOSTILE])
    assert vectors.shape == (3 + len(HOSTILE), encoder.dimension)
    assert vectors.dtype == np.float32
    assert unit_length(vectors)


@encoders
def test_no_texts_are_no_rows(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimension)


@encoders
def test_rows_are_in_the_order_of_the_texts(encoder: Encoder) -> None:
    texts = ["a long name of a thing with many words", "b", "a shipping company", "c d"]
    vectors = encoder.encode(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(encoder.encode([text])[0], vector, atol=1e-5)


@encoders
def test_equal_texts_have_equal_vectors_whatever_stands_beside_them(encoder: Encoder) -> None:
    first = encoder.encode(["Aegean Shipping", "b", "Aegean Shipping"])
    later = encoder.encode([*(f"another text, number {number}" for number in range(40)), "Aegean Shipping"])
    assert first[0].tobytes() == first[2].tobytes() == later[-1].tobytes()


@encoders
def test_vectors_are_the_caller_s_own(encoder: Encoder) -> None:
    vectors = encoder.encode(["ship"])
    expected = vectors.copy()
    vectors[:] = 0
    assert np.array_equal(encoder.encode(["ship"]), expected)


@encoders
def test_many_threads_encode_at_once(encoder: Encoder) -> None:
    texts = [f"company number {number}" for number in range(30)]
    expected = encoder.encode(texts)
    wrong: list[str] = []

    def encode(offset: int) -> None:
        for number in range(offset, offset + 15):
            if not np.allclose(encoder.encode([texts[number]])[0], expected[number], atol=1e-5):
                wrong.append(texts[number])

    threads = [threading.Thread(target=encode, args=(offset,)) for offset in range(0, 16, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@encoders
def test_a_longer_text_has_more_tokens(encoder: Encoder) -> None:
    text = "The vessel left the port of Piraeus. "
    counts = encoder.count_tokens(["", "ship", text, 10 * text, 10_000 * text, "x1y2" * 100_000])
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[1] <= 2
    assert counts[4] > 900 * counts[2]
    assert len(encoder.count_tokens(HOSTILE)) == len(HOSTILE)


@pytest.mark.encoder
def test_tokens_are_those_of_the_model() -> None:
    assert BUNDLED.count_tokens(["The vessel left the port.", "東京は"]) == [6, 3]
    assert BUNDLED.encode(["ship"]).shape == BUNDLED.encode(["a ship that has not been seen yet"]).shape == (1, 384)


@pytest.mark.encoder
def test_what_means_the_same_is_near() -> None:
    vessel, ship, invoice = BUNDLED.encode(["vessel", "ship", "invoice"])
    assert vessel @ ship > 0.5 > vessel @ invoice


@pytest.mark.encoder
def test_a_long_text_is_cut_behind_what_the_model_reads() -> None:
    text = "The vessel left the port of Piraeus. " * 4_000
    assert np.allclose(*BUNDLED.encode([text, text[:4_096]]), atol=1e-5)


@pytest.mark.encoder
def test_nothing_is_fetched_printed_or_loaded_before_it_is_needed() -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.backend.test_encoder"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert (done.stdout.split(), done.stderr, done.returncode) == (["all-MiniLM-L6-v2", "384", "(1,", "384)"], "", 0)


def test_the_bundled_model_has_its_plain_name() -> None:
    for name in (None, "", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        encoder = open_encoder(name)
        assert (encoder.name, encoder.dimension) == ("all-MiniLM-L6-v2", 384)


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """Copies of the bundled model in folders of their own."""

    def copy(where: str) -> Path:
        source: str = BUNDLED._source  # type: ignore[attr-defined]
        return shutil.copytree(source, tmp_path / where)

    return copy


def test_a_folder_is_told_from_another_of_the_same_name(copied: Callable[[str], Path]) -> None:
    first, same, other = copied("a/model"), copied("b/model"), copied("c/model")
    with (other / "model.safetensors").open("r+b") as weights:
        weights.seek(-4, 2)
        weights.write(b"\1\2\3\4")
    names = [open_encoder(str(folder)).name for folder in (first, same, other)]
    assert names[0] == names[1] != names[2]
    assert all(name.startswith("model-") for name in names)


@pytest.mark.encoder
def test_a_model_in_a_folder_is_used(copied: Callable[[str], Path]) -> None:
    encoder = open_encoder(str(copied("model")))
    assert encoder.dimension == 384
    assert np.allclose(encoder.encode(["ship"]), BUNDLED.encode(["ship"]), atol=1e-5)


@pytest.mark.parametrize("name", ["/nowhere/model", "./nowhere", "~/nowhere", "a/b/c"])
def test_a_folder_that_is_not_there_says_what_to_do(name: str) -> None:
    with pytest.raises(NotConfigured, match=f"no folder {name}") as caught:
        open_encoder(name)
    assert "ATTEST_ENCODER" in caught.value.hint


def test_a_folder_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="holds no sentence-transformers model") as caught:
        open_encoder(str(tmp_path))
    assert "ATTEST_ENCODER" in caught.value.hint


@pytest.mark.encoder
@pytest.mark.parametrize("name", ["nobody/no-such-model", "no-such-model"])
def test_a_name_that_is_not_on_this_machine_says_what_to_do(name: str) -> None:
    encoder = open_encoder(name)
    assert encoder.name == name
    with pytest.raises(NotConfigured, match="is not on this machine") as caught:
        encoder.encode(["ship"])
    assert "hf download" in caught.value.hint


@pytest.mark.encoder
@pytest.mark.parametrize("file", ["config.json", "modules.json", "tokenizer.json", "model.safetensors"])
def test_a_broken_model_says_what_to_do(copied: Callable[[str], Path], file: str) -> None:
    folder = copied("model")
    (folder / file).write_text("garbage")
    with pytest.raises(NotConfigured, match="cannot be loaded") as caught:
        open_encoder(str(folder)).encode(["ship"])
    assert "ATTEST_ENCODER" in caught.value.hint


def test_similar_letters_are_near() -> None:
    ship, ships, invoice = LettersEncoder().encode(["a ship", "a ships", "invoice"])
    assert ship @ ships > 0.7 > 0.4 > ship @ invoice


def main() -> None:
    sys.addaudithook(lambda event, _: sys.exit(f"{event} was called") if event.startswith("socket.") else None)
    encoder = open_encoder(None)
    print(encoder.name, encoder.dimension)
    if "torch" in sys.modules or "sentence_transformers" in sys.modules:
        sys.exit("loaded before it was needed")
    print(encoder.encode(["ship"]).shape)


if __name__ == "__main__":
    main()
