"""How well the strategies find what answers the questions of three public sets: `make eval`.

The sets lie beside the checkout; without them it says so and measures nothing. They are loaded once into a store that
is kept, with the bundled encoder and no language model, and every strategy runs with its defaults.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from backend.evaluation import EvalQuestion, Evaluation, read_questions
from backend.explorer import Explorer, open_explorer
from backend.retrieval.retrieve import IMPLEMENTED
from backend.settings import Settings
from backend.stores.neo4j import schema as neo4j
from backend.stores.sqlite import schema as sqlite
from benchmarks.build import FOLDER, make_folder, say
from benchmarks.servers import KINDS, Servers
from benchmarks.table import Cell, Table
from tests.servers.neo4j import Missing

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("twowiki-101", "musique-100", "redocred-300")
CUTOFFS = (2, 5, 8)
# Of the set with thousands of template questions so many are asked of every strategy, and all of `automatic`.
SAMPLED, SEED = 300, 0
# What a server must find alike: so many questions of two sets.
_ON_SERVER, _SERVED = 50, ("twowiki-101", "redocred-300")


def main() -> int:
    """Prints the tables; the exit code is 1 where a server finds other passages than the embedded store."""
    if not DATA.is_dir():
        print(f"There is no data in {DATA}: nothing is measured.")
        return 0
    with ExitStack() as stack:
        embedded = stack.enter_context(closing(_opened(Settings(home=_folder("sqlite")))))
        columns = ("set", "strategy", "questions", "R@2", "R@5", "all in 8", "ms", "p95 ms", "queries")
        table = Table("Passages found, in percent", columns)
        for name in SETS:
            for strategy in IMPLEMENTED:
                table.add(*_row(name, strategy, _evaluate(embedded, _questions(name, strategy), name, strategy)))
        print(table.markdown(), flush=True)
        return _compare(embedded, stack)


def _compare(embedded: Explorer, stack: ExitStack) -> int:
    """Whether a Neo4j ranks the same passages for every question."""
    kind, folder = KINDS["neo4j"], _folder("neo4j")
    try:
        settings = Servers(stack).settings(kind, folder)
    except Missing as missing:
        print(f"Neo4j is left out: {missing}.")
        return 0
    server = stack.enter_context(closing(_opened(settings)))
    different = 0
    for name in _SERVED:
        questions = read_questions(DATA / name, sample=_ON_SERVER, seed=SEED)
        one, other = (_evaluate(explorer, questions, name, "automatic") for explorer in (embedded, server))
        pairs = zip(one.questions, other.questions, strict=True)
        different += sum(here.ranked != there.ranked for here, there in pairs)
    print(f"automatic on Neo4j: {different} of {_ON_SERVER * len(_SERVED)} questions with another ranking than SQLite.")
    return int(different > 0)


def _opened(settings: Settings) -> Explorer:
    """An explorer on a store that has the sets; those that it lacks are loaded now."""
    explorer = open_explorer(settings)
    there = {dataset.name for dataset in explorer.status().datasets}
    for name in SETS:
        if name not in there:
            say(f"loading {name}")
            explorer.load([DATA / name], dataset=name)
            explorer.build_communities([name])
    explorer.warm()
    return explorer


def _folder(name: str) -> Path:
    folder = FOLDER / f"eval-{name}-{sqlite.SCHEMA_VERSION}-{neo4j.SCHEMA_VERSION}"
    if not folder.exists():
        make_folder(folder)
    return folder


def _questions(name: str, strategy: str) -> list[EvalQuestion]:
    return read_questions(DATA / name, sample=None if strategy == "automatic" else SAMPLED, seed=SEED)


def _evaluate(explorer: Explorer, questions: Sequence[EvalQuestion], name: str, strategy: str) -> Evaluation:
    say(f"{name}: {strategy}")
    return explorer.evaluate(questions, dataset=name, strategy=strategy, cutoffs=CUTOFFS)


def _row(name: str, strategy: str, found: Evaluation) -> tuple[Cell, ...]:
    whole = found.table[0]
    shares = (whole.recall["R@2"], whole.recall["R@5"], whole.all_in["all@8"])
    times = (f"{whole.ms:.0f}", f"{whole.p95_ms:.0f}", f"{whole.queries:.1f}")
    return (name, strategy, whole.questions, *(f"{share:.1f}" for share in shares), *times)


if __name__ == "__main__":
    sys.exit(main())
