"""Embedded stores whose files are taken away while they are open."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import IndexNotReady, StoreUnreachable
from backend.explorer import Explorer
from backend.models import EntityQuery, Mode, WalkQuery
from tests.explorers import open_test_explorer
from tests.world import FIRST, SECOND, entity
from tests.worlds import outcome, run

IDA = EntityQuery("ida berg", mode=Mode.HYBRID)
WALK = WalkQuery(entity("ida"), depth=2)


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Explorer]:
    """The small world in a SQLite file, and its vectors in a Chroma on disk."""
    explorer = open_test_explorer(tmp_path / "home")
    run(explorer, FIRST, tmp_path)
    yield explorer
    explorer.close()


def test_vectors_that_were_deleted_are_named_and_made_again_under_the_open_explorer(harbour: Explorer) -> None:
    before = outcome(harbour.search, IDA)
    shutil.rmtree(harbour.settings.home / "vectors")
    assert outcome(harbour.search, IDA) == before  # it has them open
    fresh = open_test_explorer(harbour.settings.home)
    with pytest.raises(IndexNotReady) as raised:
        fresh.search(IDA)
    assert (raised.value.details["index"], raised.value.details["remedy"]) == ("vector", "attest index")
    assert fresh.search(EntityQuery("ida", mode=Mode.LEXICAL)).hits[0].name == "Ida Berg"
    assert fresh.walk(WALK).edges == harbour.walk(WALK).edges
    assert harbour.build_indexes()[-4] == "8 names encoded"
    assert outcome(harbour.search, IDA) == outcome(fresh.search, IDA) == before
    fresh.close()


@pytest.mark.parametrize("is_anew", [False, True], ids=["removed", "made anew"])
def test_graph_whose_file_is_gone_is_never_mixed_with_what_is_there_now(
    harbour: Explorer, tmp_path: Path, is_anew: bool
) -> None:
    home = harbour.settings.home
    for file in home.glob("graph.sqlite*"):
        file.unlink()
    if is_anew:
        open_test_explorer(home).close()
    for ask in (lambda: harbour.search(IDA), harbour.catalog, harbour.status, lambda: run(harbour, SECOND, tmp_path)):
        with pytest.raises(StoreUnreachable, match="was removed or replaced while it was open"):
            ask()
    assert (home / "graph.sqlite").exists() == is_anew
