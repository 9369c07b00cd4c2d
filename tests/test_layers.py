"""Imports point down (design 4), and each driver is imported in exactly one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("backend", "components", "pages")
FILES = [ROOT / "app.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
FILES = [path for path in FILES if path.exists()]

# From top to bottom; a file may import from its own layer and from those below. What several files share is one layer.
LAYERS = (
    {"app"},
    {"pages"},
    {"components"},
    {"backend.cli"},
    {"backend.report"},
    {"backend.engine"},
    {"backend.explorer"},
    {"backend.evaluation"},
    {"backend.loading", "backend.status"},
    {"backend.answers"},
    {"backend.retrieval"},
    {"backend.search", "backend.passages", "backend.walks", "backend.communities"},
    {"backend.ranking", "backend.names", "backend.statements"},
    {"backend.stores", "backend.vectors"},
    {"backend.settings", "backend.stopwatch"},
    {"backend.scope"},
    {"backend.sentences", "backend.dates", "backend.questions", "backend.communities.values"},
    # What is said to a model is below all that asks one; answers are only the first to do so.
    {"backend.answers.base", "backend.answers.quoting"},
    {"backend.models", "backend.errors", "backend.identity", "backend.words", "backend.data_citations"},
)
DRIVERS = {
    "neo4j": "backend/stores/neo4j/driver.py",
    "sqlite3": "backend/stores/sqlite/driver.py",
    "chromadb": "backend/vectors/chroma/driver.py",
    "httpx": "backend/vectors/chroma/driver.py",
    "openai": "backend/answers/openai.py",
    "sentence_transformers": "backend/vectors/encoder.py",
    "graspologic_native": "backend/communities/leiden.py",
    "pyarrow": "backend/loading/formats/parquet.py",
    "sentencex": "backend/sentences.py",
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it; `from a import b` gives both `a` and `a.b`."""
    package = module_name(path).split(".")
    package = package if path.name == "__init__.py" else package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer(module: str) -> int | None:
    """The number of the layer of a module of ours; the longest name decides."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        for number, names in enumerate(LAYERS):
            if ".".join(parts[:length]) in names:
                return number
    return None


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_point_down(path: Path) -> None:
    own = layer(module_name(path))
    assert own is not None or path.stat().st_size == 0 or module_name(path) == "backend", "in no layer"
    upwards = {name for name in imports(path) if (other := layer(name)) is not None and own is not None and other < own}
    assert not upwards


@pytest.mark.parametrize("driver", DRIVERS)
def test_driver_is_imported_in_one_file(driver: str) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for path in FILES
        if any(name == driver or name.startswith(f"{driver}.") for name in imports(path))
    }
    assert files == {DRIVERS[driver]}


def test_streamlit_is_imported_only_above_the_backend() -> None:
    backend = [path for path in FILES if module_name(path).startswith("backend")]
    assert backend
    assert not [path for path in backend if any(name.split(".")[0] == "streamlit" for name in imports(path))]


@pytest.mark.parametrize("path", [path for path in FILES if not {"sqlite", "neo4j"} & set(path.parts)], ids=module_name)
def test_queries_are_written_in_the_stores(path: Path) -> None:
    assert not path.is_relative_to(ROOT / "backend") or not [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.lstrip().startswith(("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "CREATE "))
    ]
