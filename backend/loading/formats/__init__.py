"""The formats that can be loaded, each with its sign; no format knows a store, and no store a format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from backend.errors import Malformed
from backend.loading.bundle import bundle_in
from backend.loading.files import readable
from backend.loading.formats import graphrag, light_rag, nano_graphrag
from backend.loading.formats.base import Source
from backend.loading.formats.places import Place, place_at

# In the order in which they are tried.
FORMATS: tuple[Callable[[Place], Source | None], ...] = (
    graphrag.recognise,
    light_rag.recognise,
    nano_graphrag.recognise,
)


def recognise(path: Path) -> Source:
    """What is at a path, its rows still unread; its `format` says what it is and by which sign.

    Raises Malformed when it is absent, unreadable, an archive with an entry that points outside, or nothing that can be
    loaded.
    """
    if bundle := bundle_in(path):
        return bundle
    place = place_at(path)
    for recognise_one in FORMATS:
        if source := recognise_one(place):
            return source
    raise Malformed(
        f"{readable(str(path))} is nothing that can be loaded.",
        hint="Give a bundle (documents.jsonl, passages.jsonl …), or the output folder of Microsoft GraphRAG,"
        " nano-graphrag or LightRAG; or a .zip of one.",
    )
