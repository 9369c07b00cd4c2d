"""The files below a path: a folder's or a .zip archive's, found without unpacking anything."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from backend.errors import Malformed
from backend.loading.files import (
    DAMAGE,
    damaged,
    dataset_name,
    parts,
    readable,
    refuse_outside,
    refuse_unknown_packing,
)
from backend.loading.formats.limits import MAX_DEPTH, MAX_ENTRIES, MAX_FILE_BYTES

_HINT = "Give a folder, or a .zip of one."


@dataclass(frozen=True, slots=True)
class Place:
    """A path, and the regular files below it by their names relative to it."""

    path: Path
    files: tuple[PurePosixPath, ...]
    _entries: Mapping[PurePosixPath, zipfile.ZipInfo] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a dataset from here is called."""
        return dataset_name(self.path)

    def open(self, file: PurePosixPath, limit: int = MAX_FILE_BYTES) -> IO[bytes]:
        """The file, from its beginning and seekable; raises Malformed for one over the limit or damaged."""
        try:
            if (entry := self._entries.get(file)) is not None:
                return BytesIO(self._unpacked(entry, readable(file.name), limit))
            path = self.path / file
            if path.stat().st_size > limit:
                raise too_large(readable(file.name), limit)
            return path.open("rb")
        except DAMAGE as error:
            raise damaged(readable(file.name), error) from error

    def read(self, file: PurePosixPath, limit: int = MAX_FILE_BYTES) -> bytes:
        """All of the file; raises Malformed like `open`."""
        try:
            with self.open(file, limit) as stream:
                return stream.read()
        except DAMAGE as error:
            raise damaged(readable(file.name), error) from error

    def _unpacked(self, entry: zipfile.ZipInfo, name: str, limit: int) -> bytes:
        refuse_unknown_packing(entry, name)
        with zipfile.ZipFile(self.path) as archive, archive.open(entry) as stream:
            content = stream.read(limit + 1)  # whatever size the archive promises
        if len(content) > limit:
            raise too_large(name, limit)
        return content


def place_at(path: Path) -> Place:
    """The files below a path, no link followed.

    Raises Malformed when it is absent, unreadable, no folder and no archive, or an archive with an entry that points
    outside.
    """
    shown = readable(str(path))
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return Place(path, _in_folder(path))
        if stat.S_ISREG(mode):
            return _in_archive(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Malformed(f"{shown} does not exist.", hint=_HINT) from None
    except zipfile.BadZipFile as error:
        raise Malformed(f"{shown} is no .zip archive, or is cut off.", hint=_HINT) from error
    except DAMAGE as error:
        raise Malformed(f"{shown} cannot be read: {error}.", hint=_HINT) from error
    raise Malformed(f"{shown} is neither a folder nor a file.", hint=_HINT)


def too_large(name: str, limit: int) -> Malformed:
    """The error for a file over a limit of so many bytes."""
    return Malformed(f"{name} is larger than {limit >> 20} MiB.", hint="No index that was seen comes near that size.")


def _in_folder(folder: Path) -> tuple[PurePosixPath, ...]:
    files: list[PurePosixPath] = []
    seen = 0
    for current, folders, names in os.walk(folder):
        below = Path(current).relative_to(folder)
        folders[:] = sorted(folders) if len(below.parts) < MAX_DEPTH else []
        seen += len(folders) + len(names)
        if seen > MAX_ENTRIES:
            raise Malformed(
                f"{readable(str(folder))} holds more than {MAX_ENTRIES:,} files.", hint="Give the folder of the index."
            )
        for name in sorted(names):
            if stat.S_ISREG(os.lstat(Path(current) / name).st_mode):
                files.append(PurePosixPath(*below.parts, name))
    return tuple(files)


def _in_archive(path: Path) -> Place:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise Malformed(f"The archive has more than {MAX_ENTRIES:,} entries.", hint="Pack the folder of the index.")
    for entry in entries:
        refuse_outside(entry)
    named = {PurePosixPath(*parts(entry)): entry for entry in entries if not entry.is_dir() and parts(entry)}
    return Place(path, tuple(sorted(named)), named)
