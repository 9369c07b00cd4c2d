"""The first pass over a bundle: what its rows refer to, and what each document's content is.

The second pass asks the plan instead of checking again; the plan holds ids and digests, never texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from typing import TypeVar

import orjson

from backend.identity import edge_id, stable_id
from backend.loading.issues import Issues
from backend.loading.rows import (
    ClaimRow,
    CommunityRow,
    DocumentRow,
    EntityRow,
    FactRow,
    MentionRow,
    PassageRow,
    RelationRow,
    ReportRow,
    StatementRow,
    TopicRow,
    span_within,
)
from backend.scope import instant
from backend.sentences import sentence_spans
from backend.stores.base import GraphWriter
from backend.stores.rows import (
    CurrentVersion,
    NewClaim,
    NewComplement,
    NewMention,
    NewPassage,
    NewRelation,
    NewStatement,
    NewTopic,
    NewVersion,
)

T = TypeVar("T")
BATCH = 2_000
_DIGEST_BYTES = 16


@dataclass(slots=True)
class _PlannedDocument:
    """A document of the bundle; `digest` adds up its rows, so that their order in the files is no content."""

    source_id: str
    row: DocumentRow
    digest: int = 0
    version_key: str = ""
    content: str = ""
    is_new: bool = True
    has_topics: bool = False


@dataclass(slots=True)
class _PlannedPassage:
    """Where a passage belongs: a document of the bundle, or the id that it has in a committed version.

    `statements` is how many of its own the bundle has.
    """

    document: str
    length: int
    committed_id: str | None = None
    statements: int = 0


@dataclass(slots=True)
class Plan:
    """What a load will do; `changes` counts documents by what becomes of them."""

    dataset: str
    collection: str
    replace: bool
    now: int
    keeps_edges: bool = False  # whether a report may cite relations
    documents: dict[str, _PlannedDocument] = field(default_factory=dict)
    passages: dict[str, _PlannedPassage] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)  # document by topic
    statements: dict[str, tuple[str, int]] = field(default_factory=dict)  # passage, and place in it
    entities: set[str] = field(default_factory=set)
    committed_entities: dict[str, bool] = field(default_factory=dict)
    edges: dict[str, str] = field(default_factory=dict)  # id by relation, of those that a report may cite
    claims: set[str] = field(default_factory=set)
    communities: dict[str, int] = field(default_factory=dict)  # level
    committed: dict[str, CurrentVersion] = field(default_factory=dict)
    changes: Counter[str] = field(default_factory=Counter)

    # --- ids ---------------------------------------------------------------------------------------------------------

    def document_id(self, source_id: str) -> str:
        return stable_id("document", self.dataset, source_id)

    def entity_id(self, source_id: str) -> str:
        return stable_id("entity", self.dataset, source_id)

    def claim_id(self, source_id: str) -> str:
        return stable_id("claim", self.dataset, source_id)

    def community_id(self, source_id: str) -> str:
        return stable_id("community", self.dataset, source_id)

    def passage_id(self, source_id: str) -> str:
        planned = self.passages[source_id]
        if planned.committed_id is not None:
            return planned.committed_id
        key = self._version_key(planned.document)
        return stable_id("passage", self.dataset, planned.document, key, source_id)

    def topic_id(self, source_id: str) -> str:
        document = self.topics[source_id]
        return stable_id("topic", self.dataset, document, self._version_key(document), "id", source_id)

    def _version_key(self, document: str) -> str:
        planned = self.documents.get(document)
        return planned.version_key if planned else self.committed[document].version_key

    # --- rows to write -----------------------------------------------------------------------------------------------

    def new_version(self, planned: _PlannedDocument) -> NewVersion:
        row = planned.row
        is_first = planned.source_id not in self.committed
        begins = instant(row.valid_from) if row.valid_from else None
        return NewVersion(
            document_id=self.document_id(planned.source_id),
            source_id=planned.source_id,
            version_key=planned.version_key,
            content=planned.content,
            title=row.title,
            collection=row.collection or self.collection,
            date=row.date,
            author=row.author,
            url=row.url,
            declared_from=row.valid_from,
            valid_from=begins if begins is not None or is_first else self.now,
            metadata=row.metadata,
        )

    def new_passage(self, row: PassageRow) -> NewPassage | None:
        """None for a passage of a version that is committed already."""
        planned = self.passages.get(row.id)
        if planned is None or planned.committed_id is not None or not self._is_written(planned):
            return None
        return NewPassage(
            id=self.passage_id(row.id),
            source_id=row.id,
            version_key=self._version_key(row.document_id),
            position=row.position,
            text=row.text,
            heading=row.heading,
            start=row.start,
            end=row.end,
            metadata=row.metadata,
            statements=() if planned.statements else tuple(NewStatement(*span) for span in sentence_spans(row.text)),
        )

    def derived_topic(self, row: PassageRow) -> NewTopic | None:
        """The topic of a passage to write, named like its heading or title; None where the bundle has topics."""
        planned = self.documents.get(row.document_id)
        if planned is not None and planned.has_topics:
            return None
        title = planned.row.title or planned.source_id if planned else self.committed[row.document_id].title
        title = row.heading or title
        key = self._version_key(row.document_id)
        topic_id = stable_id("topic", self.dataset, row.document_id, key, "title", title)
        return NewTopic(topic_id, "", key, title, True, (self.passage_id(row.id),))

    def new_topic(self, row: TopicRow) -> NewTopic | None:
        """None for a topic of no document, and in a version that is committed already."""
        planned = self.documents.get(self.topics.get(row.id, ""))
        if planned is None or not planned.is_new:
            return None
        passages = tuple(self.passage_id(passage) for passage in row.passage_ids if self.is_in(passage, planned))
        return NewTopic(self.topic_id(row.id), row.id, planned.version_key, row.title, False, passages)

    def is_in(self, passage: str, document: _PlannedDocument) -> bool:
        return passage in self.passages and self.passages[passage].document == document.source_id

    def new_statement(self, row: StatementRow) -> tuple[str, NewStatement] | None:
        """The id of its passage, and the statement; None for one of nothing, and in a committed version."""
        if row.id not in self.statements:
            return None
        planned = self.passages[row.passage_id]
        if not self._is_written(planned):
            return None
        start, end = span_within(row.start, row.end, planned.length) or (None, None)
        own = (row.text, self.topic_id(row.topic_id), row.id, row.details, row.position)
        return self.passage_id(row.passage_id), NewStatement(start, end, *own)

    def new_fact(self, row: FactRow) -> NewRelation | list[NewComplement] | None:
        """A fact between two entities is a relation; one with a complement is a row for each passage that states it."""
        places: dict[str, tuple[int, ...]] = {}
        for statement in row.statement_ids:
            if statement in self.statements:
                passage, place = self.statements[statement]
                key = self.passage_id(passage)
                places[key] = (*places.get(key, ()), place)
        if not self.has_entity(row.subject_id):
            return None
        if row.object_id is None:
            fact, subject = stable_id("fact", self.dataset, row.id), self.entity_id(row.subject_id)
            own = (fact, subject, row.predicate, row.complement or "")
            return [NewComplement(*own, passage, one) for passage, one in places.items()]
        if not self.has_entity(row.object_id):
            return None
        return NewRelation(
            id=stable_id("relation", self.dataset, "fact", row.id),
            source_id=row.id,
            source=self.entity_id(row.subject_id),
            target=self.entity_id(row.object_id),
            type=row.predicate,
            unstated=not places,
            passage_ids=tuple(places),
            statements=places,
            is_fact=True,
        )

    def new_mention(self, row: MentionRow, seen: Counter[NewMention]) -> NewMention | None:
        """None for a mention of nothing, and in a version that is left alone; `seen` numbers those that are alike."""
        planned = self.passages.get(row.passage_id)
        if planned is None or not self.has_entity(row.entity_id) or not self._is_written(planned):
            return None
        start, end = span_within(row.start, row.end, planned.length) or (None, None)
        mention = NewMention(self.entity_id(row.entity_id), self.passage_id(row.passage_id), row.surface, start, end)
        if planned.committed_id is None:
            return mention
        seen[mention] += 1
        return replace(mention, alike=seen[mention] - 1)

    def new_relation(self, row: RelationRow, seen: Counter[bytes]) -> NewRelation | None:
        """None for a relation with a missing end; `seen` numbers the rows without an id that are alike."""
        if not (self.has_entity(row.source) and self.has_entity(row.target)):
            return None
        passages = tuple(self.passage_id(passage) for passage in row.passage_ids if passage in self.passages)
        return NewRelation(
            id=self._relation_id(row, seen),
            source_id=row.id or "",
            source=self.entity_id(row.source),
            target=self.entity_id(row.target),
            type=row.type,
            unstated=not passages,
            passage_ids=passages,
            description=row.description,
            weight=row.weight,
            metadata=row.metadata,
        )

    def _relation_id(self, row: RelationRow, seen: Counter[bytes]) -> str:
        if row.id is not None:
            return stable_id("relation", self.dataset, "id", row.id)
        content = _digest(_relation_content(row))
        seen[content] += 1
        return stable_id("relation", self.dataset, "content", content.hex(), str(seen[content]))

    def new_claim(self, row: ClaimRow) -> NewClaim | None:
        """None for a claim about nothing."""
        if row.id not in self.claims:
            return None
        passages = tuple(self.passage_id(passage) for passage in row.passage_ids if passage in self.passages)
        has_object = row.object_id is not None and self.has_entity(row.object_id)
        return NewClaim(
            id=self.claim_id(row.id),
            source_id=row.id,
            subject_id=self.entity_id(row.subject_id),
            object_id=self.entity_id(row.object_id or "") if has_object else None,
            type=row.type,
            status=row.status,
            start_date=row.start_date,
            end_date=row.end_date,
            description=row.description,
            unstated=not passages,
            passage_ids=passages,
            metadata=row.metadata,
        )

    def has_entity(self, source_id: str) -> bool:
        return source_id in self.entities or self.committed_entities.get(source_id, False)

    def is_above(self, parent: str, community: str) -> bool:
        """Whether a community is at a coarser level than another, so that it can be its parent."""
        return parent in self.communities and self.communities[parent] < self.communities[community]

    def _is_written(self, planned: _PlannedPassage) -> bool:
        # Rows for a document that is not in the bundle join its committed version.
        document = self.documents.get(planned.document)
        return document is None or document.is_new


class Planner:
    """Reads a bundle once and makes the plan; the only place that judges what a row refers to."""

    def __init__(self, plan: Plan, writer: GraphWriter, issues: Issues) -> None:
        self.plan = plan
        self._writer = writer
        self._issues = issues
        self._committed_passages: dict[str, tuple[str, str, str] | None] = {}

    def documents(self, rows: Iterable[DocumentRow], file: str) -> Iterator[DocumentRow]:
        for row in rows:
            planned = self.plan.documents[row.id] = _PlannedDocument(row.id, row)
            self._add(planned, _document_content(row, self.plan.collection))
            yield row

    def passages(self, rows: Iterable[PassageRow], file: str) -> Iterator[PassageRow]:
        for batch in batched(rows, BATCH):
            self._find_passages([row.id for row in batch if row.document_id not in self.plan.documents])
            yield from (row for row in batch if self._passage(row, file))

    def topics(self, rows: Iterable[TopicRow], file: str) -> Iterator[TopicRow]:
        return (row for row in rows if self._topic(row, file))

    def statements(self, rows: Iterable[StatementRow], file: str) -> Iterator[StatementRow]:
        return (row for row in rows if self._statement(row, file))

    def facts(self, rows: Iterable[FactRow], file: str) -> Iterator[FactRow]:
        for batch in batched(rows, BATCH):
            self._find_entities([end for row in batch for end in (row.subject_id, row.object_id) if end is not None])
            yield from (row for row in batch if self._fact(row, file))

    def entities(self, rows: Iterable[EntityRow], file: str) -> Iterator[EntityRow]:
        for row in rows:
            self.plan.entities.add(row.id)
            yield row

    def mentions(self, rows: Iterable[MentionRow], file: str) -> Iterator[MentionRow]:
        for batch in batched(rows, BATCH):
            self._find_entities([row.entity_id for row in batch])
            self._find_passages([row.passage_id for row in batch])
            yield from (row for row in batch if self._mention(row, file))

    def relations(self, rows: Iterable[RelationRow], file: str) -> Iterator[RelationRow]:
        for batch in batched(rows, BATCH):
            self._find_entities([end for row in batch for end in (row.source, row.target)])
            self._find_passages([passage for row in batch for passage in row.passage_ids])
            yield from (row for row in batch if self._relation(row, file))

    def claims(self, rows: Iterable[ClaimRow], file: str) -> Iterator[ClaimRow]:
        for batch in batched(rows, BATCH):
            self._find_entities([end for row in batch for end in (row.subject_id, row.object_id) if end is not None])
            self._find_passages([passage for row in batch for passage in row.passage_ids])
            yield from (row for row in batch if self._claim(row, file))

    def communities(self, rows: Iterable[CommunityRow], file: str) -> Iterator[CommunityRow]:
        parents: list[tuple[int, str, str]] = []
        for batch in batched(rows, BATCH):
            self._find_entities([member for row in batch for member in row.entity_ids])
            for row in batch:
                self._community(row, file)
                if row.parent is not None:
                    parents.append((row.line, row.id, row.parent))
                yield row
        for line, community, parent in parents:
            if not self.plan.is_above(parent, community):
                self._issues.repaired("unknown_parent", file, line, f"parent {parent!r}"[:200])

    def reports(self, rows: Iterable[ReportRow], file: str) -> Iterator[ReportRow]:
        for batch in batched(rows, BATCH):
            cited = [(kind, source_id) for row in batch for kind, _, source_id in row.cited() if source_id is not None]
            self._find_entities([source_id for kind, source_id in cited if kind == "entity"])
            self._find_passages([source_id for kind, source_id in cited if kind == "passage"])
            yield from (row for row in batch if self._report(row, file))

    def decide_versions(self) -> list[NewVersion]:
        """The versions to write; a document whose content is the same is left alone."""
        plan = self.plan
        for planned in plan.documents.values():
            planned.content = planned.digest.to_bytes(_DIGEST_BYTES + 8, "big").hex()
            before = plan.committed.get(planned.source_id)
            planned.is_new = before is None or before.content != planned.content or before.ended
            kind = "unchanged" if not planned.is_new else "new" if before is None else "changed"
            plan.changes[f"documents {kind}"] += 1
        written = [planned for planned in plan.documents.values() if planned.is_new]
        self._name_versions(written)
        for planned in plan.documents.values():
            if not planned.is_new:
                planned.version_key = plan.committed[planned.source_id].version_key
        return [plan.new_version(planned) for planned in written]

    def _name_versions(self, written: list[_PlannedDocument]) -> None:
        for batch in batched(written, BATCH):
            taken = self._writer.version_keys([self.plan.document_id(planned.source_id) for planned in batch])
            for planned in batch:
                planned.version_key = self._free_key(
                    planned, taken.get(self.plan.document_id(planned.source_id), set())
                )

    def _free_key(self, planned: _PlannedDocument, taken: set[str]) -> str:
        # A document may return to an earlier content; that is a version of its own, with ids of its own.
        for number in range(len(taken) + 1):
            key = stable_id("version", self.plan.dataset, planned.source_id, planned.content, str(number))
            if key not in taken:
                return key
        raise AssertionError("as many keys as versions, and one more")

    # --- judging one row ---------------------------------------------------------------------------------------------

    def _passage(self, row: PassageRow, file: str) -> bool:
        plan = self.plan
        if planned := plan.documents.get(row.document_id):
            plan.passages[row.id] = _PlannedPassage(row.document_id, len(row.text))
            self._add(planned, _passage_content(row))
            return True
        if row.document_id not in plan.committed or plan.replace:
            self._issues.left_out("unknown_document", file, row.line, f"document {row.document_id!r}"[:200])
            return False
        stored = self._committed_passages.get(row.id)
        if stored is not None and stored[1] != row.text:
            detail = "its document is not in this bundle, and has a passage with this id and another text"
            self._issues.left_out("used_id", file, row.line, detail)
            return False
        plan.passages[row.id] = _PlannedPassage(row.document_id, len(row.text), stored[0] if stored else None)
        return True

    def _topic(self, row: TopicRow, file: str) -> bool:
        planned = self.plan.documents.get(row.document_id)
        if planned is None:
            self._issues.left_out("topic_of_nothing", file, row.line, f"no document {row.document_id!r}"[:200])
            return False
        foreign = [passage for passage in row.passage_ids if not self.plan.is_in(passage, planned)]
        if foreign:
            self._issues.repaired("unknown_passages", file, row.line, f"no passage {foreign[0]!r} there"[:200])
        planned.has_topics = True
        self.plan.topics[row.id] = row.document_id
        self._add(planned, ["topic", row.id, row.title, sorted(row.passage_ids)])
        return True

    def _statement(self, row: StatementRow, file: str) -> bool:
        plan = self.plan
        planned = plan.passages.get(row.passage_id)
        document = plan.documents.get(planned.document) if planned else None
        if planned is None or document is None or plan.topics.get(row.topic_id) != planned.document:
            missing = f"topic {row.topic_id!r}" if document else f"passage {row.passage_id!r}"
            self._issues.left_out("statement_of_nothing", file, row.line, f"no {missing}"[:200])
            return False
        span = span_within(row.start, row.end, planned.length)
        if span is None and (row.start is not None or row.end is not None):
            detail = f"{row.start} to {row.end} in a text of {planned.length} characters"
            self._issues.repaired("offsets_outside", file, row.line, detail)
        plan.statements[row.id] = (row.passage_id, planned.statements)
        planned.statements += 1
        own = [row.topic_id, row.passage_id, row.text, row.details, span, row.position]
        self._add(document, ["statement", row.id, *own])
        return True

    def _fact(self, row: FactRow, file: str) -> bool:
        plan = self.plan
        missing = [end for end in (row.subject_id, row.object_id) if end is not None and not plan.has_entity(end)]
        if missing:
            self._issues.left_out("missing_end", file, row.line, f"no entity {missing[0]!r}"[:200])
            return False
        known = [statement for statement in row.statement_ids if statement in plan.statements]
        if len(known) < len(row.statement_ids):
            unknown = next(statement for statement in row.statement_ids if statement not in plan.statements)
            self._issues.repaired("unknown_statements", file, row.line, f"no statement {unknown!r}"[:200])
        if row.object_id is None and not known:
            self._issues.left_out("fact_of_nothing", file, row.line, f"fact {row.id!r}"[:200])
            return False
        for document in {plan.passages[plan.statements[statement][0]].document for statement in known}:
            own = [row.subject_id, row.predicate, row.object_id, row.complement, sorted(row.statement_ids)]
            self._add(plan.documents[document], ["fact", row.id, *own])
        return True

    def _mention(self, row: MentionRow, file: str) -> bool:
        plan = self.plan
        planned = plan.passages.get(row.passage_id)
        if planned is None or not plan.has_entity(row.entity_id):
            missing = f"passage {row.passage_id!r}" if planned is None else f"entity {row.entity_id!r}"
            self._issues.left_out("mention_of_nothing", file, row.line, f"no {missing}"[:200])
            return False
        span = span_within(row.start, row.end, planned.length)
        if span is None and (row.start is not None or row.end is not None):
            detail = f"{row.start} to {row.end} in a text of {planned.length} characters"
            self._issues.repaired("offsets_outside", file, row.line, detail)
        if document := plan.documents.get(planned.document):
            self._add(document, ["mention", row.entity_id, row.passage_id, row.surface, span])
        return True

    def _relation(self, row: RelationRow, file: str) -> bool:
        plan = self.plan
        missing = [end for end in (row.source, row.target) if not plan.has_entity(end)]
        if missing:
            self._issues.left_out("missing_end", file, row.line, f"no entity {missing[0]!r}"[:200])
            return False
        self._note_unknown(row.passage_ids, file, row.line)
        if row.id is not None and plan.keeps_edges:
            plan.edges[row.id] = edge_id(plan.entity_id(row.source), row.type, plan.entity_id(row.target))
        documents = {plan.passages[passage].document for passage in row.passage_ids if passage in plan.passages}
        for document in documents & plan.documents.keys():
            self._add(plan.documents[document], _relation_content(row))
        return True

    def _claim(self, row: ClaimRow, file: str) -> bool:
        plan = self.plan
        if not plan.has_entity(row.subject_id):
            self._issues.left_out("claim_of_nothing", file, row.line, f"no entity {row.subject_id!r}"[:200])
            return False
        if row.object_id is not None and not plan.has_entity(row.object_id):
            self._issues.repaired("unknown_object", file, row.line, f"no entity {row.object_id!r}"[:200])
        self._note_unknown(row.passage_ids, file, row.line)
        plan.claims.add(row.id)
        documents = {plan.passages[passage].document for passage in row.passage_ids if passage in plan.passages}
        for document in documents & plan.documents.keys():
            self._add(plan.documents[document], _claim_content(row))
        return True

    def _report(self, row: ReportRow, file: str) -> bool:
        if row.community_id not in self.plan.communities:
            self._issues.left_out("report_of_nothing", file, row.line, f"no community {row.community_id!r}"[:200])
            return False
        return True

    def _community(self, row: CommunityRow, file: str) -> None:
        unknown = [member for member in row.entity_ids if not self.plan.has_entity(member)]
        if unknown:
            self._issues.repaired("unknown_members", file, row.line, f"no entity {unknown[0]!r}"[:200])
        self.plan.communities[row.id] = row.level

    def _note_unknown(self, passage_ids: Sequence[str], file: str, line: int) -> None:
        unknown = [passage for passage in passage_ids if passage not in self.plan.passages]
        if unknown:
            self._issues.repaired("unknown_passages", file, line, f"no passage {unknown[0]!r}"[:200])

    def _add(self, planned: _PlannedDocument, content: object) -> None:
        planned.digest += int.from_bytes(_digest(content), "big")

    # --- rows of earlier loads ---------------------------------------------------------------------------------------

    def _find_entities(self, source_ids: Iterable[str]) -> None:
        plan = self.plan
        asked = {s for s in source_ids if s not in plan.entities and s not in plan.committed_entities}
        if not asked:
            return
        ids = {} if plan.replace else {plan.entity_id(source_id): source_id for source_id in asked}
        known = self._writer.known("entity", list(ids)) if ids else set()
        plan.committed_entities.update({source_id: plan.entity_id(source_id) in known for source_id in asked})

    def _find_passages(self, source_ids: Iterable[str]) -> None:
        plan = self.plan
        asked = [s for s in source_ids if s not in plan.passages and s not in self._committed_passages]
        if not asked or plan.replace or not plan.committed:
            return
        found = self._writer.current_passages(plan.dataset, asked)
        for source_id in asked:
            self._committed_passages[source_id] = found.get(source_id)
        for source_id, (passage_id, text, document) in found.items():
            # A document that is in the bundle has the passages that the bundle gives it, and no others.
            if document not in self.plan.documents:
                self.plan.passages[source_id] = _PlannedPassage(document, len(text), passage_id)


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of up to `size` rows."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def _document_content(row: DocumentRow, collection: str) -> object:
    own = [row.title, row.collection or collection, row.valid_from, row.url, row.author, row.date, row.metadata]
    return ["document", row.id, *own]


def _passage_content(row: PassageRow) -> object:
    return ["passage", row.id, row.text, row.position, row.start, row.end, row.heading, row.metadata]


def _relation_content(row: RelationRow) -> object:
    own = [row.id, row.source, row.target, row.type, sorted(row.passage_ids), row.description, row.weight]
    return ["relation", *own, row.metadata]


def _claim_content(row: ClaimRow) -> object:
    own = [row.subject_id, row.object_id, row.type, row.status, row.start_date, row.end_date, row.description]
    return ["claim", row.id, *own, sorted(row.passage_ids), row.metadata]


def _digest(content: object) -> bytes:
    return blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST_BYTES).digest()
