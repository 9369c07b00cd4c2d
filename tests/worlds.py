"""Random small worlds, and the way from a world to a store.

A world is a list of loads and removals over one or two datasets whose source ids are the same on purpose. Words,
titles, dates and metadata come from short lists, so that names collide, titles tie and conditions hit. `opened` writes
each load as a bundle and runs the real loader over it; a load that never commits is aborted just before its commit, and
one that comes last is held there while the questions are asked.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st

from backend.errors import AttestError, IndexNotReady, Unavailable
from backend.explorer import Explorer
from backend.identity import stable_id
from backend.loading.jobs import Listener
from backend.models import (
    Condition,
    EntityQuery,
    LoadReport,
    Mode,
    PassageQuery,
    Progress,
    Scope,
    WalkQuery,
)
from backend.settings import Settings
from backend.stores.base import GraphStore
from backend.stores.neo4j.driver import Address
from backend.stores.neo4j.store import Neo4jStore
from backend.stores.sqlite.store import SqliteStore
from backend.vectors.base import Neighbour, Vectors
from tests.bundles import write_bundle
from tests.encoders import LettersEncoder
from tests.model import Load, Removal, Row, Seen, Truth, cosine
from tests.servers.neo4j import Neo4j

Step = Load | Removal
World = tuple[Step, ...]

DATASETS = ("alpha", "beta")
NAMES = ("Ada", "Ada Berg", "Berg", "Bergen", "Ada-Bo", "O'Berg", "東京", "東京都 Ada", "Zoë", "zoe", "C++", "+++")
LABELS = ("Person", "Place", "Topic", None)
TYPES = ("KNOWS", "has part", "MENTIONED_IN")
TEXTS = (
    "Ada met Berg.",
    "Berg left.",
    "Berg left. Ada met Zoë. Nothing.",
    "東京都 is where Ada and Zoë met Bergen, said Berg.",
    "Nothing.",
)
TITLES = ("Letter", "Letter", "Report", None)
COLLECTIONS = ("letters", "reports", None)
DATES = (None, None, None, None, "2020-01-01", "2020-01-01", "2021-06-01", "2021-06-01T12:00:00Z", "2999-01-01")
MOMENTS = (*[None] * 8, "2020-01-01", "2019-12-31", "2021-06-01T12:00:00Z", "2021-05-31", "2999-01-01", "3000-01-01")
METADATA: tuple[Any, ...] = (
    *(1, 2, 2.5, 10, "2", "10", " 2 ", "a", "b", "ab", "", True, None, "2021-06-01", "2021-06-01T12:00:00Z"),
    *([], ["a", 2], ["b", None], {"k": 1}),
)
ASKED = (
    "2",
    "10",
    "2.0",
    "a",
    "b",
    "true",
    "2021-06-01",
    "2021-06-01T23:59:59.999999Z",
    "Letter",
    "reports",
    '{"k": 1}',
)
KEYS = ("k", "l", "title", "collection", "author", "date", "none")

# --- strategies ------------------------------------------------------------------------------------------------------


def _some(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def _row(**fields: Any) -> Row:
    return {key: value for key, value in fields.items() if value not in (None, [], {})}


@st.composite
def _documents(draw: st.DrawFn, ids: Sequence[str]) -> tuple[list[Row], list[Row]]:
    documents, passages = [], []
    for document_id in ids:
        documents.append(
            _row(
                id=document_id,
                title=draw(_some(*TITLES)),
                collection=draw(_some(*COLLECTIONS)),
                valid_from=draw(_some(*DATES)),
                author=draw(_some(None, None, "Ada")),
                date=draw(_some(None, None, "2020-05-05")),
                metadata=draw(st.dictionaries(_some("k", "l"), _some(*METADATA), max_size=2)),
            )
        )
        for place in range(draw(st.integers(1, 3))):
            position = draw(_some(None, None, None, 0, 7))
            heading = draw(_some(None, None, None, "Ada", "Letter"))
            passages.append(
                _row(id=f"{document_id}p{place}", document_id=document_id, text=draw(_some(*TEXTS)), heading=heading)
            )
            if position is not None:
                passages[-1]["position"] = position
    return documents, passages


@st.composite
def _mentions(draw: st.DrawFn, entities: Sequence[str], passages: Sequence[Row]) -> list[Row]:
    mentions = []
    for passage in passages:
        for entity in draw(st.lists(_some(*entities), max_size=3)):
            row = {"entity_id": entity, "passage_id": passage["id"]}
            start = draw(_some(None, None, 0, 4, 900))
            if start is not None:
                row |= {"start": start, "end": start + 3}
            mentions.append(row)
    return mentions


@st.composite
def _relations(draw: st.DrawFn, entities: Sequence[str], passages: Sequence[str]) -> list[Row]:
    support = st.lists(_some(*passages), max_size=3, unique=True) if passages else st.just([])
    drawn = st.tuples(_some(*entities), _some(*TYPES[:2], *TYPES), _some(*entities), support, _some(None, None, 0, 1))
    rows: list[Row] = []
    for source, name, target, stated, number in draw(st.lists(drawn, min_size=1, max_size=10)):
        # An id that tells the ends: a second load with the same id means the same relation.
        row_id = None if number is None else f"{source}-{name}-{target}-{number}-{bool(stated)}"
        if row_id is None or row_id not in {row.get("id") for row in rows}:
            rows.append(_row(id=row_id, source=source, target=target, type=name, passage_ids=sorted(stated)))
    return rows


@st.composite
def loads(draw: st.DrawFn) -> World:
    """One to five loads and removals, mostly of one dataset."""
    steps: list[Step] = []
    entities = [f"e{number}" for number in range(draw(st.integers(2, 6) | st.integers(2, 12)))]
    known: dict[str, set[str]] = {name: set() for name in DATASETS}
    replaces = draw(st.booleans())  # a world with --replace has no rows that refer to earlier loads
    for _ in range(draw(st.integers(1, 5))):
        dataset = draw(_some("alpha", "alpha", "beta"))
        kind = draw(_some("new", "new", "new", "new", "again", "remove"))
        before = [step for step in steps if isinstance(step, Load) and step.dataset == dataset]
        if kind == "again" and before:
            steps.append(replace(draw(_some(*before)), committed=True))
        elif kind == "remove" and before:
            steps.append(Removal(dataset, draw(_some(None, "d0", "d1"))))
        else:
            load = draw(_load(dataset, entities, set() if replaces else known[dataset], steps))
            steps.append(replace(load, replace=replaces and draw(st.booleans())))
        latest = steps[-1]
        if isinstance(latest, Removal):
            known[dataset] = set()  # what it took along is not worth working out here
        elif latest.committed:
            known[dataset] |= {row["id"] for row in latest.entities}
    return tuple(steps)


@st.composite
def _load(draw: st.DrawFn, dataset: str, entities: list[str], known: set[str], steps: list[Step]) -> Load:
    subset = st.lists(_some(*entities), unique=True, min_size=0 if known else 1, max_size=4)
    chosen = draw(subset) if known else draw(st.just(entities) | st.just(entities) | subset)
    rows = [
        _row(
            id=entity,
            name=draw(_some(*NAMES)),
            type=draw(_some(*LABELS)),
            aliases=draw(st.lists(_some(*NAMES), max_size=2)),
            description=draw(_some(None, None, "A lighthouse.")),
        )
        for entity in chosen
    ]
    ids = draw(st.lists(_some("d0", "d1", "d2", "d3"), unique=True, min_size=0 if known else 1, max_size=4))
    documents, passages = draw(_documents(ids))
    if known and len(documents) > 1 and draw(st.booleans()):
        documents.pop()  # its passages join the version of an earlier load, if there is one
    usable = sorted({*chosen, *known})
    earlier = {
        row["id"]: row
        for step in steps
        if known and isinstance(step, Load) and step.dataset == dataset and step.committed
        for row in step.passages
        if row["document_id"] not in {document["id"] for document in documents}
    }
    return Load(
        dataset,
        documents,
        passages,
        rows,
        # e99 is nowhere: such a mention, and such a relation, is left out.
        draw(_mentions([*usable, *draw(_some([], [], ["e99"]))], [*passages, *list(earlier.values())[:1]])),
        draw(
            _relations(
                [*usable, *draw(_some([], [], ["e99"]))], [*(row["id"] for row in passages), *earlier, "d9p9"][:-1]
            )
        ),
        collection=draw(_some(None, None, "given")),
        committed=draw(_some(True, True, True, True, False)),
    )


def _few(names: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """None of the names in half of the cases, else one to three."""
    return st.just([]) | st.lists(_some(*names), min_size=1, max_size=3, unique=True) if names else st.just([])


@st.composite
def scopes(draw: st.DrawFn, truth: Truth) -> Scope:
    """Often empty, mostly of names that exist."""
    if draw(_some(True, True, True, False)):
        return Scope(as_of=draw(_some(*MOMENTS)))
    ids = sorted(truth.documents)
    conditions = draw(st.lists(_conditions(), max_size=1) | st.lists(_conditions(), max_size=2))
    return Scope(
        collections=tuple(draw(_few([*sorted(truth.collections) * 3, "nowhere"]))),
        document_ids=tuple(draw(_few(ids))),
        conditions=tuple(conditions),
        as_of=draw(_some(*MOMENTS)),
    )


@st.composite
def _conditions(draw: st.DrawFn) -> Condition:
    operator = draw(_some("=", "!=", "<", "<=", ">", ">=", "in", "contains", "exists"))
    count = {"in": 2, "exists": 0}.get(operator, 1)
    values = draw(st.lists(_some(*ASKED), min_size=count, max_size=count))
    return Condition(draw(_some("k", "k", "l", *KEYS)), operator, tuple(values))


@st.composite
def walk_queries(draw: st.DrawFn, truth: Truth) -> WalkQuery:
    """Small bounds more often than not."""
    scope = draw(scopes(truth))
    visible = sorted(Seen(truth, scope).supported) if set(scope.collections) <= truth.collections else []
    return WalkQuery(
        entity_id=draw(_some(*visible * 4, *truth.entities, stable_id("entity", "alpha", "e0"))),
        depth=draw(_some(1, 2, 2)),
        relation_types=tuple(draw(_few([*sorted(truth.relation_types) * 5, "NONE"]))),
        max_nodes=draw(_some(100, 100, 1, 2, 3, 5)),
        max_edges=draw(_some(300, 300, 1, 2, 3, 5)),
        max_candidates=draw(_some(2000, 2000, 1, 2, 3, 5)),
        support_limit=draw(_some(3, 1, 2, 0)),
        scope=scope,
    )


TERMS = (
    "Ada",
    "ada",
    "Ad",
    "Berg",
    "ber",
    "bergen",
    "BO",
    "東",
    "京都",
    "zoe",
    "ZOË",
    "c",
    "C++",
    "+",
    "o'b",
    "OR",
    "*",
    '"',
    ":",
)


@st.composite
def entity_queries(draw: st.DrawFn, truth: Truth, mode: Mode) -> EntityQuery:
    """A few words, whole or begun, often the whole of a name."""
    text = draw(_some(*NAMES) | st.lists(_some(*TERMS), min_size=1, max_size=3).map(" ".join))
    return EntityQuery(
        text=text,
        labels=tuple(draw(_few([*sorted(truth.labels) * 5, "Nolabel"]))),
        mode=mode,
        limit=draw(_some(10, 1, 2, 3)),
        support_limit=draw(_some(3, 1, 2, 0)),
        scope=draw(scopes(truth)),
    )


@st.composite
def passage_queries(draw: st.DrawFn, truth: Truth, mode: Mode) -> PassageQuery:
    """A few words, some of them in no passage."""
    text = draw(st.lists(_some(*TERMS, *NAMES, "letter", "nowhere"), min_size=1, max_size=4).map(" ".join))
    return PassageQuery(text, mode, draw(_some(10, 1, 2, 3)), draw(scopes(truth)))


# --- from a world to a store -----------------------------------------------------------------------------------------


class ExactIndex:
    """An Index in memory that compares with every vector."""

    def __init__(self, max_results: int = 1_000) -> None:
        self.max_results = max_results
        self._rows: dict[str, dict[str, tuple[str, Any]]] = {}
        self.reads = 0

    def create(self, collection: str, *, kind: str, encoder: str, dimension: int) -> None:
        self._rows[collection] = {}

    def add(self, collection: str, ids: Sequence[str], labels: Sequence[str], vectors: Vectors) -> None:
        self._rows[collection].update(zip(ids, zip(labels, vectors, strict=True), strict=True))

    def seal(self, collection: str) -> None:
        pass

    def nearest(self, collection: str, vector: Any, *, limit: int, labels: Sequence[str] = ()) -> list[Neighbour]:
        self.reads += 1
        if collection not in self._rows:
            raise IndexNotReady(f"There is no collection {collection}.", hint="Run `attest index`.")
        found = [
            Neighbour(row_id, cosine(vector, stored))
            for row_id, (label, stored) in self._rows[collection].items()
            if not labels or label in labels
        ]
        return sorted(found, key=lambda n: (-n.score, n.id))[: min(limit, self.max_results)]

    def nearest_each(
        self, collection: str, vectors: Any, *, limit: int, labels: Sequence[str] = ()
    ) -> list[list[Neighbour]]:
        return [self.nearest(collection, vector, limit=limit, labels=labels) for vector in vectors]

    def read(self, collection: str, ids: Sequence[str]) -> dict[str, Any]:
        return {row_id: row[1] for row_id, row in self._rows[collection].items() if row_id in ids}

    def ids(self, collection: str) -> Iterator[str]:
        yield from self._rows[collection]

    def collections(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self._rows.items()}

    def names(self) -> list[str]:
        return list(self._rows)

    def drop(self, collection: str) -> None:
        self._rows.pop(collection, None)

    def close(self) -> None:
        pass

    def version(self) -> str:
        return "in memory"


# Hundreds of stores are made and thrown away; on a disk most of the time would go into waiting for it.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def open_store(store_place: str, folder: Path) -> GraphStore:
    """The store at its place, which is `sqlite` (in the folder) or the address of a Neo4j."""
    return SqliteStore(folder) if store_place == "sqlite" else Neo4jStore(Address(store_place))


def new_explorer(folder: Path, store_place: str = "sqlite", index: ExactIndex | None = None) -> Explorer:
    """An explorer over an empty store, with an index in memory and a small encoder."""
    index = index or ExactIndex()
    encoder = LettersEncoder()
    if store_place != "sqlite":
        Neo4j(store_place).clear()
    store = open_store(store_place, folder)
    return Explorer(store, index=lambda: index, encoder=lambda: encoder, settings=Settings(home=folder))


def apply(explorer: Explorer, step: Step, folder: Path) -> None:
    """Runs a load or a removal; a load that does not commit runs until it would and is gone then."""
    if isinstance(step, Load) and not step.committed:
        with unfinished(explorer, step, folder):
            pass
    elif isinstance(step, Load):
        run(explorer, step, folder)
    else:
        with suppress(Unavailable):  # of something that was removed before
            if step.document is None:
                explorer.remove(dataset=step.dataset)
            else:
                explorer.remove(document_id=stable_id("document", step.dataset, step.document))


def run(explorer: Explorer, load: Load, folder: Path, listener: Listener | None = None) -> LoadReport:
    """Runs a load from a new bundle in the folder."""
    kinds = ("documents", "passages", "entities", "mentions", "relations")
    rows = {kind: list(getattr(load, kind)) for kind in kinds}
    path = write_bundle(Path(tempfile.mkdtemp(dir=folder)), **rows)
    (report,) = explorer.load(
        [path], dataset=load.dataset, collection=load.collection, replace=load.replace, listener=listener
    )
    return report


class Abandoned(Exception):
    """Raised inside a load that is not to be finished."""


@contextmanager
def unfinished(explorer: Explorer, load: Load, folder: Path) -> Iterator[None]:
    """While the block runs, the load has written everything and has yet to commit; it never does."""
    written, asked = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def listener(progress: Progress) -> None:
        if progress.phase == "committing":
            written.set()
            asked.wait(60)
            raise Abandoned

    def target() -> None:
        try:
            run(explorer, load, folder, listener)
        except Abandoned:
            pass
        except BaseException as error:  # noqa: BLE001 - carried to the thread that asks
            failures.append(error)
        finally:
            written.set()

    thread = threading.Thread(target=target)
    thread.start()
    try:
        written.wait(60)
        if failures:
            raise failures[0]
        yield
    finally:
        asked.set()
        thread.join()


@contextmanager
def opened(world: World, store_place: str = "sqlite") -> Iterator[tuple[Explorer, Truth]]:
    """The world in a store and in the oracle; a last load that does not commit is still running."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, ExitStack() as stack:
        folder = Path(name)
        explorer = new_explorer(folder / "store", store_place)
        stack.callback(explorer.close)
        *before, last = world
        for step in before:
            apply(explorer, step, folder)
        if isinstance(last, Load) and not last.committed:
            stack.enter_context(unfinished(explorer, last, folder))
        else:
            apply(explorer, last, folder)
        truth = Truth(world)
        learn_passage_ids(explorer, truth)
        yield explorer, truth


