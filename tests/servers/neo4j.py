"""A real Neo4j server, for tests and for development.

Where it comes from, in this order:

1. `ATTEST_TEST_NEO4J`, the address of a server that runs, with `ATTEST_TEST_NEO4J_USER` and
   `ATTEST_TEST_NEO4J_PASSWORD`. Its database is emptied by every test, so it must be empty when they begin.
2. `NEO4J_HOME`, an unpacked Neo4j, of which only the jars are used.
3. The jars of the Community edition from Maven Central, fetched once by Maven into the user's cache (or into
   `ATTEST_TEST_CACHE`), and a Java of this machine.

A server that is started here has its data in a folder of its own, and ends with the process that started it, however
that ends: it reads its standard input, and nobody else holds the other end. The Community edition has one database, and
every test empties it, so each worker of pytest-xdist has a server of its own, started by its first test that wants one:
ten seconds each, no worker ever waits for another, and none can spoil what another is asking. (One server with a lock
around every test would be started once, but the other worker would stand still meanwhile.)

`python -m tests.servers.neo4j` starts one in the foreground and says how to use it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from neo4j import Auth, Driver, GraphDatabase, basic_auth
from neo4j.exceptions import DriverError, Neo4jError
from platformdirs import user_cache_path

from tests.once import once
from tests.servers.process import end_process, free_port

_PATIENCE = 240  # seconds that a busy machine may need; an idle one needs ten
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of Neo4j releases: the one that is tested, and the oldest Java it runs on."""

    release: str
    java: int


# The long-term release, which CI may not skip, and a current one.
LINES = {"5.26": Line("5.26.30", java=17), "2026": Line("2026.09.0", java=21)}

# For `parametrize` and `fixture(params=…)`: each line with the marker that its tests carry.
NEO4J_LINES = (
    pytest.param("5.26", marks=pytest.mark.neo4j, id="neo4j-5.26"),
    pytest.param("2026", marks=pytest.mark.neo4j("2026"), id="neo4j-2026"),
)

CONFIGURATION = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.heap.max_size={heap}
server.memory.pagecache.size={page_cache}
dbms.usage_report.enabled=false
dbms.security.auth_enabled={authentication}
db.shutdown_transaction_end_timeout=0s
internal.server.bolt.thread_pool_shutdown_wait_time=0s
db.tx_log.preallocate=false
db.tx_log.rotation.size={log_file}
db.tx_log.rotation.retention_policy=keep_none
dbms.cypher.min_replan_interval={replanned_after}
"""

_CHANGE_PASSWORD = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"

# The two lines have no main class in common. Its input ends when whoever started it does.
_LAUNCHER = """\
import org.neo4j.server.CommunityBootstrapper;
import org.neo4j.server.NeoBootstrapper;

public final class Launcher {
    public static void main(String[] arguments) {
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (java.io.IOException closed) {
            }
            Runtime.getRuntime().halt(1);
        });
        watch.setDaemon(true);
        watch.start();
        int code = NeoBootstrapper.start(new CommunityBootstrapper(), arguments);
        if (code != 0) System.exit(code);
    }
}
"""
_OPENED = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "java.io", "sun.nio.ch", "java.lang")
]

_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>attest</groupId><artifactId>neo4j-for-tests</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{release}</version></dependency>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j-bolt</artifactId><version>{release}</version></dependency>
    <dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>{release}</version></dependency>
  </dependencies>
</project>
"""


class Missing(Exception):
    """What is missing for a server, in words."""


@dataclass(frozen=True, slots=True)
class Neo4j:
    """A server that runs: what the settings need to know of it."""

    address: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def settings(self) -> dict[str, str]:
        """The settings that name it, as an environment."""
        given = {
            "ATTEST_GRAPH": self.address,
            "ATTEST_NEO4J_USER": self.user,
            "ATTEST_NEO4J_PASSWORD": self.password,
        }
        return {key: value for key, value in given.items() if value}

    def driver(self) -> Driver:
        """A driver for it, to be closed by who asked."""
        return GraphDatabase.driver(self.address, auth=_auth(self.user, self.password))

    def clear(self) -> None:
        """Removes every node; the indexes stay, which take longer to make than a small graph."""
        with self.driver() as driver, driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()

    def empty(self) -> None:
        """Removes every node, constraint and index of its database."""
        self.clear()
        with self.driver() as driver:
            for row in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
                driver.execute_query(f"DROP CONSTRAINT `{row['name']}`")
            for row in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").records:
                driver.execute_query(f"DROP INDEX `{row['name']}`")


