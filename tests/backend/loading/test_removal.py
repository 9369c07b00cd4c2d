"""What a removal leaves in the vector store: nothing that the graph does not know of."""

from __future__ import annotations

from pathlib import Path

from backend.explorer import Explorer
from tests.bundles import fleet, write_bundle
from tests.world import DATASET


def test_vectors_go_with_the_dataset(small_world: Explorer, folder: Path) -> None:
    small_world.load([write_bundle(folder / "fleet", **fleet(3))], dataset="fleet")
    small_world.remove(dataset=DATASET)
    checks = small_world.status(check=True).check or ()
    assert [check.collection.partition("-")[0] for check in checks] == ["entity", "chunk", "topic", "statement"]
    assert all(check.stored == check.recorded > 0 for check in checks)
    small_world.remove(dataset="fleet")
    assert small_world.status(check=True).check == ()
