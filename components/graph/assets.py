"""The scripts of the graph view, put where Streamlit serves files from.

vis-network lies in the pyvis package and is 470 KB: sent with a component it would travel again with every change of
the graph. As a file it is fetched once. It is copied and not kept in the repository; the copies lie in `static/` beside
app.py (`server.enableStaticServing`), in a folder named by their content, so that no browser uses an outdated one.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from backend.errors import NotConfigured

STATIC = Path(__file__).resolve().parents[2] / "static"
_OWN = Path(__file__).resolve().parent / "assets"
_DAY = 24 * 3600
_LIBRARY = "lib/vis-9.1.2/vis-network.min.js"


@cache
def published(static: Path = STATIC) -> str:
    """Where the browser finds the scripts, relative to the page's root; copies them there when they are missing."""
    sources = [*sorted(_OWN.glob("*.js")), _library()]
    contents = {source.name: source.read_bytes() for source in sources}
    digest = hashlib.sha256(b"".join(name.encode() + b"\0" + text for name, text in contents.items())).hexdigest()
    folder = static / f"graph-{digest[:12]}"
    if not folder.is_dir():
        _write(contents, folder)
    return f"app/static/{folder.name}/"


def _library() -> Path:
    spec = find_spec("pyvis")  # found, not imported: that would cost a second of every start
    for place in (spec and spec.submodule_search_locations) or ():
        if (path := Path(place) / _LIBRARY).is_file():
            return path
    raise NotConfigured(
        f"The graph cannot be drawn: the installed pyvis has no {_LIBRARY}.",
        hint="Install the version of pyvis in constraints.txt.",
    )


def _write(contents: dict[str, bytes], folder: Path) -> None:
    """All files or none: written aside, then renamed in one step. Whoever comes second finds them there."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".graph-", dir=folder.parent))
    except OSError as error:
        raise NotConfigured(
            f"The scripts of the graph cannot be put into {folder.parent}: {error.strerror}.",
            hint="Make the folder writable once, or run the application as its owner.",
        ) from error
    try:
        for name, text in contents.items():
            (aside / name).write_bytes(text)
        aside.chmod(0o755)
        aside.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _tidy(folder)


def _tidy(folder: Path) -> None:
    """Remove what earlier versions left, unless a server that still runs may have put it there today."""
    for other in folder.parent.glob("graph-*"):
        if other != folder and other.stat().st_mtime < time.time() - _DAY:
            shutil.rmtree(other, ignore_errors=True)
