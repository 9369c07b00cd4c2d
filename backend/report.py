"""Results in words for a terminal. Everything that comes from data is printed as plain text."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from backend import models
from backend.answers.answering import Moment
from backend.communities.values import CommunityResult, ReportOrigin
from backend.errors import AttestError
from backend.evaluation import Evaluation
from backend.explorer import Shown
from backend.loading.copying import DatasetCopy
from backend.loading.issues import SENTENCES
from backend.questions import Answer, AnswerKind, AnswerSentence, Retrieval
from backend.settings import Settings
from backend.status import StatusReport

_SENTENCES: dict[str, str] = {str(kind): sentence for kind, sentence in SENTENCES.items()}
_ANSWERED = {
    AnswerKind.EXTRACTIVE: "Answer, quoted from the evidence:",
    AnswerKind.MODEL: "Answer by the model {}:",
    AnswerKind.NONE: "No answer.",
}
_ORIGINS = {
    ReportOrigin.EXTRACTIVE: "quoted from passages",
    ReportOrigin.WRITTEN: "written by a model",
    ReportOrigin.IMPORTED: "imported, written by a model",
}
_UNLIMITED = 10_000  # characters
_SPEAKS_EVERY = 3.0  # seconds
_BIDI_CONTROLS = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)}


def plain(value: object, limit: int = 2_000) -> Text:
    """The value as it is safe to print: control and direction characters cannot reach the terminal."""
    text = str(value)
    shortened = text if len(text) <= limit else f"{text[:limit]}…"
    return Text("".join(_harmless(character) for character in shortened))


def lines(texts: Iterable[object]) -> None:
    """One line each."""
    console = _console()
    for text in texts:
        console.print(plain(text), soft_wrap=True)


def failure(error: AttestError) -> None:
    """What happened, and what to do next, on standard error."""
    console = Console(stderr=True, highlight=False)
    console.print(plain(error.message), style="bold red", soft_wrap=True)
    if error.hint:
        console.print(plain(error.hint), soft_wrap=True)


@contextmanager
def progress(*, shown: bool) -> Iterator[Callable[[models.Progress], None] | None]:
    """A listener that shows on standard error what is done: as a bar, or line by line where that is no terminal."""
    console = Console(stderr=True, highlight=False)
    if not shown:
        yield None
    elif console.is_terminal:
        with _bar(console) as listener:
            yield listener
    else:
        with _spoken(console) as listener:
            yield listener


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[models.Progress], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def listen(now: models.Progress) -> None:
            bar.tasks[0].total = now.total  # `update` would keep the last phase's where this one has none
            bar.update(task, description=now.phase[:1].upper() + now.phase[1:], completed=now.done)

        yield listen


@contextmanager
def _spoken(console: Console) -> Iterator[Callable[[models.Progress], None]]:
    """Says every few seconds what is being done, also while that takes long and nothing is heard of it."""
    last = models.Progress("starting")
    ended = threading.Event()
    begun = monotonic()

    def speak() -> None:
        while not ended.wait(_SPEAKS_EVERY):
            of = f" {last.done:,} of {last.total:,}" if last.total else ""
            console.print(plain(f"{monotonic() - begun:.0f} s: {last.phase}{of}"), soft_wrap=True)

    def listen(now: models.Progress) -> None:
        nonlocal last
        last = now

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield listen
    finally:
        ended.set()
        speaker.join()


def loaded(reports: Iterable[models.LoadReport]) -> None:
    """What each load read, kept, changed, repaired and left out."""
    for report in reports:
        lines([f"Loaded into dataset {report.dataset}"])
        lines([f"Recognised {report.format}"] if report.format else [])
        rows = [(kind, f"{report.read[kind]:,}", f"{report.kept[kind]:,}") for kind in report.read]
        _table(("rows", "read", "kept"), rows, numbers={1, 2})
        lines(f"{count:,} {kind}" for kind, count in report.changes.items())
        for issue in report.issues:
            verb = "Repaired" if issue.repaired else "Left out"
            lines([f"{verb}: {issue.count:,} {_SENTENCES.get(issue.kind, issue.kind)}"])
            lines(f"  {example}" for example in issue.examples)
        lines(f"Mended: {text}" for text in report.mended)


def copied(copies: Sequence[DatasetCopy], to: Settings) -> None:
    """What was copied, with the counts that both stores have, and the settings that use the copy."""
    for copy in copies:
        counted = ", ".join(f"{count:,} {kind}" for kind, count in copy.rows.items())
        lines([f"{copy.dataset}: {'copied' if copy.copied else 'was there'}, {counted}"])
    lines(["To use the copy, set:" if copies else "There is nothing to copy."])
    if copies:
        shown = ("ATTEST_HOME", "ATTEST_GRAPH", "ATTEST_NEO4J_DATABASE", "ATTEST_VECTORS")
        lines(f"  {name}={value}" for name, value in to.environment().items() if name in shown)


def status(report: StatusReport) -> None:
    """Datasets, collections, indexes, jobs and versions."""
    counted = ["documents", "passages", "entities", "mentions", "relations"]
    counted += [kind for kind in ("communities", "reports", "claims") if any(getattr(d, kind) for d in report.datasets)]
    datasets = [(d.name, *(f"{getattr(d, kind):,}" for kind in counted)) for d in report.datasets]
    _table(("dataset", *counted), datasets, numbers=set(range(1, len(counted) + 1)))
    collections = [(c.name, f"{c.documents:,}", f"{c.passages:,}") for c in report.collections]
    _table(("collection", "documents", "passages"), collections, numbers={1, 2})
    _table(("label", "index", "state"), [(i.label, i.index, f"{i.state} {i.detail}".strip()) for i in report.indexes])
    jobs(report.jobs[:10])
    if report.check is not None:
        checks = [
            (c.collection, c.recorded, "missing" if c.stored is None else c.stored, c.remedy) for c in report.check
        ]
        _table(("vectors", "recorded", "stored", "remedy"), checks, numbers={1, 2})
    lines([f"Graph store: {report.stores['graph']}", f"Vector store: {report.stores['vectors']}"])
    lines([f"Encoder: {report.encoder}"])


def jobs(found: Sequence[models.Job]) -> None:
    """One row for each job, its id whole; below them what went wrong."""
    rows = [(j.id, f"{j.kind} {j.dataset or ''}".strip(), j.state, j.finished or j.started) for j in found]
    _table(("job", "what", "state", "ended or started"), rows, whole={0, 2, 3})
    lines(f"{job.id} {job.state}: {job.error}" for job in found if job.error)


def hits(result: models.EntityResult) -> None:
    """Each hit with why it was found, and its first passage."""
    if not result.hits:
        lines(["Nothing found."])
    for number, hit in enumerate(result.hits, start=1):
        why = ", ".join(f"{name} {score.rank} ({score.score})" for name, score in hit.channels.items())
        counts = f"{hit.counts.passages} passages in {hit.counts.documents} documents"
        about = "unsupported: no current passage mentions it" if hit.status is models.Status.UNSUPPORTED else counts
        lines([f"{number}. {hit.name} ({hit.label}), {about}", f"   {hit.id}, {hit.dataset}, {why}"])
        lines(f"   {passage.document.title}: {passage.text}" for passage in hit.passages[:1])
    _bounds(result.cuts)


def passage_hits(result: models.PassageResult) -> None:
    """Each passage with its document, its place and why it was found."""
    if not result.hits:
        lines(["Nothing found."])
    for number, hit in enumerate(result.hits, start=1):
        why = ", ".join(f"{name} {score.rank} ({score.score})" for name, score in hit.channels.items())
        lines([f"{number}. {_place(hit.passage)}", f"   {hit.passage.id}, {hit.passage.dataset}, {why}"])
        lines([f"   {hit.passage.text}"])
    _bounds(result.cuts)


def communities(found: CommunityResult) -> None:
    """Each community with its signals and its report, then the passages that they lead to."""
    if found.entities:
        lines([f"Entities: {', '.join(one.name for one in found.entities)}"])
    if not found.communities:
        lines(["Nothing found."])
    for number, hit in enumerate(found.communities, start=1):
        signals = ", ".join(
            f"{name} {'–' if one.rank is None else f'{one.rank} ({one.value})'}" for name, one in hit.signals.items()
        )
        lines([f"{number}. {hit.title}", f"   {hit.id}, level {hit.level}, {hit.size} members, {hit.score}; {signals}"])
        lines(
            [f"   {_ORIGINS[hit.origin]}{', stale' * hit.stale}{', it covers more than this scope' * hit.covers_more}"]
        )
        lines([f"   {hit.report.summary}"])
    for item in found.evidence:
        lines([f"[{item.n}] {_place(item.passage)}", f"    {item.passage.id}, {', '.join(item.why)}"])
        lines([f"    {item.passage.text}"])
    lines([found.weighting, *([found.note] if found.note else [])])
    _bounds(found.cuts)


def evidence(found: Retrieval) -> None:
    """The numbered passages that an answer may cite, and how they were found."""
    chosen = found.strategy
    how = f"by the strategy {chosen.chosen}" + (f": {chosen.why}" if chosen.asked != chosen.chosen else ".")
    lines([f"Evidence {how}" if found.evidence else f"No evidence was found {how}"])
    for item in found.evidence:
        lines([f"[{item.n}] {_place(item.passage)}", f"    {item.passage.id}, {', '.join(item.why)}"])
        lines([f"    {item.passage.text}"])
    _bounds(found.cuts)


def answer(moments: Iterable[Moment], *, shown: bool = True) -> Answer:
    """The answer, whole; while it comes each sentence is printed as soon as it is finished, if `shown`."""
    said, last = 0, None
    for last in moments:
        if shown and said == 0 and last.answer.sentences:
            lines(["", _ANSWERED[last.answer.kind].format(last.answer.model)])
        if shown:
            lines(_sentence(sentence) for sentence in last.answer.sentences[said:])
        said = len(last.answer.sentences)
    assert last is not None, "an answer has a last moment"
    if shown and last.answer.note:
        lines(["", last.answer.note])
    return last.answer


def _sentence(sentence: AnswerSentence) -> str:
    cited = "".join(f" [{n}]" for n in sentence.citations)
    return f"{sentence.text}{cited}" + ("" if sentence.supported else f" (not supported: {sentence.why})")


def walk(result: models.WalkResult) -> None:
    """Each edge as a sentence, assertions first as the walk took them."""
    names = {node.id: node.name for node in result.nodes}
    lines([f"{result.start.name}: {len(result.nodes)} entities, {len(result.edges)} edges"])
    rows = [
        (names[e.source], e.type, names[e.target], e.kind, str(e.counts.passages), str(e.counts.documents))
        for e in result.edges
    ]
    _table(("source", "relation", "target", "kind", "passages", "documents"), rows, numbers={4, 5})
    _bounds(result.cuts)


def shown(found: Shown) -> None:
    """The thing, whole."""
    if entity := found.entity:
        lines([f"{entity.name} ({entity.label}), {entity.status}", f"{entity.id}, {entity.dataset} {entity.source_id}"])
        lines(f"also: {alias}" for alias in entity.aliases)
        lines([entity.description] if entity.description else [])
        lines([f"{entity.counts.passages} passages in {entity.counts.documents} documents"])
    if passage := found.passage:
        _passages([passage])
    if document := found.document:
        lines([f"{document.title}, version {document.version}, {document.collection}", document.id])
        _passages(document.passages)


def _place(passage: models.Passage) -> str:
    document = passage.document
    heading = f", {passage.heading}" if passage.heading else ""
    return f"{document.title} {passage.position}{heading} ({document.collection})"


def _passages(passages: Iterable[models.Passage]) -> None:
    for passage in passages:
        lines([f"{passage.document.title} {passage.position}", passage.text, ""])


def _bounds(cuts: Iterable[models.Cut]) -> None:
    for cut in cuts:
        step = f" in step {cut.step}" if cut.step else ""
        missing = "more is stored" if cut.missing is None else f"{cut.missing} left out"
        lines([f"Cut by the {cut.bound} bound ({cut.value}){step}: {missing}."])


def _table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    numbers: Iterable[int] = (),
    whole: Iterable[int] = (),
) -> None:
    """Prints the rows; cells of `whole` columns are never broken, for what is copied or read by programs."""
    if not rows:
        return
    right, unbroken = set(numbers), set(whole)
    table = Table(box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        justify: JustifyMethod = "right" if place in right else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=place in unbroken)
    for row in rows:
        table.add_row(*(plain(value, 200) for value in row))
    console = _console()
    if unbroken:  # rather wider than the terminal than broken
        unlimited = console.options.update(max_width=_UNLIMITED)
        console.width = max(console.width, Measurement.get(console, unlimited, table).minimum)
    console.print(table)


def _console() -> Console:
    return Console(highlight=False)


def _harmless(character: str) -> str:
    if character in "\n\t":
        return character
    if character in _BIDI_CONTROLS or unicodedata.category(character) == "Cc":
        return f"<U+{ord(character):04X}>"
    return character


def evaluation(found: Evaluation) -> None:
    """The table of an evaluation: shares in percent, times in milliseconds."""
    first = found.table[0]
    headings = ("questions", "number", *first.recall, *first.all_in, "ms", "p95 ms", "queries")
    rows = [
        (
            row.type,
            row.questions,
            *(f"{share:.1f}" for share in (*row.recall.values(), *row.all_in.values())),
            f"{row.ms:.0f}",
            f"{row.p95_ms:.0f}",
            f"{row.queries:.1f}",
        )
        for row in found.table
    ]
    _table(headings, rows, numbers=range(1, len(headings)))
