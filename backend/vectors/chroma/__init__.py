"""The vectors in Chroma: in folders on disk, or on a server.

    index ─► rows ─► driver          what is asked and answered; how vectors become rows; the only import of chromadb
      └────► folders, server ─► places      where collections are, and when others see them

Chroma's threads do not survive a fork: a process that has used an index on disk must start others, never fork.
"""

from __future__ import annotations

from pathlib import Path

from backend.vectors.chroma.folders import open_folders
from backend.vectors.chroma.index import ChromaIndex
from backend.vectors.chroma.places import Owner
from backend.vectors.chroma.server import Server


def open_chroma(place: Path | str, *, identity: str = "", graph: str = "") -> ChromaIndex:
    """Opens the vectors below a folder, which is made when the first collection is, or on the server at an address.

    `identity` is that of the graph store to which they belong, `graph` how people know it: the first to write leaves
    both there, and whoever comes later with another identity is refused.
    """
    where = open_folders(place) if isinstance(place, Path) else Server(place)
    return ChromaIndex(where, Owner(identity, graph) if identity else None)


__all__ = ["ChromaIndex", "open_chroma"]
