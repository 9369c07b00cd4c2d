"""Explorers over real stores in a folder, with the small encoder of the tests in place of the real one."""

from __future__ import annotations

from pathlib import Path

from backend.explorer import Explorer
from backend.settings import Settings
from backend.stores.sqlite.store import SqliteStore
from backend.vectors.base import Encoder, Index
from tests.encoders import LettersEncoder


def open_test_explorer(home: Path, encoder: Encoder | None = None) -> Explorer:
    """A SQLite store and a Chroma in `home`, opened as the product opens them."""
    chosen = encoder or LettersEncoder()

    def index() -> Index:
        from backend.vectors.chroma import open_chroma

        return open_chroma(home / "vectors")

    return Explorer(SqliteStore(home), index=index, encoder=lambda: chosen, settings=Settings(home=home))
