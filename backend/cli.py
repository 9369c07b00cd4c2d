"""The command line: one program, whose every reading command gives the backend's result as it is with `--json`."""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Annotated, TypeVar

import orjson
import typer

from backend import report
from backend.communities.values import RRF, CommunityQuery
from backend.errors import AttestError, Malformed
from backend.evaluation import read_questions
from backend.explorer import Explorer, open_explorer
from backend.models import EntityQuery, Mode, PassageQuery, Scope, WalkQuery
from backend.questions import MOST_RANKED, Answer, Question, Retrieval
from backend.scope import parse_condition
from backend.settings import Settings, read_settings
from backend.stopwatch import Stopwatch

T = TypeVar("T")
app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Collections = Annotated[list[str] | None, typer.Option("--collection", help="Only documents of this collection.")]
Documents = Annotated[list[str] | None, typer.Option("--document", help="Only this document (its id).")]
Conditions = Annotated[
    list[str] | None, typer.Option("--where", help="KEY OP VALUE on metadata; OP: = != < <= > >= in contains exists.")
]
AsOf = Annotated[str | None, typer.Option("--as-of", help="The point in time: an ISO date, which means its end.")]
AsJson = Annotated[bool, typer.Option("--json", help="The result as JSON.")]
Support = Annotated[int, typer.Option("--support", min=0, help="Passages with each thing.")]


def _show_version(asked: bool) -> None:
    if asked:
        report.lines([f"attest {metadata.version('attest')}"])
        raise typer.Exit