def learn_passage_ids(explorer: Explorer, truth: Truth) -> None:
    """Tells the oracle the ids of passages, which depend on a hash that it does not know."""
    for document in truth.documents.values():
        for version in document.versions:
            view = explorer.document(document.id, version=version.number)
            for passage in view.passages:
                truth.passage_ids[document.id, version.number, passage.source_id] = passage.id


def outcome(ask: Callable[..., Any], *arguments: Any) -> Any:
    """The result without its times, or the kind of error."""
    try:
        result = ask(*arguments)
    except AttestError as error:
        return error.kind
    return replace(result, timings_ms={}) if hasattr(result, "timings_ms") else result


def differences(got: Any, expected: Any, where: str = "result") -> list[str]:
    """Every place where two results differ, so that a failure can be read."""
    if type(got) is type(expected) and is_dataclass(got):
        names = [field.name for field in fields(got)]
        return [d for n in names for d in differences(getattr(got, n), getattr(expected, n), f"{where}.{n}")]
    if isinstance(got, tuple) and isinstance(expected, tuple) and len(got) == len(expected):
        return [
            d for n, (a, b) in enumerate(zip(got, expected, strict=True)) for d in differences(a, b, f"{where}[{n}]")
        ]
    return [] if got == expected else [f"{where}: got {got!r}, expected {expected!r}"]


