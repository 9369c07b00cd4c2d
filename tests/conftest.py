"""How Attest is tested.

Everything runs against real things: a store in a folder, a bundle on the disk, a process that is killed, a browser.
Nothing is mocked or patched. Small stand-ins are real implementations of a protocol: `LettersEncoder` (an encoder of a
few lines), `ExactIndex` (vectors in memory).

* `backend/test_stores.py` is the contract of a store: one promise per test, every test against every store.
* `backend/test_oracle_*.py` compare random worlds with `model.py`, a naive reading of the design, to the last field;
  `worlds.py` makes the worlds.
* `world.py` is the world small enough to remember; the fixture `small_world` has it loaded.
* `servers/` starts the real Neo4j and Chroma servers, and a scripted one that speaks as language models do.
* What needs something that may be missing says so when it is skipped: Chromium (marker `browser`), Neo4j (marker
  `neo4j`), the data beside the checkout (marker `shared`). With CI=true a skip for what CI can provide is a failure.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from playwright.sync_api import Browser

from backend.explorer import Explorer
from backend.stores.base import GraphStore
from tests.chromium import NAMES, chromium, find_chromium
from tests.servers.chroma import ChromaServer
from tests.servers.neo4j import Neo4j, Neo4jServers
from tests.world import SMALL_WORLD
from tests.worlds import MEMORY, ExactIndex, apply, new_explorer

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")
PROVIDED_BY_CI = ("browser", "encoder", "neo4j")

# A world takes as long as its loads; a machine may be busy. In CI the same examples run every time. `worlds.check`
# makes failures small, faster than Hypothesis could.
settings.register_profile(
    "attest",
    deadline=None,
    derandomize=IN_CI,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("attest")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a test that was skipped in CI for want of something that CI provides."""
    report = yield
    # A marker with an argument names something newer than CI must have.
    marked = {name: item.get_closest_marker(name) for name in PROVIDED_BY_CI}
    needed = [name for name, marker in marked.items() if marker and not marker.args]
    if IN_CI and needed and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"With CI=true a test that needs {' and '.join(needed)} must not be skipped ({reason})."
    return report


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder, in memory where there is such a place."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)


# Each line runs the whole contract, which takes minutes: the newer one where the Neo4j part runs alone.
STORE_PLACES = [
    "sqlite",
    pytest.param("5.26", marks=pytest.mark.neo4j, id="neo4j-5.26"),
    pytest.param("2026", marks=[pytest.mark.neo4j("2026"), pytest.mark.thorough], id="neo4j-2026"),
]


@pytest.fixture(scope="session", params=STORE_PLACES)
def store_place(request: pytest.FixtureRequest) -> str:
    """Each graph store in turn: `sqlite`, or the address of a server of this worker."""
    if request.param == "sqlite":
        return "sqlite"
    servers: Neo4jServers = request.getfixturevalue("neo4j_servers")
    return servers[request.param].address


@pytest.fixture
def index() -> ExactIndex:
    """The vectors of `explorer`, in memory."""
    return ExactIndex()


@pytest.fixture
def explorer(folder: Path, store_place: str, index: ExactIndex) -> Iterator[Explorer]:
    """An explorer over an empty store."""
    opened = new_explorer(folder / "home", store_place, index)
    yield opened
    opened.close()


@pytest.fixture
def store(explorer: Explorer) -> GraphStore:
    """The empty store of `explorer`."""
    return explorer.store


@pytest.fixture
def small_world(explorer: Explorer, folder: Path) -> Explorer:
    """The explorer with the world of `world.py` loaded: both versions of the register."""
    for step in SMALL_WORLD:
        apply(explorer, step, folder)
    return explorer


@pytest.fixture(scope="session")
def neo4j_servers() -> Iterator[Neo4jServers]:
    """Neo4j servers by line (`LINES`), for this worker alone; asking for one that cannot be had skips the test."""
    servers = Neo4jServers()
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def neo4j_server(neo4j_servers: Neo4jServers) -> Neo4j:
    """A Neo4j of the long-term line, for this worker alone; what earlier tests wrote may still be in it."""
    return neo4j_servers["5.26"]


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A Chroma server, for this worker alone; who uses it leaves it empty."""
    with ChromaServer(tmp_path_factory.mktemp("chroma") / "data") as server:
        yield server


@pytest.fixture(params=["folders", "server"])
def vectors_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Each place of vectors in turn, empty: a folder that is not there yet, and the address of a server."""
    if request.param == "folders":
        yield tmp_path / "vectors"
    else:
        server: ChromaServer = request.getfixturevalue("chroma_server")
        yield server.address
        server.empty()


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of a Chromium; skips the test where there is none."""
    path = find_chromium()
    if path is None:
        pytest.skip(f"needs Chromium or Google Chrome on the PATH, as {', '.join(NAMES)}: apt-get install chromium")
    return path


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Chromium, for one module."""
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Gives the folder of a data set beside the checkout, or skips the test when it is not there."""

    def find(name: str) -> Path:
        if not (SHARED_DATA / name).is_dir():
            pytest.skip(f"the data set {name} is not in {SHARED_DATA}")
        return SHARED_DATA / name

    return find
