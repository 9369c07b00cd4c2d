"""Collections on disk, each a folder of its own with a Chroma of its own inside it.

It is written as `NAME~TOKEN.part` and renamed to `NAME~TOKEN` when it is complete, so nobody ever opens one that is
half written, no reader shares a database with a writer, two processes never set up the same database, and what is
dropped leaves the disk at once. The token makes every path new: Chroma keeps what it opened by path, and would show the
old one.

(One folder for all was measured too: a fresh one failed when two processes opened it at the same moment, readers waited
up to a second for the writer's locks, and the files of dropped collections stayed for good.) One more open Chroma costs
20 ms, 1 MB, 6 file handles and 6 idle threads.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from backend.errors import StoreUnreachable
from backend.vectors.chroma import driver
from backend.vectors.chroma.places import Opened, Owner

_PART, _TRASH, _OWNER = ".part", ".trash", "owner.json"


def open_folders(root: Path) -> Folders:
    """The collections below a folder, which is made when the first of them is."""
    if root.exists() and not root.is_dir():
        raise StoreUnreachable(f"The vector store {root} is not a folder.", hint="Check ATTEST_HOME.")
    return Folders(root.absolute())


class Folders:
    """A Place on disk."""

    hint = "Check that its folder is there, can be written, and that the disk is not full."

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def name(self) -> str:
        return str(self._root)

    def owner(self) -> Owner | None:
        try:
            return Owner(**json.loads((self._root / _OWNER).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def claim(self, owner: Owner) -> None:
        if (self._root / _OWNER).exists():
            return
        self._root.mkdir(parents=True, exist_ok=True)
        written = self._root / f"{_OWNER}.{secrets.token_hex(4)}"
        written.write_text(json.dumps(asdict(owner)), encoding="utf-8")
        _to_disk(written)
        with suppress(FileExistsError):
            os.link(written, self._root / _OWNER)  # whole, and only for the first
        written.unlink()
        _to_disk(self._root)

    def create(self, name: str, metadata: driver.Metadata) -> Opened:
        path = self._root / f"{name}~{secrets.token_hex(4)}{_PART}"
        path.mkdir(parents=True)
        return Opened(driver.create_in(path, name, metadata))

    def reopen(self, name: str) -> Opened:
        return self._open(name, self._folders(name, _PART)[-1])

    def publish(self, name: str) -> None:
        part = self._folders(name, _PART)[-1]
        for path in [*part.rglob("*"), part]:
            _to_disk(path)
        part.rename(part.with_name(part.name.removesuffix(_PART)))
        _to_disk(self._root)

    def open(self, name: str) -> Opened | None:
        for path in self._folders(name):
            with _held(path, fcntl.LOCK_SH) as there:
                if there:
                    return self._open(name, path)
        return None

    def remove(self, name: str) -> None:
        for path in self._folders(name) + self._folders(name, _PART):
            with _held(path, fcntl.LOCK_EX) as there:
                if there:
                    path.rename(path.with_name(path.name + _TRASH))
        for path in self._root.glob(f"*~*{_TRASH}"):
            shutil.rmtree(path, ignore_errors=True)

    def names(self) -> list[str]:
        return sorted({path.name.partition("~")[0] for path in self._root.glob("*~*") if path.suffix != _TRASH})

    def version(self) -> str:
        return f"Chroma {driver.VERSION}, on disk"

    def close(self) -> None:
        pass  # each collection has a Chroma of its own, which its users close

    def _folders(self, name: str, end: str = "") -> list[Path]:
        return sorted(self._root.glob(f"{name}~{'[0-9a-f]' * 8}{end}"))

    def _open(self, name: str, path: Path) -> Opened:
        return Opened(driver.open_in(path, name), gone=lambda: not path.exists())


@contextmanager
def _held(path: Path, how: int) -> Iterator[bool]:
    """Whether a folder is still there, and stays while the block runs.

    Who opens one shares it, who removes it has it alone: a Chroma whose files go while it reads them for the first time
    can wait for itself forever. Once it is open it needs them no more.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(handle, how)
        yield path.exists()
    finally:
        os.close(handle)


def _to_disk(path: Path) -> None:
    """Asks the system to write a file or folder now: a commit that follows says that it is there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
