"""What every format needs of folders and .zip archives: their names, and refusing what is damaged or means harm."""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from pathlib import Path

from backend.errors import Malformed

# What the standard library raises for a file that is cut off or damaged. ValueError: names in an archive that
# are no text. NotImplementedError: features of archives that it does not know.
DAMAGE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError, NotImplementedError)

_DRIVE = re.compile(r"[A-Za-z]:")
_ENCRYPTED_OR_PATCHED = 0x1 | 0x20 | 0x40


def parts(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    """The folders of an entry, and its name."""
    return tuple(part for part in entry.filename.replace("\\", "/").split("/") if part not in ("", "."))


def refuse_outside(entry: zipfile.ZipInfo) -> None:
    """Raises Malformed for an entry that is no regular file within the archive."""
    # Nothing is ever unpacked to a disk; but who packs such an entry means harm, or what we would not do.
    name = entry.filename
    outside = name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in parts(entry)
    file_type = stat.S_IFMT(entry.external_attr >> 16)
    if outside or file_type not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Malformed(
            f"The archive's entry {readable(name)!r} points outside the archive or is not a regular file.",
            hint="Pack the folder again, without links and with relative names.",
        )


def refuse_unknown_packing(entry: zipfile.ZipInfo, name: str) -> None:
    """Raises Malformed for an entry that is encrypted or needs more than the standard library to unpack."""
    packed = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not packed or entry.flag_bits & _ENCRYPTED_OR_PATCHED:
        raise Malformed(
            f"The archive's entry {name} is encrypted or packed in an unusual way.",
            hint="Pack the folder again, without a password and with the method deflate.",
        )


def damaged(name: str, error: Exception) -> Malformed:
    """The error for a file that cannot be read to its end."""
    return Malformed(f"{name} is cut off or damaged: {error}.", hint="Nothing was loaded; make the file again.")


def dataset_name(path: Path) -> str:
    """The name of a folder, or of a file without its ending."""
    absolute = Path(os.path.abspath(path))  # makes a name of `.`, and keeps that of a link
    return readable(absolute.name if path.is_dir() else absolute.stem)


def readable(name: str) -> str:
    """The name as text that every output takes."""
    # A name on a disk may be bytes that are no text; no output and no store would take them.
    return os.fsencode(name).decode("utf-8", "replace")
