"""The collector of issues: counts, examples and their order."""

from __future__ import annotations

from typing import get_args

from backend.loading.issues import SENTENCES, Issues, LeftOut, Repair


def test_nothing_wrong_is_an_empty_report() -> None:
    assert Issues().report() == ()


def test_each_kind_is_counted_with_its_first_five_places() -> None:
    issues = Issues()
    for line in range(1, 9):
        issues.left_out("missing_end", "relations.jsonl", line, "no entity 'e9'")
    (issue,) = issues.report()
    assert (issue.count, len(issue.examples)) == (8, 5)
    assert issue.examples[0] == "relations.jsonl:1: no entity 'e9'"


def test_the_order_of_the_report_is_that_of_the_sentences() -> None:
    issues = Issues()
    issues.repaired("nul", "a", 1)
    issues.left_out("used_id", "a", 2)
    issues.left_out("not_json", "a", 3)
    assert [(issue.kind, issue.repaired) for issue in issues.report()] == [
        ("not_json", False),
        ("used_id", False),
        ("nul", True),
    ]


def test_a_place_without_a_detail_says_what_the_kind_is() -> None:
    issues = Issues()
    issues.repaired("nul", "documents.jsonl", 4)
    assert issues.report()[0].examples == (f"documents.jsonl:4: {SENTENCES['nul']}",)


def test_a_whole_file_counts_its_rows() -> None:
    issues = Issues()
    issues.left_out("claim_of_nothing", "claims.jsonl", None, "12 claims", count=12)
    (issue,) = issues.report()
    assert (issue.count, issue.examples) == (12, ("claims.jsonl: 12 claims",))


def test_every_kind_has_a_sentence() -> None:
    assert tuple(SENTENCES) == (*get_args(LeftOut), *get_args(Repair))
