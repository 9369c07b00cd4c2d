"""Ids are UUIDv5, and no two different lists of parts share one."""

from __future__ import annotations

from uuid import UUID, uuid5

import orjson
from hypothesis import given
from hypothesis import strategies as st

from backend.identity import NAMESPACE, is_canonical, stable_id

PARTS = st.lists(st.text(), min_size=1, max_size=4)


@given(PARTS)
def test_an_id_is_the_uuid5_of_its_parts(parts: list[str]) -> None:
    assert stable_id(*parts) == str(uuid5(NAMESPACE, orjson.dumps(parts).decode()))


@given(PARTS)
def test_an_id_is_canonical(parts: list[str]) -> None:
    assert is_canonical(stable_id(*parts))
    assert UUID(stable_id(*parts)).version == 5


@given(PARTS, PARTS)
def test_other_parts_have_another_id(first: list[str], second: list[str]) -> None:
    assert (stable_id(*first) == stable_id(*second)) == (first == second)
