"""Statements, topics and facts in every store: those of a bundle as they are, else what is derived from the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend.explorer import Explorer
from backend.identity import stable_id
from backend.models import DatasetCounts, LoadReport, Scope, WalkQuery
from backend.scope import resolve
from backend.stores.lexical import Content
from backend.words import words
from tests.bundles import Rows, write_bundle

FIRST = "The Heron sank off Skerry in 1921. Ida Berg kept the light. Nobody saw it."
GIVEN: dict[str, Rows] = {
    "documents": [{"id": "gazette", "title": "Gazette"}],
    "passages": [
        {"id": "p1", "document_id": "gazette", "text": FIRST, "heading": "Wrecks"},
        {"id": "p2", "document_id": "gazette", "text": "A letter of the keeper."},
    ],
    "entities": [
        {"id": "heron", "name": "Heron", "type": "Ship"},
        {"id": "ida", "name": "Ida Berg", "type": "Person"},
        {"id": "skerry", "name": "Skerry"},
    ],
    "mentions": [
        {"entity_id": "heron", "passage_id": "p1", "start": 4, "end": 9},
        {"entity_id": "ida", "passage_id": "p1"},
    ],
    "relations": [{"source": "ida", "target": "skerry", "type": "LIVED ON", "passage_ids": ["p2"]}],
    "topics": [{"id": "t1", "document_id": "gazette", "title": "The wreck", "passage_ids": ["p1", "nowhere"]}],
    "statements": [
        {"id": "s1", "topic_id": "t1", "passage_id": "p1", "text": "The Heron sank.", "start": 0, "end": 34},
        {"id": "s2", "topic_id": "t1", "passage_id": "p1", "text": "Ida Berg was the keeper.", "details": "since 1919"},
        {"id": "s3", "topic_id": "t9", "passage_id": "p1", "text": "No topic."},
    ],
    "facts": [
        {"id": "f1", "subject_id": "heron", "predicate": "sank off", "object_id": "skerry", "statement_ids": ["s1"]},
        {"id": "f2", "subject_id": "ida", "predicate": "was", "complement": "the keeper", "statement_ids": ["s2"]},
        {"id": "f3", "subject_id": "ida", "predicate": "was", "complement": "alone", "statement_ids": ["s9"]},
        {"id": "f4", "subject_id": "ida", "predicate": "saw", "object_id": "nobody"},
        {"id": "f5", "subject_id": "ida", "predicate": "was"},
    ],
}
DERIVED = {kind: rows for kind, rows in GIVEN.items() if kind not in ("topics", "statements", "facts")}


def load(explorer: Explorer, folder: Path, bundle: dict[str, Rows], **options: Any) -> LoadReport:
    (report,) = explorer.load([write_bundle(folder / "b", **bundle)], dataset="sea", **options)
    return report


def contents(explorer: Explorer, scope: Scope = Scope()) -> dict[str, Content]:  # noqa: B008
    """What stands in the two passages, by their source ids."""

    def read(view: Any) -> dict[str, Content]:
        found = {source: view.find("sea", source).get("passage") for source in ("p1", "p2")}
        return view.contents([one for one in found.values() if one], resolve(scope))  # type: ignore[no-any-return]

    return {content.passage.source_id: content for content in explorer.store.read(read).values()}


def counts(explorer: Explorer) -> DatasetCounts:
    (found,) = explorer.status().datasets
    return found


def statements(content: Content) -> list[tuple[str, str]]:
    return [(one.of(content.passage.text), one.details) for one in content.statements]


def names(content: Content) -> dict[str, tuple[int, ...]]:
    return {entity.name: places for entity, places in content.mentions.items()}


def test_what_a_bundle_says_is_kept_as_it_is(explorer: Explorer, folder: Path) -> None:
    report = load(explorer, folder, GIVEN)
    first, second = contents(explorer)["p1"], contents(explorer)["p2"]
    assert statements(first) == [("The Heron sank.", ""), ("Ida Berg was the keeper.", "since 1919")]
    assert names(first) == {"Heron": (0,), "Ida Berg": (1,)}
    assert [(topic.title, topic.derived, topic.source_id) for topic in first.topics] == [("The wreck", False, "t1")]
    assert first.topics[0].passage_ids == (first.passage.id,)
    assert [(f.subject.name, f.predicate, f.object.name, f.statements) for f in first.facts] == []
    assert [(c.subject.name, c.predicate, c.complement, c.statements) for c in first.complements] == [
        ("Ida Berg", "was", "the keeper", (1,))
    ]
    assert (second.topics, statements(second)) == ((), [("A letter of the keeper.", "")])
    assert counts(explorer) == DatasetCounts("sea", 1, 2, 3, 2, 1, topics=1, statements=2, facts=2)
    assert {issue.kind: issue.count for issue in report.issues} == {
        "missing_field": 1,
        "missing_end": 1,
        "statement_of_nothing": 1,
        "fact_of_nothing": 1,
        "unknown_passages": 1,
        "unknown_statements": 1,
    }


def test_facts_between_entities_in_scope_are_walked_and_say_their_statements(explorer: Explorer, folder: Path) -> None:
    mentioned = [*GIVEN["mentions"], {"entity_id": "skerry", "passage_id": "p1"}]
    load(explorer, folder, {**GIVEN, "mentions": mentioned})
    (fact,) = contents(explorer)["p1"].facts
    assert (fact.subject.name, fact.predicate, fact.object.name, fact.statements) == (
        "Heron",
        "sank off",
        "Skerry",
        (0,),
    )
    walked = explorer.walk(WalkQuery(stable_id("entity", "sea", "heron")))
    assert [(edge.id, edge.type, edge.kind) for edge in walked.edges] == [(fact.id, "sank off", "assertion")]


def test_without_statements_the_sentences_that_mention_something_are_derived(explorer: Explorer, folder: Path) -> None:
    load(explorer, folder, DERIVED)
    first, second = contents(explorer)["p1"], contents(explorer)["p2"]
    assert [text for text, _ in statements(first)] == [
        "The Heron sank off Skerry in 1921.",
        "Ida Berg kept the light.",
        "Nobody saw it.",
    ]
    assert names(first) == {"Heron": (0,), "Ida Berg": (1,)}
    assert [(topic.title, topic.derived) for topic in (*first.topics, *second.topics)] == [
        ("Wrecks", True),
        ("Gazette", True),
    ]
    assert counts(explorer) == DatasetCounts("sea", 1, 2, 3, 2, 1, topics=2, statements=2, facts=1)


def test_a_changed_statement_makes_a_version_and_the_same_bundle_none(explorer: Explorer, folder: Path) -> None:
    load(explorer, folder, GIVEN)
    before = contents(explorer)
    assert load(explorer, folder, GIVEN).changes == {"documents unchanged": 1}
    assert contents(explorer) == before
    changed = [{**GIVEN["statements"][0], "text": "The Heron went down."}, *GIVEN["statements"][1:]]
    assert load(explorer, folder, {**GIVEN, "statements": changed}).changes == {"documents changed": 1}
    after = contents(explorer)["p1"]
    assert statements(after)[0] == ("The Heron went down.", "")
    assert after.topics[0].id != before["p1"].topics[0].id
    old = contents(explorer, Scope(as_of="2020-01-01"))
    assert old == {}  # the passages that are found by their source ids are those of the current version
    assert counts(explorer).statements == 2


def test_a_later_load_can_mention_what_an_earlier_one_left_out(explorer: Explorer, folder: Path) -> None:
    load(explorer, folder, DERIVED)
    later = {"mentions": [{"entity_id": "skerry", "passage_id": "p1"}, {"entity_id": "ida", "passage_id": "p2"}]}
    load(explorer, folder / "later", later)
    assert names(contents(explorer)["p1"]) == {"Heron": (0,), "Ida Berg": (1,), "Skerry": (0,)}
    assert names(contents(explorer)["p2"]) == {"Ida Berg": ()}
    assert counts(explorer).statements == 2


def test_all_of_it_goes_with_the_document(explorer: Explorer, folder: Path) -> None:
    load(explorer, folder, GIVEN)
    kept = {
        "documents": [{"id": "log", "title": "Log"}],
        "passages": [{"id": "l1", "document_id": "log", "text": "Fog."}],
    }
    load(explorer, folder / "kept", kept)
    explorer.remove(document_id=stable_id("document", "sea", "gazette"))
    assert counts(explorer) == DatasetCounts("sea", 1, 1, 1, 0, 0, topics=1, statements=0, facts=0)
    rows = explorer.store.read(lambda view: view.row_counts())["sea"]
    assert (rows["topics"], rows["complements"], rows["support"]) == (1, 0, 0)


def test_what_leads_to_an_entity_stops_at_the_limit(explorer: Explorer, folder: Path) -> None:
    load(explorer, folder, {**DERIVED, "mentions": [*DERIVED["mentions"], {"entity_id": "skerry", "passage_id": "p2"}]})
    ida, skerry = (stable_id("entity", "sea", name) for name in ("ida", "skerry"))
    scope = resolve(Scope())
    found = explorer.store.read(lambda view: view.occurrences([ida, skerry], 1, scope))
    assert {key: [(one.title, one.statements) for one in own.passages] for key, own in found.items()} == {
        ida: [("Gazette", (1,))],
        skerry: [("Gazette", ())],
    }
    none = explorer.store.read(lambda view: view.occurrences([ida], 0, scope))
    assert (none[ida].passages, none[ida].more) == ((), True)
    near = explorer.store.read(lambda view: view.neighbourhoods([ida], 5, scope))[ida]
    assert [(edge.type, edge.is_outgoing, edge.other.name) for edge in near.edges] == [("LIVED ON", True, "Skerry")]
    assert (near.more, len(near.edges[0].passage_ids)) == (False, 1)
    assert explorer.store.read(lambda view: view.degrees([ida, skerry], scope)) == {ida: 1, skerry: 1}


def test_names_are_found_whole_or_begun_and_only_in_scope(explorer: Explorer, folder: Path) -> None:
    load(explorer, folder, DERIVED)
    scope = resolve(Scope())

    def found(name: str) -> list[str]:
        return [
            entity.name for entity in explorer.store.read(lambda view: view.named([name, "nobody"], (), (), 0, scope))
        ]

    assert (found("ida berg"), found("heron"), found("skerry"), found("ida")) == (["Ida Berg"], ["Heron"], [], [])
    begun = explorer.store.read(lambda view: view.named((), (), words("Herron Idda"), 10, scope))
    assert sorted(entity.name for entity in begun) == ["Heron"]
    assert (
        explorer.store.read(lambda view: view.named((), (), words("l"), 10, scope)) == []
    )  # no label is a word of a name
