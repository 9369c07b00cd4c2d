"""What a report cites is read in every spelling that real reports have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.data_citations import DataCitation, find


def cited(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.number) for one in find(text)]


def test_each_number_has_its_kind_its_place_and_whether_there_are_more() -> None:
    text = "Ünïq 🜁 [Data: Entities (5, 17); Reports (2, +more)]."
    assert [(*one, text[one.start : one.end]) for one in find(text)] == [
        ("entity", "5", 24, 25, False, "5"),
        ("entity", "17", 27, 29, False, "17"),
        ("community", "2", 41, 42, True, "2"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Data: Entities (5), Relationships (3, 8)]", [("entity", "5"), ("relation", "3"), ("relation", "8")]),
        ("[Data: Entity (5); Relationship (3)]", [("entity", "5"), ("relation", "3")]),
        ("[data: relationships (3); claims (1); sources (0)]", [("relation", "3"), ("claim", "1"), ("passage", "0")]),
        ("[Data: Entities (226; 250)]", [("entity", "226"), ("entity", "250")]),
        ("[Data: Entities (130, 138, ..., 894)]", [("entity", "130"), ("entity", "138"), ("entity", "894")]),
        ("[Data: Reports (1131-1134)]", [("community", str(n)) for n in range(1131, 1135)]),
        ("[Data: Reports (644 to 648)]", [("community", str(n)) for n in range(644, 649)]),
        ("[Data: Reports (9–7)]", [("community", "9"), ("community", "7")]),
        ("[Data: Reports (-1)]", [("community", "-1")]),
        ("[Data: Entities (record 1095); Claims (id 666)]", [("entity", "1095"), ("claim", "666")]),
        ("[Data: Entities (SGS)]", [("entity", "SGS")]),
        ("[Data: Entities (ada-1, PANEL (IN THE BASE))]", [("entity", "ada-1"), ("entity", "PANEL (IN THE BASE)")]),
        ("[Data: Events (4); KG (1)]", [("Events", "4"), ("KG", "1")]),
        ("[Data: Text Units (4); Source documents (2)]", [("passage", "4"), ("document", "2")]),
        ("[Data: Community Reports (4)]", [("community", "4")]),
        ("[Data: Entities 5, 6; Reports 7]", [("entity", "5"), ("entity", "6"), ("community", "7")]),
        ("[Data: Entities: 5 and 6]", [("entity", "5"), ("entity", "6")]),
        ("[Data: Entities (5) and (6)]", [("entity", "5"), ("entity", "6")]),
        ("[Data: 5, 6]", [("", "5"), ("", "6")]),
        ("[Data: Entities (5)\nno bracket 7", [("entity", "5")]),
        ("[Data: Entities (5), [Data: Reports (2)]", [("entity", "5"), ("community", "2")]),
        ("as Entities (5, 7) and Reports (2, +more) show", [("entity", "5"), ("entity", "7"), ("community", "2")]),
        ("(Data: Entities (5))", [("entity", "5")]),
        ("the entities (about 5) and Reports (of 2020), [1], see 7", []),
        ("", []),
    ],
)
def test_spelling(text: str, expected: list[tuple[str, str]]) -> None:
    assert cited(text) == expected


@pytest.mark.parametrize("text", ["[Data: Reports (2, +more)]", "[Data: Reports (2, ...)]", "[Data: Reports (2, …)]"])
def test_that_there_are_more_is_told(text: str) -> None:
    assert [one.more for one in find(text)] == [True]


def test_a_range_has_at_most_fifty_numbers_and_then_more() -> None:
    whole, cut = find("[Data: Reports (1-50)]"), find("[Data: Reports (1-51)]")
    assert [one.number for one in whole] == [one.number for one in cut] == [str(n) for n in range(1, 51)]
    assert ({one.more for one in whole}, {one.more for one in cut}) == ({False}, {True})


def test_what_is_within_a_range_is_nowhere_in_the_text() -> None:
    assert find("[Data: Reports (3-5)]") == (
        DataCitation("community", "3", 16, 17),
        DataCitation("community", "4", 17, 17),
        DataCitation("community", "5", 18, 19),
    )


def test_numbers_of_any_length_are_read() -> None:
    digits = "9" * 10_000
    assert cited(f"[Data: Reports ({digits}-{digits}1)]") == [("community", digits), ("community", f"{digits}1")]


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 1_000_000, "[Data:" * 200_000, "[Data:(" * 200_000, "(" * 1_000_000, "[Data: " + "(" * 1_000_000),
        *(
            "[Data: Entities (" + "5 " * 500_000,
            "Entities (5" * 100_000,
            "Entities (" + " " * 1_000_000,
            "[ " * 500_000,
        ),
        *("[Data: Entities (" + "5" * 1_000_000, "[Data: " + "a" * 1_000_000 + "]", "[Data: " + "a(" * 500_000 + "]"),
        *("[Data: " + "a " * 500_000 + "]", "[Data: " + ";" * 1_000_000 + "]", "[" + " " * 1_000_000),
        *("[Data: Entities (" + "5-" * 500_000 + ")]", "[Data: Entities (" + " - " * 300_000 + "5)]"),
    ],
    ids=lambda text: f"{text[:20]}x{len(text)}",
)
def test_a_megabyte_of_anything_is_read(text: str) -> None:
    assert all(0 <= one.start <= one.end <= len(text) for one in find(text))


@given(st.text(alphabet="[]()Data: Entitsp5,;-.+more\n", max_size=200))
def test_places_are_in_the_text_and_in_order(text: str) -> None:
    found = find("[Data:" + text)
    starts = [one.start for one in found]
    assert starts == sorted(starts)
    assert all(one.start == one.end or ("[Data:" + text)[one.start : one.end] == one.number for one in found)
