"""The oracle: what Attest must answer, worked out from the bundles by loops over plain lists.

Written from ../shared/design.md; each part names the section that it spells out, so that the two can be read side by
side. Nothing here is fast. A `Truth` is what the committed loads of a world add up to, and `Seen` is a truth through
one scope; `walk` and `search` build the very results that the backend must return, times aside.

The ids of passages depend on a hash that only the loader knows, so a truth is told them (`passage_ids`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from backend.errors import Malformed, Unavailable
from backend.identity import edge_id, stable_id
from backend.models import (
    ChannelScore,
    CollectionCounts,
    Condition,
    Counts,
    Cut,
    DatasetCounts,
    Document,
    DocumentView,
    EdgeKind,
    Entity,
    EntityHit,
    EntityQuery,
    EntityResult,
    EntityView,
    Evidence,
    Facet,
    Hidden,
    Match,
    Mode,
    Passage,
    RelationType,
    Scope,
    Span,
    Status,
    WalkEdge,
    WalkNode,
    WalkQuery,
    WalkResult,
)
from backend.sentences import sentence_spans
from backend.vectors.base import Encoder
from backend.words import fold, token_text, words

Row = dict[str, Any]
ALWAYS, NEVER = -math.inf, math.inf

# --- what is loaded (section 7) --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """One `attest load`: the rows of its bundle and its options. Without `committed` it is never finished."""

    dataset: str
    documents: Sequence[Row] = ()
    passages: Sequence[Row] = ()
    entities: Sequence[Row] = ()
    mentions: Sequence[Row] = ()
    relations: Sequence[Row] = ()
    collection: str | None = None
    replace: bool = False
    committed: bool = True


@dataclass(frozen=True)
class Removal:
    """One `attest remove`: of a dataset, or of one document by its source id."""

    dataset: str
    document: str | None = None


@dataclass(frozen=True)
class Mention:
    """An entity occurs in a passage; without offsets it has no span. Like relations, identical rows count."""

    entity: str
    span: Span | None
    surface: str | None
    occurrence: int


@dataclass
class StoredPassage:
    key: tuple[str, int, str]  # document id, version, source id
    row: Row
    position: int
    mentions: set[Mention] = field(default_factory=set)
    relations: set[str] = field(default_factory=set)  # those that it supports
    sentences: dict[Mention, set[int]] = field(default_factory=dict)  # where a mention is, as it was found when loaded


@dataclass
class Version:
    number: int
    fields: Row
    content: list[Any]
    valid_from: float
    passages: list[StoredPassage]
    ended: float = NEVER


@dataclass
class StoredDocument:
    id: str
    source_id: str
    dataset: str
    versions: list[Version]


@dataclass
class Relation:
    id: str
    dataset: str
    source: str
    type: str
    target: str
    unstated: bool  # its latest row names no passage


class Truth:
    """What the committed loads and removals add up to. `now` is the time of every load (tests ask before or after)."""

    def __init__(self, steps: Sequence[Load | Removal], now: datetime | None = None) -> None:
        self.now: float = _instant((now or datetime.now(UTC)).isoformat()) or 0
        self.documents: dict[str, StoredDocument] = {}
        self.entities: dict[str, Entity] = {}
        self.datasets: set[str] = set()
        self.retired: set[str] = set()  # entities that a load with --replace did not name
        self.relations: dict[str, Relation] = {}
        self.passage_ids: dict[tuple[str, int, str], str] = {}
        for number, step in enumerate(steps):
            if isinstance(step, Removal):
                self._remove(step)
            elif step.committed:
                self._load(step, self.now + 1000 * number)  # no two loads are as near as a microsecond

    # "Every row of `relations` is one stored relation. Rows without `id` are told apart by content and occurrence
    # number, so identical rows count and a second load meets its own."
    def _relation_rows(self, load: Load) -> list[tuple[str, Row]]:
        keyed: list[tuple[str, Row]] = []
        for row in load.relations:
            if not ({row["source"], row["target"]} <= self._known_entities(load)):
                continue  # left out: a relation with a missing end
            name = row.get("id") or json.dumps(row, sort_keys=True)
            occurrence = 0 if row.get("id") else sum(1 for _, other in keyed if other == row)
            keyed.append((stable_id("relation", load.dataset, name, str(occurrence)), row))
        return keyed

    def _known_entities(self, load: Load) -> set[str]:
        # "Rows may refer to rows of earlier loads of the same dataset."
        return {row["id"] for row in load.entities} | {
            entity.source_id for entity in self.entities.values() if entity.dataset == load.dataset
        }

    def _load(self, load: Load, moment: float) -> None:
        self.datasets.add(load.dataset)
        known = self._known_entities(load)
        relations = self._relation_rows(load)
        for row in load.entities:
            entity = _entity(load.dataset, row)
            self.entities[entity.id] = entity
            self.retired.discard(entity.id)
        mentions = [row for row in load.mentions if row["entity_id"] in known]
        written = [self._document(load, row, mentions, relations, moment) for row in load.documents]

        # Rows for a document of an earlier load join its latest version.
        brought = {row["id"] for row in load.documents}
        own = {row["id"] for row in load.passages if row["document_id"] in brought}
        earlier: dict[str, StoredPassage] = {}
        for document in self.documents.values():
            latest = document.versions[-1]
            if document.dataset == load.dataset and document.source_id not in brought and latest.ended == NEVER:
                held = {passage.row["id"] for passage in latest.passages}
                latest.passages += [p for p in self._passages(load, document, latest.number) if p.row["id"] not in held]
                earlier |= {passage.row["id"]: passage for passage in latest.passages}
        for passage in earlier.values():
            passage.mentions |= _mentions(load.dataset, mentions, passage.row)
            self._find_sentences(passage)
        for key, row in relations:
            passages = [p for p in row.get("passage_ids", ()) if p in own or p in earlier]
            for name in passages:
                if name in earlier:
                    earlier[name].relations.add(key)
            source, target = (stable_id("entity", load.dataset, row[end]) for end in ("source", "target"))
            # "unknown `passage_ids` (dropped; with none left it is a path)"
            self.relations[key] = Relation(key, load.dataset, source, row["type"], target, unstated=not passages)
        if load.replace:
            self._retire(load, {key for key, _ in relations}, set(written), moment)

    @staticmethod
    def _passages(load: Load, document: StoredDocument, version: int) -> list[StoredPassage]:
        rows = [row for row in load.passages if row["document_id"] == document.source_id]
        # "position (absent: its place among the rows of its document, from 0)"
        return [
            StoredPassage((document.id, version, row["id"]), row, row.get("position", place))
            for place, row in enumerate(rows)
        ]

    def _document(
        self, load: Load, row: Row, mentions: list[Row], relations: list[tuple[str, Row]], moment: float
    ) -> str:
        document_id = stable_id("document", load.dataset, row["id"])
        stored = self.documents.setdefault(
            document_id, StoredDocument(document_id, row["id"], load.dataset, versions=[])
        )
        number = len(stored.versions) + 1
        passages = self._passages(load, stored, number)
        for passage in passages:
            passage.mentions = _mentions(load.dataset, mentions, passage.row)
            self._find_sentences(passage)
            passage.relations = {
                key for key, relation in relations if passage.row["id"] in relation.get("passage_ids", ())
            }
        # "a document without a collection belongs to the one given by `--collection`, else to the one named like its
        # dataset"
        fields = {**row, "collection": row.get("collection") or load.collection or load.dataset}
        # "content is the document's row, its passages, their mentions and the relations they support"
        content: list[Any] = [fields]
        for passage in passages:
            content += [{**passage.row, "position": passage.position}]
            content += sorted(str(mention) for mention in passage.mentions)
            content += [relation for key, relation in relations if key in passage.relations]
        latest = stored.versions[-1] if stored.versions else None
        # "a document whose content is the same is left alone"
        if latest is not None and latest.content == content and latest.ended == NEVER:
            return document_id
        # 2.1: "A first version without `valid_from` is valid from the beginning." 7: "valid from its `valid_from` or
        # the load's time"
        given = row.get("valid_from")
        valid_from = (ALWAYS if latest is None else moment) if given is None else _instant(given)
        assert valid_from is not None
        # A document that was retired comes back after that, whatever its new version says of the time before.
        ends = [version.ended + 1 for version in stored.versions if version.ended != NEVER]
        stored.versions.append(Version(number, fields, content, max([valid_from, *ends]), passages))
        return document_id

    def _find_sentences(self, passage: StoredPassage) -> None:
        for mention in passage.mentions:
            entity = self.entities[mention.entity]
            names = [*([mention.surface] if mention.surface else []), entity.name, *entity.aliases]
            found = statement_places(passage.row["text"], mention.span, names)
            passage.sentences.setdefault(mention, found)

    # "What is absent from the new load stays; `--replace` retires it."
    def _retire(self, load: Load, relations: set[str], written: set[str], moment: float) -> None:
        for document in self.documents.values():
            if document.dataset == load.dataset and document.id not in written:
                for version in document.versions:
                    version.ended = min(version.ended, moment)
        self._drop(
            relations={
                r.id
                for r in self.relations.values()
                if r.dataset == load.dataset and r.id not in relations and not self.support(r.id)
            }
        )
        kept = {stable_id("entity", load.dataset, row["id"]) for row in load.entities}
        self.retired |= {e.id for e in self.entities.values() if e.dataset == load.dataset and e.id not in kept}
        # What earlier versions mention, or relate, stays for those who ask about an earlier time.
        self._drop(entities={key for key in self.retired if not self._mentioned(key) and not self._related(key)})

    # "removes, with everything that only they held"
    def _remove(self, removal: Removal) -> None:
        if removal.document is None:
            self.datasets.discard(removal.dataset)
            gone = {d.id for d in self.documents.values() if d.dataset == removal.dataset}
            self.documents = {key: d for key, d in self.documents.items() if key not in gone}
            self._drop(
                relations={r.id for r in self.relations.values() if r.dataset == removal.dataset},
                entities={e.id for e in self.entities.values() if e.dataset == removal.dataset},
            )
            return
        document = self.documents.pop(stable_id("document", removal.dataset, removal.document), None)
        if document is None:
            return
        passages = [p for version in document.versions for p in version.passages]
        self._drop(
            relations={
                r.id
                for r in self.relations.values()
                if any(r.id in p.relations for p in passages) and not self.support(r.id) and not r.unstated
            },
            entities={m.entity for p in passages for m in p.mentions if not self._mentioned(m.entity)},
        )

    def _drop(self, *, relations: Collection[str] = (), entities: Collection[str] = ()) -> None:
        self.entities = {key: e for key, e in self.entities.items() if key not in entities}
        self.relations = {
            key: r
            for key, r in self.relations.items()
            if key not in relations and r.source not in entities and r.target not in entities
        }

    def passages(self) -> list[StoredPassage]:
        """Every passage of every version."""
        return [p for d in self.documents.values() for v in d.versions for p in v.passages]

    def support(self, relation: str) -> list[StoredPassage]:
        """The passages that state a relation, of any version."""
        return [passage for passage in self.passages() if relation in passage.relations]

    def _mentioned(self, entity: str) -> bool:
        return any(entity == mention.entity for passage in self.passages() for mention in passage.mentions)

    def _related(self, entity: str) -> bool:
        return any(entity in (relation.source, relation.target) for relation in self.relations.values())

    @property
    def labels(self) -> set[str]:
        return {entity.label for entity in self.entities.values()}

    @property
    def relation_types(self) -> set[str]:
        return {relation.type for relation in self.relations.values()}

    @property
    def collections(self) -> set[str]:
        return {version.fields["collection"] for d in self.documents.values() for version in d.versions}


def _entity(dataset: str, row: Row) -> Entity:
    fields = {"id", "name", "type", "aliases", "description", "metadata"}
    return Entity(
        id=stable_id("entity", dataset, row["id"]),
        source_id=row["id"],
        dataset=dataset,
        name=row["name"],
        label=row.get("type") or "Entity",  # "absent or empty: `Entity`"
        aliases=tuple(dict.fromkeys(row.get("aliases", ()))),
        description=row.get("description"),
        metadata=_metadata(row, fields),
    )


def _metadata(row: Row, fields: set[str]) -> Row:
    # "unknown fields are kept as metadata"
    return {**{key: value for key, value in row.items() if key not in fields}, **row.get("metadata", {})}


def _mentions(dataset: str, rows: list[Row], passage: Row) -> set[Mention]:
    mentions: set[Mention] = set()
    for row in rows:
        if row["passage_id"] == passage["id"]:
            start, end = row.get("start"), row.get("end")
            # "offsets outside the text (the mention stays)"
            placed = start is not None and end is not None and 0 <= start < end <= len(passage["text"])
            entity = stable_id("entity", dataset, row["entity_id"])
            same: Any = (entity, (start, end) if placed else None, row.get("surface"))
            mentions.add(Mention(*same, occurrence=sum((m.entity, m.span, m.surface) == same for m in mentions)))
    return mentions


def statement_places(text: str, span: Span | None, names: list[str]) -> set[int]:
    """The sentences in which a mention is: by its offsets, else by name, surface or alias in the text."""
    sentences = sentence_spans(text)
    if span is not None:
        return {n for n, (start, end) in enumerate(sentences) if span[0] < end and start < span[1]}
    forms = [token_text(name) for name in names]
    return {n for n, (start, end) in enumerate(sentences) if any(form in token_text(text[start:end]) for form in forms)}


# --- scope (section 2.1) ---------------------------------------------------------------------------------------------


def _instant(text: str) -> int | None:
    """Microseconds since 1970. "A date means its last instant, UTC." """
    if not re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?", text):
        return None
    try:
        if len(text) == 10:
            moment = datetime.combine(date.fromisoformat(text), time.max)
        else:
            moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _kind(value: Any) -> tuple[str, Any]:
    """ "Values compare as numbers if both are, else as ISO dates if both are, else as text by code point" """
    text = _text(value).strip()
    if value is not True and value is not False and re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return "number", float(text)
    moment = _instant(text)
    return ("text", _text(value)) if moment is None else ("date", moment)


def _compares(value: Any, operator: str, asked: str) -> bool:
    if operator == "contains":
        return asked in _text(value)
    (kind, left), (other, right) = _kind(value), _kind(asked)
    if kind != other:
        return False  # "different kinds never match"
    return {
        "=": left == right,
        "in": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[operator]


def matches(fields: Row, condition: Condition) -> bool:
    """Whether a document version with these fields satisfies the condition."""
    # "Title, author, date, url and collection are keys like any metadata."
    own = {key: fields.get(key) for key in ("title", "author", "date", "url", "collection")}
    every = {**document_metadata(fields), **{key: value for key, value in own.items() if value is not None}}
    value = every.get(condition.key)
    # "a list matches by any element"; a document without the key does not match
    elements = [element for element in (value if isinstance(value, list) else [value]) if element is not None]
    if condition.operator == "exists":
        return bool(elements)
    return any(_compares(element, condition.operator, asked) for element in elements for asked in condition.values)


def document_metadata(fields: Row) -> Row:
    known = {"id", "title", "collection", "metadata", "valid_from", "url", "author", "date"}
    return _metadata(fields, known)


class Seen:
    """A truth through a scope: what is in scope, what is visible, and what is neither."""

    def __init__(self, truth: Truth, scope: Scope) -> None:
        self.truth = truth
        for name in scope.collections:
            if name not in truth.collections:
                raise Malformed(f"unknown collection {name!r}")
        for name in scope.document_ids:
            if name not in truth.documents:
                raise Malformed(f"unknown document {name!r}")
        # notes: "Empty scope: the point in time is today's last instant"
        at = _instant(scope.as_of or datetime.now(UTC).date().isoformat())
        assert at is not None
        self.current: dict[str, Version] = {}
        for document in truth.documents.values():
            # "the version with the latest `valid_from` ≤ t, ties to the later load"
            valid = [v for v in document.versions if v.valid_from <= at < v.ended]
            if valid:  # "A document with no version at t is out of scope."
                self.current[document.id] = max(valid, key=lambda v: (v.valid_from, v.number))
        self.documents = [
            truth.documents[key]
            for key, version in self.current.items()
            if (not scope.collections or version.fields["collection"] in scope.collections)
            and (not scope.document_ids or key in scope.document_ids)
            and all(matches(version.fields, condition) for condition in scope.conditions)
        ]
        # "A passage is visible when its document is in scope, its version is current, and no job is still writing it."
        self.visible = [p for d in self.documents for p in self.current[d.id].passages]
        self.in_scope = [p for d in self.documents for v in d.versions for p in v.passages]
        self.supported = {mention.entity for p in self.visible for mention in p.mentions}
        self.entities = {mention.entity for p in self.in_scope for mention in p.mentions}
        self.edges = self._edges()

    def size(self) -> tuple[int, int]:
        return len(self.documents), len(self.current)

    def status(self, entity: str) -> Status:
        return Status.SUPPORTED if entity in self.supported else Status.UNSUPPORTED

    # --- passages ---

    def id(self, passage: StoredPassage) -> str:
        return self.truth.passage_ids.get(passage.key, str(passage.key))

    def place(self, passage: StoredPassage) -> tuple[str, int, str]:
        """How every order of passages ends: document title, position, id."""
        return self.document(passage).title, passage.position, self.id(passage)

    def document(self, passage: StoredPassage) -> Document:
        document = self.truth.documents[passage.key[0]]
        return _document(document, document.versions[passage.key[1] - 1])

    def passage(self, passage: StoredPassage, entities: Sequence[str]) -> Passage:
        """The passage with the places of these entities marked."""
        spans = {m.span for m in passage.mentions if m.entity in entities and m.span is not None}
        return Passage(
            id=self.id(passage),
            source_id=passage.row["id"],
            dataset=self.truth.documents[passage.key[0]].dataset,
            text=passage.row["text"],
            document=self.document(passage),
            position=passage.position,
            heading=passage.row.get("heading"),
            start=passage.row.get("start"),
            end=passage.row.get("end"),
            mentions=tuple(sorted(spans)),
        )

    def evidence(self, passages: list[StoredPassage], entities: Sequence[str], limit: int) -> Evidence:
        """The first of these passages, which are in order, and the count of all."""
        counts = Counts(len(passages), len({p.key[0] for p in passages}))
        return Evidence(tuple(self.passage(p, entities) for p in passages[:limit]), counts)

    # 2.2.5: "those with most distinct query words first, then most mentions of it, then document title, position, id"
    def support_of_entity(self, entity: str, text: str, limit: int) -> Evidence:
        def order(passage: StoredPassage) -> tuple[Any, ...]:
            asked = set(words(text))
            held = sum(any(_in_text(word, other) for other in words(passage.row["text"])) for word in asked)
            mentions = sum(mention.entity == entity for mention in passage.mentions)
            return -held, -mentions, *self.place(passage)

        found = [p for p in self.visible if any(m.entity == entity for m in p.mentions)]
        return self.evidence(sorted(found, key=order), [entity], limit)

    # 2.3.3: "those that mention both ends first, then document title, position, id"
    def support_of_edge(self, edge: Edge, limit: int) -> Evidence:
        def order(passage: StoredPassage) -> tuple[Any, ...]:
            both = {edge.source, edge.target} <= {mention.entity for mention in passage.mentions}
            return not both, *self.place(passage)

        found = [p for p in self.visible if p.relations & {relation.id for relation in edge.relations}]
        return self.evidence(sorted(found, key=order), [edge.source, edge.target], limit)

    def mentioning_both(self, first: str, second: str, limit: int) -> Evidence:
        found = [p for p in self.visible if {first, second} <= {mention.entity for mention in p.mentions}]
        return self.evidence(sorted(found, key=self.place), [first, second], limit)

    # --- edges ---

    def _edges(self) -> list[Edge]:
        """Every stored edge in stored order, hidden ones included."""
        folded: dict[tuple[str, str, str], list[Relation]] = {}
        for relation in self.truth.relations.values():
            if relation.source != relation.target:  # "A relation of an entity to itself is never followed or counted."
                folded.setdefault((relation.source, relation.type, relation.target), []).append(relation)
        edges = [Edge(self, source, name, target, relations) for (source, name, target), relations in folded.items()]
        return sorted(edges, key=Edge.stored_order)

    def edges_around(self, entities: Sequence[str], relation_types: Sequence[str] = ()) -> list[Edge]:
        return [
            edge
            for edge in self.edges
            if (edge.source in entities or edge.target in entities)
            and (not relation_types or edge.type in relation_types)
        ]

    def hidden(self, entity: str, shown: set[str], relation_types: Sequence[str], limit: int) -> Hidden:
        # "counted among its first `max_candidates` in stored order, exact or a lower bound"
        around = self.edges_around([entity], relation_types)
        missing = [edge for edge in around[:limit] if edge.kept and edge.id not in shown]
        return Hidden(len(missing), exact=len(around) <= limit)

    # --- what stands beside a result ---

    def relation_types(self, entity: str, limit: int = 2_000) -> tuple[RelationType, ...]:
        around = self.edges_around([entity])
        kept = [edge.type for edge in around[:limit] if edge.kept]
        types = {RelationType(name, kept.count(name), exact=len(around) <= limit) for name in kept}
        return tuple(sorted(types, key=lambda found: (-found.edges, found.name)))

    def entity(self, entity: str) -> EntityView:
        if entity not in self.entities:
            raise Unavailable("no passage in scope")
        counts = self.support_of_entity(entity, "", 0).counts
        return EntityView(**asdict(self.truth.entities[entity]), status=self.status(entity), counts=counts)

    def edge_evidence(self, edge_id: str, limit: int) -> Evidence:
        for edge in self.edges:
            if edge.id == edge_id:
                return self.support_of_edge(edge, limit)
        return Evidence()

    def document_view(self, document_id: str, version: int | None = None) -> DocumentView:
        document = self.truth.documents[document_id]
        if version is None and document not in self.documents:
            raise Unavailable("out of scope")
        found = self.current[document_id] if version is None else document.versions[version - 1]
        passages = sorted(found.passages, key=lambda p: (p.position, self.id(p)))
        every = list(self.truth.entities)
        shown = tuple(self.passage(p, every) for p in passages)
        return DocumentView(**asdict(_document(document, found)), passages=shown)


class Edge:
    """The relations with one source, type and target, folded (2.3.3)."""

    def __init__(self, seen: Seen, source: str, name: str, target: str, relations: list[Relation]) -> None:
        self.seen, self.source, self.type, self.target, self.relations = seen, source, name, target, relations
        self.id = edge_id(source, name, target)
        # "visible support → stated; no passage at all → unstated; passages, but none visible → dropped"
        stated = [r for r in relations if any(r.id in p.relations for p in seen.visible)]
        unstated = [r for r in relations if r not in stated and r.unstated]
        self.kind = EdgeKind.ASSERTION if stated else EdgeKind.PATH
        self.weight = len(stated) + len(unstated)
        # "Both ends need a passage in scope, in any version"
        self.kept = self.weight > 0 and {source, target} <= seen.entities
        self.counts = seen.support_of_edge(self, 0).counts

    def stored_order(self) -> tuple[int, int, str]:
        """ "the order of stored support (documents, passages, edge id)" """
        support = {p.key for relation in self.relations for p in self.seen.truth.support(relation.id)}
        return -len({document for document, _, _ in support}), -len(support), self.id

    def shown_order(self) -> tuple[Any, ...]:
        """ "assertions before paths, then documents, passages, source's name, type, target's name, edge id" """
        source, target = (self.seen.truth.entities[end].name for end in (self.source, self.target))
        return (
            self.kind is EdgeKind.PATH,
            -self.counts.documents,
            -self.counts.passages,
            source,
            self.type,
            target,
            self.id,
        )

    def result(self, support_limit: int) -> WalkEdge:
        passages = self.seen.support_of_edge(self, support_limit).passages
        return WalkEdge(self.id, self.source, self.target, self.type, self.kind, self.weight, self.counts, passages)


def _document(document: StoredDocument, version: Version) -> Document:
    fields = version.fields
    return Document(
        id=document.id,
        source_id=document.source_id,
        dataset=document.dataset,
        title=fields.get("title") or document.source_id,
        collection=fields["collection"],
        version=version.number,
        date=fields.get("date"),
        author=fields.get("author"),
        url=fields.get("url"),
        valid_from=fields.get("valid_from"),
        metadata=document_metadata(fields),
    )


def _in_text(word: Any, other: Any) -> bool:
    return bool(word.text in other.text) if word.unspaced else bool(word.text == other.text)


# --- walk (section 2.3) ----------------------------------------------------------------------------------------------


def walk(truth: Truth, query: WalkQuery) -> WalkResult:
    seen = Seen(truth, query.scope)
    for name in query.relation_types:
        if name not in truth.relation_types:
            raise Malformed(f"unknown relation type {name!r}")
    if query.entity_id not in seen.supported:
        raise Unavailable("no visible passage")  # "No visible passage for the entity: `unavailable`."

    reached: dict[str, int] = {query.entity_id: 0}
    shown: dict[str, Edge] = {}
    cuts: list[Cut] = []
    for step in range(1, query.depth + 1):
        # "Step k takes the edges that touch an entity first reached in step k-1 (both directions)"
        frontier = [entity for entity, k in reached.items() if k == step - 1]
        if len(shown) == query.max_edges:  # "for the whole walk; reaching it ends the walk"
            beyond = _beyond(seen, query, frontier, shown)
            cuts += [Cut("edge", query.max_edges, step, missing=beyond)] if beyond else []
            break
        around = seen.edges_around(frontier, query.relation_types)
        read = around[: query.max_candidates]
        if len(around) > len(read):
            cuts.append(Cut("candidate", query.max_candidates, step, read=len(read)))
        left_out = {"node": 0, "edge": 0}
        for edge in sorted((e for e in read if e.kept and e.id not in shown), key=Edge.shown_order):
            new = [end for end in (edge.source, edge.target) if end not in reached]
            if len(shown) == query.max_edges:
                left_out["edge"] += 1
            elif new and len(reached) == query.max_nodes:  # "an edge that would need one node more is left out"
                left_out["node"] += 1
            else:
                shown[edge.id] = edge
                reached.update(dict.fromkeys(new, step))
        values = {"node": query.max_nodes, "edge": query.max_edges}
        cuts += [Cut(name, values[name], step, missing=n) for name, n in left_out.items() if n]
        if left_out["edge"]:
            break

    nodes = [_node(seen, query, entity, step, set(shown)) for entity, step in reached.items()]
    # "depth: named when an entity of the last step has an edge (of the kinds kept by 3) that is not shown"
    unfollowed = _beyond(seen, query, [node.id for node in nodes if node.step == query.depth], shown)
    if unfollowed:
        cuts.append(Cut("depth", query.depth, query.depth, missing=unfollowed))
    names = ["node", "edge", "depth", "candidate"]
    cuts.sort(key=lambda cut: (names.index(cut.bound), cut.step))
    return WalkResult(
        query=query,
        start=seen.entity(query.entity_id),
        nodes=tuple(nodes),
        edges=tuple(edge.result(query.support_limit) for edge in shown.values()),
        truncated_by=tuple(name for name in names if any(cut.bound == name for cut in cuts)),
        cuts=tuple(cuts),
        timings_ms={},
    )


def _beyond(seen: Seen, query: WalkQuery, entities: Sequence[str], shown: dict[str, Edge]) -> int:
    """How many distinct edges around the entities are not shown, counted among the first candidates of each."""
    return len(
        {
            edge.id
            for entity in entities
            for edge in seen.edges_around([entity], query.relation_types)[: query.max_candidates]
            if edge.kept and edge.id not in shown
        }
    )


def _node(seen: Seen, query: WalkQuery, entity: str, step: int, shown: set[str]) -> WalkNode:
    of = seen.truth.entities[entity]
    hidden = seen.hidden(entity, shown, query.relation_types, query.max_candidates)
    return WalkNode(of.id, of.source_id, of.dataset, of.name, of.label, step, seen.status(entity), hidden)


# --- entity search (section 2.2) -------------------------------------------------------------------------------------

Score = tuple[bool, bool, float, bool, float]


def name_score(text: str, name: str, kind: str) -> Score:
    """ "exact name, exact alias, share of the query's words, share of the name's words"; greater is better.

    "the beginning of a word for the query's last word (the scorer counts that as the word; a whole word comes before a
    beginning); a name in a script without spaces on any run of characters". In such a script each character counts.
    """
    asked, own = words(text), words(name)
    exact = fold(text) == fold(name) or (asked != () and [w.text for w in asked] == [w.text for w in own])
    whole = {word for word in asked if any(_in_text(word, other) for other in own)}
    begun = {
        word
        for word in asked[-1:]
        if word not in whole and not word.unspaced
        for other in own
        if other.text.startswith(word.text) and not other.unspaced
    }
    matched = 0
    for word in own:
        if word.unspaced:
            matched += min(len(word.text), sum(len(w.text) for w in whole if w.unspaced and w.text in word.text))
        else:
            matched += word in whole or any(word.text.startswith(w.text) for w in begun)
    return (
        exact and kind == "name",
        exact and kind == "alias",
        1.0 if exact else len(whole | begun) / len(set(asked)),
        not begun,
        matched / sum(len(word.text) if word.unspaced else 1 for word in own),
    )


def _best_name(text: str, entity: Entity) -> tuple[Score, Match] | None:
    scored: list[tuple[Score, Match]] = []
    for kind, names in (("name", (entity.name,)), ("alias", entity.aliases)):
        for name in names:
            score = name_score(text, name, kind)
            scored.append((score, Match(name, kind, exact=score[0] or score[1])))
    best = max(scored, key=lambda pair: pair[0])  # of several equal ones the first
    return best if best[0][2] else None


@dataclass
class Channel:
    ranked: list[Entity]
    scores: dict[str, float]
    found: list[Entity]  # also those that are not kept

    def kept(self, limit: int) -> Channel:
        """ "2 × limit per label are kept" """
        kept: list[Entity] = []
        for entity in self.ranked:
            if sum(other.label == entity.label for other in kept) < 2 * limit:
                kept.append(entity)
        return Channel(kept, self.scores, self.found)


def _lexical(candidates: list[Entity], text: str) -> tuple[Channel, dict[str, Match]]:
    best = {entity.id: found for entity in candidates if (found := _best_name(text, entity))}

    def order(entity: Entity) -> tuple[Any, ...]:
        return *(-part for part in best[entity.id][0]), entity.name, entity.id

    ranked = sorted((e for e in candidates if e.id in best), key=order)
    scores = {}
    for key, ((exact_name, exact_alias, asked, whole, named), _) in best.items():
        # One number in the same order (backend/ranking.py).
        scores[key] = round(4 * exact_name + 2 * exact_alias + asked + 0.001 * whole + 0.0009 * named, 6)
    return Channel(ranked, scores, ranked), {key: match for key, (_, match) in best.items()}


def _semantic(candidates: list[Entity], text: str, encoder: Encoder) -> Channel:
    # "the vector of an entity is of its name, with `: description` where there is one. No threshold."
    asked = encoder.encode([text])[0]
    scores = {}
    for entity in candidates:
        own = f"{entity.name}: {entity.description}" if entity.description else entity.name
        scores[entity.id] = cosine(asked, encoder.encode([own])[0])
    ranked = sorted(candidates, key=lambda e: (-scores[e.id], e.name, e.id))
    return Channel(ranked, scores, ranked)


def cosine(one: Any, other: Any) -> float:
    return round(float(sum(float(a) * float(b) for a, b in zip(one, other, strict=True))), 6)


def search(truth: Truth, query: EntityQuery, encoder: Encoder | None = None) -> EntityResult:
    """The result while everything fits below the bounds of 1,000 and the cap of the vector store."""
    seen = Seen(truth, query.scope)
    for label in query.labels:
        if label not in truth.labels:
            raise Malformed(f"unknown label {label!r}")
    if not query.text.strip():
        raise Malformed("blank")
    # "Keep an entity only when a passage in scope mentions it (in any version)."
    # "Ranks are counted after visibility."
    candidates = [
        truth.entities[key]
        for key in sorted(seen.entities)
        if not query.labels or truth.entities[key].label in query.labels
    ]
    channels: dict[str, Channel] = {}
    matches: dict[str, Match] = {}
    if query.mode is not Mode.SEMANTIC:
        channels["lexical"], matches = _lexical(candidates, query.text)
    if query.mode is not Mode.LEXICAL:
        assert encoder is not None
        channels["semantic"] = _semantic(candidates, query.text, encoder)
    channels = {name: channel.kept(query.limit) for name, channel in channels.items()}

    # "Hybrid fuses the two ranked lists by reciprocal rank fusion, k = 60; the other modes keep their own order."
    if query.mode is Mode.HYBRID:
        scores: dict[str, float] = {}
        for channel in channels.values():
            for rank, entity in enumerate(channel.ranked, start=1):
                scores[entity.id] = scores.get(entity.id, 0.0) + 1 / (60 + rank)
        ranked = sorted((truth.entities[key] for key in scores), key=lambda e: (-round(scores[e.id], 9), e.name, e.id))
    else:
        (channel,) = channels.values()
        ranked, scores = channel.ranked, channel.scores

    hits = []
    for entity in ranked[: query.limit]:
        evidence = seen.support_of_entity(entity.id, query.text, query.support_limit)
        hits.append(
            EntityHit(
                id=entity.id,
                source_id=entity.source_id,
                dataset=entity.dataset,
                name=entity.name,
                label=entity.label,
                aliases=entity.aliases,
                description=entity.description,
                score=round(scores[entity.id], 6),
                status=seen.status(entity.id),
                channels={
                    name: ChannelScore(channel.ranked.index(entity) + 1, channel.scores[entity.id])
                    for name, channel in channels.items()
                    if entity in channel.ranked
                },
                matched=matches[entity.id] if "lexical" in channels and entity in channels["lexical"].ranked else None,
                counts=evidence.counts,
                passages=evidence.passages,
            )
        )
    # A facet counts all names that match and, of meaning, which has no end, what is kept.
    found = {entity.id: entity for entity in channels["lexical"].found} if "lexical" in channels else {}
    nearest = channels["semantic"].ranked if "semantic" in channels else []
    found |= {entity.id: entity for entity in nearest}
    more = {e.label for e in nearest if sum(other.label == e.label for other in nearest) == 2 * query.limit}
    labels = [entity.label for entity in found.values()]
    facets = [Facet(label, labels.count(label), label not in more) for label in set(labels)]
    return EntityResult(
        query=query,
        hits=tuple(hits),
        facets=tuple(sorted(facets, key=lambda facet: (-facet.count, facet.label))),
        truncated_by=(),
        cuts=(),
        timings_ms={},
    )


# --- counts (section 8: `status`, committed data only; models.py: "what an empty scope sees") ------------------------


def dataset_counts(truth: Truth, scope: Scope) -> tuple[DatasetCounts, ...]:
    seen = Seen(truth, scope)
    counts = []
    for name in sorted(truth.datasets):
        passages = [p for p in seen.visible if truth.documents[p.key[0]].dataset == name]
        entities = [e for e in truth.entities.values() if e.dataset == name and e.id not in truth.retired]
        relations = [
            relation
            for relation in truth.relations.values()
            if relation.dataset == name and (relation.unstated or any(relation.id in p.relations for p in passages))
        ]
        counts.append(
            DatasetCounts(
                name,
                documents=sum(document.dataset == name for document in seen.documents),
                passages=len(passages),
                entities=len(entities),
                mentions=sum(len(p.mentions) for p in passages),
                relations=len(relations),
                topics=len({(p.key[0], p.row.get("heading") or seen.document(p).title) for p in passages}),
                statements=sum(len({n for places in p.sentences.values() for n in places}) for p in passages),
                facts=len({(relation.source, relation.type, relation.target) for relation in relations}),
            )
        )
    return tuple(counts)


def collection_counts(truth: Truth, scope: Scope) -> tuple[CollectionCounts, ...]:
    seen = Seen(truth, scope)
    counts = []
    for name in sorted(truth.collections):
        documents = {d.id for d in seen.documents if seen.current[d.id].fields["collection"] == name}
        if documents:
            counts.append(CollectionCounts(name, len(documents), sum(p.key[0] in documents for p in seen.visible)))
    return tuple(counts)