@app.callback()
def attest(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Explores a knowledge graph down to the passage that states each thing."""


@app.command()
def load(
    paths: Annotated[
        list[Path], typer.Argument(help="Bundles, or outputs of other tools: a folder, or a .zip of one.")
    ],
    dataset: Annotated[str | None, typer.Option(help="Name of the dataset; default the folder's or file's.")] = None,
    collection: Annotated[str | None, typer.Option(help="For documents without one; default the dataset's.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Retire what these bundles do not have.")] = False,
    communities: Annotated[
        bool, typer.Option("--communities", help="Then give what was loaded communities, if it brings none.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Load bundles into the store."""
    with _explorer() as explorer, report.progress(shown=not as_json) as listener:
        reports = explorer.load(
            paths,
            dataset=_text(dataset),
            collection=_text(collection),
            replace=replace,
            listener=listener,
        )
        if communities and (lacking := [one.dataset for one in reports if not one.kept.get("communities")]):
            explorer.build_communities(lacking, listener=listener)
    _print(as_json, reports, lambda: report.loaded(reports))


@app.command()
def status(
    check: Annotated[bool, typer.Option("--check", help="Compare the vector store with the graph's record.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is stored, and in what state."""
    with _explorer() as explorer:
        found = explorer.status(check=check)
    _print(as_json, found, lambda: report.status(found))


@app.command()
def index(
    communities: Annotated[
        bool, typer.Option("--communities", help="Give graphs communities that came without, or make these anew.")
    ] = False,
    dataset: Annotated[
        list[str] | None, typer.Option(help="With --communities: only of this dataset, whatever it came with.")
    ] = None,
    written: Annotated[
        bool, typer.Option("--written", help="With --communities: let the language model write the reports.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build indexes that are missing or were made with another encoder, and communities on request."""
    if (dataset or written) and not communities:
        raise Malformed("--dataset and --written are for --communities.", hint="Indexes are built for all datasets.")
    with _explorer() as explorer, report.progress(shown=not as_json) as listener:
        done = explorer.build_indexes(listener=listener)
        if communities:
            done += explorer.build_communities(_texts(dataset), written=written, listener=listener)
    _print(as_json, {"done": done}, lambda: report.lines(done or ["Nothing was missing."]))


@app.command()
def search(
    text: Annotated[str, typer.Argument(help="A name, or a few words.")],
    label: Annotated[list[str] | None, typer.Option(help="Only entities of this label.")] = None,
    mode: Annotated[Mode, typer.Option(help="How to look for it.")] = Mode.HYBRID,
    limit: Annotated[int, typer.Option(help="Hits, up to 500.")] = 10,
    support: Support = 3,
    collection: Collections = None,
    document: Documents = None,
    where: Conditions = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Find entities by name and by meaning."""
    scope = _scope(collection, document, where, as_of)
    query = EntityQuery(_text(text), tuple(_texts(label)), mode, limit, support, scope)
    with _explorer() as explorer:
        found = explorer.search(query)
    _print(as_json, found, lambda: report.hits(found))


@app.command()
def passages(
    text: Annotated[str, typer.Argument(help="A few words, or a question.")],
    mode: Annotated[Mode, typer.Option(help="How to look for it: by words, by meaning, or both.")] = Mode.HYBRID,
    limit: Annotated[int, typer.Option(help="Hits, up to 500.")] = 10,
    collection: Collections = None,
    document: Documents = None,
    where: Conditions = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Find passages by their words and by meaning."""
    query = PassageQuery(_text(text), mode, limit, _scope(collection, document, where, as_of))
    with _explorer() as explorer:
        found = explorer.passages(query)
    _print(as_json, found, lambda: report.passage_hits(found))


@app.command()
def ask(
    text: Annotated[str, typer.Argument(help="A question.")],
    strategy: Annotated[str, typer.Option(help="How to find evidence for it.")] = "automatic",
    retriever: Annotated[
        list[str] | None, typer.Option(metavar="NAME[=WEIGHT]", help="A retriever of the strategy traversal.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of that strategy.")] = None,
    limit: Annotated[int, typer.Option(help="Passages of evidence, up to 500.")] = 8,
    reach: Annotated[int, typer.Option(help="Times as many candidates before a bound cuts, up to 8.")] = 1,
    collection: Collections = None,
    document: Documents = None,
    where: Conditions = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Find evidence for a question, and answer from it."""
    scope = _scope(collection, document, where, as_of)
    retrievers, options = tuple(_texts(retriever)), tuple(_texts(option))
    question = Question(_text(text), _text(strategy), retrievers, options, limit, scope, reach)
    with _explorer() as explorer:
        found = explorer.retrieve(question)
        if not as_json:
            report.evidence(found)
        watch = Stopwatch()
        with watch.step("answer"), closing(explorer.answer(found)) as moments:
            answer = report.answer(moments, shown=not as_json)
    if as_json:
        _write(orjson.dumps(_answered(found, answer, watch.timings_ms)))


@app.command()
def communities(
    text: Annotated[str, typer.Argument(help="A question.")],
    score: Annotated[str, typer.Option(help="rrf, or weighted by the three coefficients.")] = RRF,
    alpha: Annotated[float, typer.Option(help="With weighted: of the similarity of report and question.")] = 0.5,
    beta: Annotated[float, typer.Option(help="With weighted: of the overlap with the question's entities.")] = 0.3,
    gamma: Annotated[float, typer.Option(help="With weighted: of the relations to these entities.")] = 0.2,
    level: Annotated[int | None, typer.Option(help="Only communities of this level; 0 is the coarsest.")] = None,
    limit: Annotated[int, typer.Option(help="Communities, up to 50.")] = 5,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Let the language model order them, and discard what does not belong.")
    ] = False,
    collection: Collections = None,
    document: Documents = None,
    where: Conditions = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Find the communities that a question is about, with what they say and the passages that state it."""
    scope = _scope(collection, document, where, as_of)
    query = CommunityQuery(_text(text), _text(score), alpha, beta, gamma, level, limit, rerank, scope)
    with _explorer() as explorer:
        found = explorer.communities(query)
    _print(as_json, found, lambda: report.communities(found))


@app.command()
def walk(
    entity_id: Annotated[str, typer.Argument(help="The id of the entity to start from.")],
    depth: Annotated[int, typer.Option(help="Steps, 1 or 2.")] = 1,
    relation_type: Annotated[list[str] | None, typer.Option("--type", help="Only relations of this type.")] = None,
    max_nodes: Annotated[int, typer.Option(help="Entities, up to 2,000.")] = 100,
    max_edges: Annotated[int, typer.Option(help="Edges, up to 6,000.")] = 300,
    max_candidates: Annotated[int, typer.Option(help="Edges read per step, up to 50,000.")] = 2_000,
    support: Support = 3,
    collection: Collections = None,
    document: Documents = None,
    where: Conditions = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Walk along the relations of an entity."""
    scope = _scope(collection, document, where, as_of)
    types = tuple(_texts(relation_type))
    query = WalkQuery(_text(entity_id), depth, types, max_nodes, max_edges, max_candidates, support, scope)
    with _explorer() as explorer:
        found = explorer.walk(query)
    _print(as_json, found, lambda: report.walk(found))


@app.command(name="eval")
def evaluate(
    path: Annotated[Path, typer.Argument(help="The bundle whose questions are asked.")],
    dataset: Annotated[str, typer.Option(help="The dataset as which the bundle was loaded.")],
    strategy: Annotated[str, typer.Option(help="How evidence is found.")] = "automatic",
    k: Annotated[str, typer.Option("--k", help="Cutoffs; of the last one also how often it has all.")] = "2,5,8",
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many of the questions, chosen by the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the choice.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Measure a strategy on a bundle's questions."""
    questions = read_questions(path, sample=sample, seed=seed)
    with _explorer() as explorer, report.progress(shown=True) as listener:
        found = explorer.evaluate(
            questions, dataset=_text(dataset), strategy=_text(strategy), cutoffs=_cutoffs(k), listener=listener
        )
    _print(as_json, {"questions": found.questions, "table": found.table}, lambda: report.evaluation(found))


def _cutoffs(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 1 <= int(part) <= MOST_RANKED for part in parts):
        raise Malformed(f"--k is {text!r}.", hint=f"Write numbers from 1 to {MOST_RANKED}, as 2,5,8.")
    return sorted(map(int, parts))


@app.command()
def show(
    thing_id: Annotated[str, typer.Argument(metavar="ID", help="An id, or with --dataset a source id.")],
    dataset: Annotated[str | None, typer.Option(help="ID is a source id of this dataset.")] = None,
    kind: Annotated[str | None, typer.Option(help="entity, passage or document; with --dataset.")] = None,
    collection: Collections = None,
    document: Documents = None,
    where: Conditions = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show an entity, a passage or a document, whole."""
    if kind not in (None, "entity", "passage", "document"):
        raise Malformed(f"There is no kind {kind!r}.", hint="Kinds are entity, passage and document.")
    scope = _scope(collection, document, where, as_of)
    with _explorer() as explorer:
        if dataset is None:
            found = explorer.show(_text(thing_id), scope)
        else:
            found = explorer.show_source(_text(dataset), _text(thing_id), kind, scope)
    shown = {"kind": found.kind, found.kind: getattr(found, found.kind)}
    _print(as_json, shown, lambda: report.shown(found))


@app.command()
def remove(
    dataset: Annotated[str | None, typer.Option(help="Remove this dataset.")] = None,
    document: Annotated[str | None, typer.Option(help="Remove this document (its id).")] = None,
    as_json: AsJson = False,
) -> None:
    """Remove a dataset or a document, with everything that only they held."""
    with _explorer() as explorer:
        counts = explorer.remove(dataset=_text(dataset), document_id=document)
    _print(as_json, {"removed": counts}, lambda: report.lines([f"{n} {kind} removed" for kind, n in counts.items()]))


@app.command()
def copy(
    to: Annotated[str, typer.Option("--to", help="The address of a Neo4j, or a folder for embedded stores.")],
    vectors_to: Annotated[
        str | None, typer.Option("--vectors-to", help="The address of a Chroma server; default a folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Copy everything into other stores; what is there already is left out."""
    here = read_settings()
    elsewhere = here.elsewhere(to, vectors_to)
    with _explorer(here) as explorer, _explorer(elsewhere) as target, report.progress(shown=not as_json) as listener:
        copies = explorer.copy(target, listener=listener)
    _print(as_json, {"datasets": copies}, lambda: report.copied(copies, elsewhere))


@app.command()
def jobs(
    stop: Annotated[str | None, typer.Option(help="Stop this running job.")] = None,
    undo: Annotated[str | None, typer.Option(help="Give up this killed job.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the jobs; stop a running one, or give up a killed one."""
    with _explorer() as explorer:
        if stop:
            explorer.stop(stop)
        if undo:
            explorer.undo(undo)
        found = explorer.jobs()
    _print(as_json, {"jobs": found}, lambda: report.jobs(found))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; the default is this machine alone.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8501,
) -> None:
    """Serve the application to a browser."""
    read_settings()
    root = Path(__file__).parent.parent
    (root / "static").mkdir(exist_ok=True)
    # As `python -m streamlit` does, but in this process, which has already imported what the pages need.
    sys.argv = ["streamlit", "run", str(root / "app.py"), f"--server.address={host}", f"--server.port={port}"]
    with _quiet_end():
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


@contextmanager
def _quiet_end() -> Iterator[None]:
    """Ends the process once everything is closed: taken apart by Python, the encoder's libraries complain at length."""
    code = 1

    def leave() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    atexit.register(leave)  # what is registered first is called last
    try:
        yield
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


def main() -> None:
    """Runs the command that the arguments name and exits with its code."""
    try:
        # The return value is the exit code of `--help` and its like; commands return nothing.
        sys.exit(app(standalone_mode=False) or 0)
    except AttestError as error:
        _fail(error)
    except typer.Abort:
        sys.exit(1)
    except typer.TyperException as error:
        _fail(Malformed(error.format_message(), hint="`attest --help` lists the commands and their options."))


def _fail(error: AttestError) -> None:
    if "--json" in sys.argv:
        described = {"kind": error.kind, "message": error.message, "hint": error.hint, **error.details}
        _write(orjson.dumps({"error": described}, default=str))
    else:
        report.failure(error)
    sys.exit(error.exit_code)


@contextmanager
def _explorer(settings: Settings | None = None) -> Iterator[Explorer]:
    """The explorer of these settings, or of this process's, closed at the end of the block."""
    explorer = open_explorer(settings or read_settings())
    try:
        yield explorer
    finally:
        explorer.close()


def _answered(found: Retrieval, answer: Answer, timings_ms: Mapping[str, float]) -> dict[str, object]:
    """What `ask` tells a program."""
    return {
        "question": found.question.text,
        "strategy": found.strategy,
        "evidence": found.evidence,
        "results": found.results,
        "answer": {
            "kind": answer.kind,
            "model": answer.model,
            "sentences": answer.sentences,
            "note": answer.note,
        },
        "left_out": answer.left_out,
        "truncated_by": found.truncated_by,
        "cuts": found.cuts,
        "timings_ms": {**found.timings_ms, **timings_ms},
    }


def _print(as_json: bool, result: object, for_people: Callable[[], object]) -> None:
    if as_json:
        _write(orjson.dumps(result))
    else:
        for_people()


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _scope(
    collections: list[str] | None, documents: list[str] | None, where: list[str] | None, as_of: str | None
) -> Scope:
    conditions = tuple(parse_condition(text) for text in _texts(where))
    return Scope(tuple(_texts(collections)), tuple(_texts(documents)), conditions, as_of)


def _text(argument: T) -> T:
    # Bytes that are no UTF-8 arrive as lone surrogates, which no store takes and no JSON has.
    if not isinstance(argument, str):
        return argument
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # type: ignore[return-value]


def _texts(arguments: list[str] | None) -> list[str]:
    return [_text(argument) for argument in arguments or []]


if __name__ == "__main__":
    main()