class Neo4jServer:
    """A server of our own over the data in a folder; it can be stopped, killed and started again at its address."""

    def __init__(
        self,
        folder: Path,
        line: str = "5.26",
        *,
        password: str | None = None,
        heap: str = "1g",
        page_cache: str = "128m",
        log_file: str = "1m",
        port: int | None = None,
        brief: bool = True,
    ) -> None:
        """`brief` is for what ends soon: half the time to start and half of the work, but slower in the end.

        Tests fill and empty the database all the time, and with each new size the server would plan its statements
        anew, thousands of times, which is most of its work.
        """
        self._java, self._jars = _installation(line)
        self._folder = folder
        self._options = [f"-Xmx{heap}", "-XX:+UseSerialGC", *(["-XX:TieredStopAtLevel=1"] if brief else [])]
        self._chosen = {
            "heap": heap,
            "page_cache": page_cache,
            "log_file": log_file,
            "replanned_after": "1h" if brief else "10s",
        }
        self._port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.user = None if password is None else "neo4j"
        self.password = password
        self.log = folder / "console.log"

    @property
    def address(self) -> str:
        """Its address, as most write it."""
        return f"neo4j://127.0.0.1:{self._port}"

    @property
    def running(self) -> Neo4j:
        """What the settings need to know of it."""
        return Neo4j(self.address, self.user, self.password)

    def start(self) -> None:
        """Starts it, and returns when it answers queries."""
        assert self._process is None, "it runs already"
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "conf").mkdir(exist_ok=True)
        authentication = "false" if self.password is None else "true"
        configuration = CONFIGURATION.format(port=self._port, authentication=authentication, **self._chosen)
        (self._folder / "conf" / "neo4j.conf").write_text(configuration)
        java = [self._java, *_OPENED, *self._options, "-cp", _class_path(self._java, self._jars)]
        folders = [f"--home-dir={self._folder}", f"--config-dir={self._folder / 'conf'}"]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [*java, "Launcher", *folders],
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._wait()

    def stop(self) -> None:
        """Stops it in order; its data stay."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kills it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def logged(self) -> str:
        """The end of what it has logged."""
        logs = [self.log, *sorted((self._folder / "logs").glob("neo4j.log"))]
        return "\n".join(log.read_text(errors="replace")[-2_000:] for log in logs if log.exists())

    def __enter__(self) -> Neo4jServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        end_process(process, how)
        assert process.stdin is not None
        process.stdin.close()

    def _wait(self) -> None:
        """The port opens a second or two before queries are answered, so this asks one."""
        assert self._process is not None
        first = self.password is not None and not (self._folder / "password-set").exists()
        password = "neo4j" if first else self.password
        end = time.monotonic() + _PATIENCE
        while True:
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise AssertionError(f"Neo4j did not start:\n{self.logged()}")
            try:
                # Without a routing driver and its retries, which wait for seconds.
                with self._direct(password) as driver, driver.session(database="system") as session:
                    session.run("SHOW DATABASES" if not first else _CHANGE_PASSWORD, password=self.password).consume()
                break
            except (DriverError, Neo4jError):
                time.sleep(0.1)
        (self._folder / "password-set").touch()
        with self._direct(self.password) as driver:
            driver.verify_connectivity()

    def _direct(self, password: str | None) -> Driver:
        return GraphDatabase.driver(f"bolt://127.0.0.1:{self._port}", auth=_auth(self.user, password))


class Neo4jServers(Mapping[str, Neo4j]):
    """The servers of one test run by line, each started when it is first asked for; skips where one cannot be had."""

    def __init__(self) -> None:
        self._started: dict[str, Neo4jServer] = {}
        self._failed: dict[str, str] = {}
        self._given: Neo4j | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="attest-neo4j-", dir=_MEMORY))

    def __getitem__(self, line: str) -> Neo4j:
        if address := os.environ.get("ATTEST_TEST_NEO4J"):
            return self._at(address, line)
        if line in self._failed:
            pytest.fail(self._failed[line])
        if line not in self._started:
            try:
                server = Neo4jServer(self._folder / line, line)
            except Missing as missing:
                pytest.skip(f"needs Neo4j {line}: {missing}")
            try:
                server.start()
            except AssertionError as error:
                self._failed[line] = str(error)
                raise
            self._started[line] = server
        return self._started[line].running

    def __iter__(self) -> Iterator[str]:
        return iter(LINES)

    def __len__(self) -> int:
        return len(LINES)

    def close(self) -> None:
        """Stops what was started, and removes its data."""
        for server in self._started.values():
            server.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._given is not None:
            self._given.empty()

    def _at(self, address: str, line: str) -> Neo4j:
        if line != "5.26":
            pytest.skip("ATTEST_TEST_NEO4J names a server, and only that is tested")
        if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1:
            pytest.fail("The server of ATTEST_TEST_NEO4J has one database, which two workers cannot share: use -n 0.")
        if self._given is None:
            user = os.environ.get("ATTEST_TEST_NEO4J_USER")
            given = Neo4j(address, user, os.environ.get("ATTEST_TEST_NEO4J_PASSWORD"))
            with given.driver() as driver:
                [row] = driver.execute_query("RETURN EXISTS { MATCH (n) } AS used").records
            if row["used"]:
                pytest.fail("The database of ATTEST_TEST_NEO4J is not empty, and the tests would empty it.")
            self._given = given
        return self._given


def _auth(user: str | None, password: str | None) -> Auth | None:
    return None if user is None else basic_auth(user, password or "")


# --- where it comes from ---------------------------------------------------------------------------------------------


def _cache() -> Path:
    given = os.environ.get("ATTEST_TEST_CACHE")
    return Path(given).absolute() if given else user_cache_path("attest-tests", appauthor=False)


def _installation(line: str) -> tuple[str, Path]:
    """The Java to use and the folder of the jars; raises Missing."""
    home = os.environ.get("NEO4J_HOME")
    release = _release_of(Path(home)) if home else None
    if home and release is None:
        raise Missing(f"NEO4J_HOME is {home}, which has no Neo4j in its lib")
    if home and release and not release.startswith(line):
        raise Missing(f"NEO4J_HOME has {release}, and only that is tested")
    java = _java(LINES[line].java)
    if java is None:
        where = "none in JAVA_HOME, on the PATH or in /usr/lib/jvm"
        raise Missing(f"no Java {LINES[line].java} or newer ({where}), and no ATTEST_TEST_NEO4J")
    return java, Path(home, "lib") if home else _fetched(LINES[line].release)


def _release_of(home: Path) -> str | None:
    for jar in home.glob("lib/neo4j-kernel-[0-9]*.jar"):
        return jar.stem.removeprefix("neo4j-kernel-")
    return None


def _java(oldest: int) -> str | None:
    """The oldest Java that is new enough: what a release was made for is what it is tested with."""
    on_path = shutil.which("java")
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += [Path(on_path).resolve().parents[1]] if on_path else []
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    found = []
    for home in homes:
        release, java = home / "release", home / "bin" / "java"
        stated = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(), re.M) if release.is_file() else None
        if stated and java.is_file() and int(stated[1]) >= oldest:
            found.append((int(stated[1]), str(java)))
    return min(found, key=lambda each: each[0])[1] if found else None


def _fetched(release: str) -> Path:
    """The jars of a release, fetched by Maven when they are not in the cache yet."""

    def fetch(folder: Path) -> None:
        maven = shutil.which("mvn")
        if maven is None:
            raise Missing("no Maven (mvn) to fetch it with, and neither ATTEST_TEST_NEO4J nor NEO4J_HOME")
        folder.mkdir(parents=True)
        (folder / "pom.xml").write_text(_POM.format(release=release))
        command = [maven, "--batch-mode", "--quiet", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"Maven could not fetch it: {(done.stdout + done.stderr)[-1_000:]}")

    return once(_cache() / f"neo4j-{release}", fetch)


def _class_path(java: str, jars: Path) -> str:
    """The jars, and our launcher compiled by this Java's own compiler, which has no command where there is no JDK."""

    def compile_launcher(folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "Launcher.java").write_text(_LAUNCHER)
        class_path = ":".join(map(str, jars.glob("*.jar")))
        compiler = [java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17", "-cp", class_path]
        done = subprocess.run([*compiler, "Launcher.java"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"{java} cannot compile: {(done.stdout + done.stderr)[-1_000:]}")

    version = hashlib.sha256(_LAUNCHER.encode()).hexdigest()[:8]
    return f"{once(_cache() / f'launcher-{version}', compile_launcher)}:{jars}/*"


def _port() -> int | None:
    return int(os.environ.get("PORT") or "7687") or None


def main() -> None:
    """Runs a server in the foreground, with its data in a folder that goes when it ends."""
    line = sys.argv[1] if len(sys.argv) > 1 else "5.26"
    with tempfile.TemporaryDirectory(prefix="attest-neo4j-") as folder:
        print(f"Starting Neo4j {line} ...", flush=True)
        with Neo4jServer(Path(folder), line, port=_port(), brief=False) as server:
            print(f"Neo4j {LINES[line].release} answers, without a password, and forgets everything when it ends.")
            print(f"  export ATTEST_GRAPH={server.address} ATTEST_HOME={folder}/attest")
            print("Ctrl-C ends it.", flush=True)
            signal.pause()


if __name__ == "__main__":
    try:
        main()
    except (Missing, AssertionError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print()
