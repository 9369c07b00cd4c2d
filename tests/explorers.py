"""Explorers over real stores in a folder, with the small encoder of the tests in place of the real one."""

from __future__ import annotations

from pathlib import Path

from backend.explorer import Explorer
from backend.settings import SQLITE, Settings
from backend.stores.opening import open_store
from backend.vectors.base import Encoder, Index
from tests.encoders import LettersEncoder


def open_test_explorer(home: Path, encoder: Encoder | None = None, *, graph: str = SQLITE) -> Explorer:
    """A store in `home`, or at the address of a Neo4j, and a Chroma in `home`, opened as the product opens them."""
    chosen = encoder or LettersEncoder()
    settings = Settings(home=home, graph=graph)
    store = open_store(settings)

    def index() -> Index:
        from backend.vectors.chroma import open_chroma

        return open_chroma(home / "vectors")

    return Explorer(store, index=index, encoder=lambda: chosen, settings=settings)
