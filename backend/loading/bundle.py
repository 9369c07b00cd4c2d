"""A bundle: a folder, or a .zip of one, with a file of JSON lines for each kind of row, plain or gzipped.

It is read as a stream and may be read several times. What is wrong with a row goes to the issues and costs no
other row; what is wrong with a file is Malformed and ends the load.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Generic, cast

from backend.errors import Malformed
from backend.loading.files import DAMAGE, damaged, dataset_name, parts, readable, refuse_outside, refuse_unknown_packing
from backend.loading.issues import Issues
from backend.loading.rows import BadRow, Earlier, Fields, R, decode

KINDS = (
    *("documents", "passages", "topics", "statements", "entities", "mentions", "relations", "facts"),
    *("claims", "communities", "reports"),
)
MAX_ROW_BYTES = 16 * 2**20

_BUFFER = 2**18
_FILE = re.compile(rf"({'|'.join(KINDS)})\.(?:jsonl|ndjson)(?:\.gz)?", re.ASCII | re.IGNORECASE)
_QUESTIONS = re.compile(r"questions\.(?:jsonl|ndjson)(?:\.gz)?", re.ASCII | re.IGNORECASE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HINT = f"A bundle has files like documents.jsonl or passages.jsonl.gz; the kinds are {', '.join(KINDS)}."


@dataclass(frozen=True, slots=True)
class _Source:
    """One file of a bundle: where it is, and its name as issues show it."""

    path: Path
    name: str
    size: int
    entry: zipfile.ZipInfo | None = None

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes as they are stored in the folder or the archive, a .gz still compressed."""
        with ExitStack() as stack:
            if self.entry is None:
                yield stack.enter_context(self.path.open("rb", buffering=0))
            else:
                archive = stack.enter_context(zipfile.ZipFile(self.path))
                yield stack.enter_context(archive.open(self.entry))


class _Lines:
    """The lines of a file with their numbers; None for one that is too long, of which nothing is kept."""

    def __init__(self, source: _Source) -> None:
        self.source = source
        self._stored: IO[bytes] | None = None

    @property
    def position(self) -> int:
        """How many bytes of the stored file were read."""
        if self._stored is None:
            return 0
        return self.source.size if self._stored.closed else min(self._stored.tell(), self.source.size)

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        try:
            with self.source.opened() as self._stored, self._unpacked(self._stored) as stream:
                yield from self._numbered(stream)
        except DAMAGE as error:
            raise damaged(self.source.name, error) from error

    def _unpacked(self, stored: IO[bytes]) -> io.BufferedReader:
        raw = gzip.GzipFile(fileobj=stored) if self.source.name.lower().endswith(".gz") else stored
        return io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER)

    def _numbered(self, stream: io.BufferedReader) -> Iterator[tuple[int, bytes | None]]:
        limit = MAX_ROW_BYTES + 1  # with its line feed
        for number, line in enumerate(iter(partial(stream.readline, limit), b""), start=1):
            if number == 1 and line.startswith(_BYTE_ORDER_MARK):
                line = line.removeprefix(_BYTE_ORDER_MARK)
            if len(line) >= limit and not line.endswith(b"\n"):
                while (rest := stream.readline(_BUFFER)) and not rest.endswith(b"\n"):
                    pass
                yield number, None
            elif line and not line.isspace():
                yield number, line


class Rows(Generic[R]):
    """The good rows of one file, in order and as a stream; iterate once, since that notes the issues."""

    def __init__(self, of: type[R], source: _Source | None, issues: Issues) -> None:
        self.file = source.name if source else of.kind
        self.size = source.size if source else 0
        self.read = 0  # rows so far, good and bad; blank lines are none
        self._of = of
        self._lines = _Lines(source) if source else None
        self._issues = issues

    @property
    def position(self) -> int:
        """How many of the `size` bytes were read."""
        return self._lines.position if self._lines else 0

    def __iter__(self) -> Iterator[R]:
        earlier = Earlier()
        for number, line in self._lines or ():
            self.read += 1
            try:
                if line is None:
                    raise BadRow("too_long", f"over {MAX_ROW_BYTES >> 20} MiB")
                fields, repairs = decode(line)
                row = self._of.read(fields, number, earlier)
            except BadRow as bad:
                self._issues.left_out(bad.kind, self.file, number, bad.detail)
                continue
            for repair in repairs:
                self._issues.repaired(repair, self.file, number)
            yield row