# --- making a failure small ------------------------------------------------------------------------------------------

Q = TypeVar("Q", WalkQuery, EntityQuery, Scope)
Failing = Callable[[World, Q], list[str]]
SECONDS_TO_SHRINK = 90
ON_A_SERVER = 6  # examples; a world takes a second there
KINDS = ("relations", "mentions", "passages", "documents", "entities")


def check(world: World, query: Q, found: list[str], failing: Failing[Q]) -> None:
    """Fails with the smallest world and query that still differ, if `found` says that these do.

    Hypothesis would shrink the choices behind a world, which takes minutes; leaving out row after row takes seconds.
    """
    if not found:
        return

    def differ(smaller: World, asked: Q) -> list[str]:
        try:
            now = failing(smaller, asked)
        except Exception:  # noqa: BLE001 - a world that lacks what others refer to
            return []
        return now if place(found[0]) in map(place, now) else []

    until = monotonic() + SECONDS_TO_SHRINK
    shrinking = True
    while shrinking and monotonic() < until:
        shrinking = False
        for smaller, asked in _smaller(world, query):
            if now := differ(smaller, asked):
                world, query, found, shrinking = smaller, asked, now, True
                break
    steps = "\n".join(f"  {step}" for step in world)
    pytest.fail("\n".join(["the backend and the oracle differ", *found, f"{query}", steps]), pytrace=False)


def place(difference: str) -> str:
    """Which field differs, whichever hit, node or edge it is of; it tells one fault from another."""
    return re.sub(r"\[\d+\]", "", difference.partition(":")[0])


def _smaller(world: World, query: Q) -> Iterator[tuple[World, Q]]:
    """The world without one step, one row or one field, then the query with a default in one place."""
    for number, step in enumerate(world):
        without = (*world[:number], *world[number + 1 :])
        if without:
            yield without, query
        for less in _less(step) if isinstance(step, Load) else ():
            yield (*world[:number], less, *world[number + 1 :]), query
    for asked in _plainer(query):
        yield world, asked


def _less(load: Load) -> Iterator[Load]:
    for kind in KINDS:
        rows = getattr(load, kind)
        if len(rows) > 3:
            yield replace(load, **{kind: rows[: len(rows) // 2]})
            yield replace(load, **{kind: rows[len(rows) // 2 :]})
        yield from (replace(load, **{kind: [*rows[:n], *rows[n + 1 :]]}) for n in range(len(rows)))
    for kind in KINDS:
        for n, row in enumerate(getattr(load, kind)):
            for key in ("title", "collection", "valid_from", "author", "date", "metadata", "aliases", "description"):
                if key in row:
                    rows = list(getattr(load, kind))
                    rows[n] = {name: value for name, value in row.items() if name != key}
                    yield replace(load, **{kind: rows})
    yield from (
        replace(load, **{flag: plain})
        for flag, plain in (("collection", None), ("replace", False))
        if getattr(load, flag)
    )


def _plainer(query: Q) -> Iterator[Q]:
    for field in fields(query):
        if field.name != "mode" and field.default is not MISSING and getattr(query, field.name) != field.default:
            yield replace(query, **{field.name: field.default})