class Bundle:
    """The files of a bundle by kind; `name` is the folder's, or the archive's without its ending."""

    def __init__(self, name: str, sources: dict[str, _Source]) -> None:
        self.name = name
        self.format = f"a bundle: there is {next(iter(sources.values())).name}"
        self.kinds = tuple(kind for kind in KINDS if kind in sources)
        self._sources = sources

    def rows(self, of: type[R], issues: Issues) -> Rows[R]:
        """The rows of a kind, `bundle.rows(EntityRow, issues)`; none where the bundle has no such file."""
        return Rows(of, self._sources.get(of.kind), issues)

    def size(self, kind: str) -> int:
        """The bytes of a kind's file as it is stored."""
        source = self._sources.get(kind)
        return source.size if source else 0


def bundle_in(path: Path) -> Bundle | None:
    """The bundle at a path; None where no file of one is there. Raises Malformed like `open_bundle`."""
    sources = _sources(path)
    return Bundle(dataset_name(path), _by_kind(sources)) if sources else None


def open_bundle(path: Path) -> Bundle:
    """The bundle at a path, its rows still unread.

    Raises Malformed when it is absent or unreadable, has no file of a bundle or two of a kind, or is an
    archive with an entry that points outside; reading the rows does so where a file turns out to be cut off.
    """
    bundle = bundle_in(path)
    if bundle is None:
        raise Malformed(f"{readable(str(path))} has no file of a bundle.", hint=_HINT)
    return bundle


def _sources(path: Path) -> list[_Source]:
    shown = readable(str(path))
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return list(_in_folder(path))
        if stat.S_ISREG(mode):
            return list(_in_archive(path))
    except (FileNotFoundError, NotADirectoryError):
        raise Malformed(f"{shown} does not exist.", hint="Give a folder, or a .zip of one.") from None
    except zipfile.BadZipFile as error:
        raise Malformed(
            f"{shown} is no .zip archive, or is cut off.", hint="Give a folder, or a .zip of one."
        ) from error
    except DAMAGE as error:
        raise Malformed(f"{shown} cannot be read: {error}.", hint="Give a folder, or a .zip of one.") from error
    raise Malformed(f"{shown} is neither a folder nor a file.", hint=_HINT)


def question_rows(path: Path) -> Iterator[tuple[int, Fields]]:
    """The rows of a bundle's `questions`, which are for evaluation and never loaded, with their lines.

    Raises Malformed where there are none, and for a line that is no object.
    """
    open_bundle(path)
    found = list(_in_folder(path, _QUESTIONS)) if path.is_dir() else list(_in_archive(path, _QUESTIONS))
    if not found:
        raise Malformed(f"{readable(str(path))} has no questions.", hint="They are in questions.jsonl or .jsonl.gz.")
    for number, line in _Lines(found[0]):
        try:
            yield number, decode(line or b"")[0]
        except BadRow as bad:
            raise Malformed(f"{found[0].name}:{number}: {bad.detail}.", hint="Mend that line.") from None


# --- folders ------------------------------------------------------------------------------------------------


def _in_folder(folder: Path, names: re.Pattern[str] = _FILE) -> Iterator[_Source]:
    for file in sorted(folder.iterdir()):
        if not names.fullmatch(file.name):
            continue
        try:
            status = file.stat()  # of what a link leads to
        except OSError as error:
            raise Malformed(f"{readable(str(file))} cannot be read: {error.strerror}.") from error
        if not stat.S_ISREG(status.st_mode):
            raise Malformed(f"{readable(str(file))} is not a regular file.")
        yield _Source(file, file.name, status.st_size)


# --- archives -----------------------------------------------------------------------------------------------


def _in_archive(path: Path, names: re.Pattern[str] = _FILE) -> Iterator[_Source]:
    """The files of a bundle at the top of an archive, or else in the only folder there that has any."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    for entry in entries:
        refuse_outside(entry)
    found: dict[tuple[str, ...], list[_Source]] = {}
    for entry in entries:
        *folders, name = parts(entry) or ("",)
        if len(folders) <= 1 and names.fullmatch(name) and not entry.is_dir():
            found.setdefault(tuple(folders), []).append(_Source(path, name, entry.file_size, entry))
    if () not in found and len(found) > 1:
        shown = ", ".join(sorted(repr(folder[0]) for folder in found))
        raise Malformed(f"The archive has a bundle in each of {shown}.", hint="Pack one by itself.")
    for source in found.get((), next(iter(found.values()), [])):
        assert source.entry is not None
        refuse_unknown_packing(source.entry, source.name)
        yield source


# --- names ----------------------------------------------------------------------------------------------------


def _by_kind(sources: Iterable[_Source]) -> dict[str, _Source]:
    by_kind: dict[str, _Source] = {}
    for source in sources:
        kind = source.name.partition(".")[0].lower()
        if other := by_kind.get(kind):
            raise Malformed(f"The bundle has both {other.name} and {source.name}.", hint="Keep one of them.")
        if source.size == 0 and source.name.lower().endswith(".gz"):
            raise damaged(source.name, EOFError("it is empty"))
        by_kind[kind] = source
    return by_kind
