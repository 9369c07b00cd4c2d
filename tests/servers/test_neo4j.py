"""The servers of the tests do what other tests rely on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.servers.neo4j import LINES, NEO4J_LINES, Line, Missing, Neo4j, Neo4jServer, Neo4jServers

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("line", NEO4J_LINES)
def test_a_server_answers_and_can_be_emptied(neo4j_servers: Neo4jServers, line: str) -> None:
    server = neo4j_servers[line]
    with server.driver() as driver:
        driver.execute_query("CREATE CONSTRAINT thing IF NOT EXISTS FOR (n:Thing) REQUIRE n.id IS UNIQUE")
        driver.execute_query("CREATE FULLTEXT INDEX words IF NOT EXISTS FOR (n:Thing) ON EACH [n.id]")
        driver.execute_query("UNWIND range(1, 20000) AS id CREATE (:Thing {id: id})-[:NEXT]->(:Other)")
        server.empty()
        assert driver.execute_query("MATCH (n) RETURN count(n) AS left").records[0]["left"] == 0
        assert driver.execute_query("SHOW INDEXES YIELD type WHERE type <> 'LOOKUP'").records == []


@pytest.mark.neo4j
@pytest.mark.thorough  # it starts a server of its own, to show something about tests, not about the product
def test_a_server_ends_with_who_started_it(neo4j_server: Neo4j) -> None:
    environment = {**os.environ, "PORT": "0"}
    command = [sys.executable, "-m", "tests.servers.neo4j"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        assert any("ATTEST_GRAPH=neo4j://127.0.0.1:" in line and "ATTEST_HOME=" in line for line in starter.stdout)
        [java] = psutil.Process(starter.pid).children()
        starter.send_signal(signal.SIGKILL)
        end = time.monotonic() + 30
        while java.is_running() and time.monotonic() < end:
            time.sleep(0.05)
        assert not java.is_running()


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NEO4J_HOME", "/nowhere")
    with pytest.raises(Missing, match="NEO4J_HOME is /nowhere, which has no Neo4j"):
        Neo4jServer(tmp_path)
    monkeypatch.delenv("NEO4J_HOME")
    monkeypatch.setitem(LINES, "9", Line("9.0.0", java=99))
    with pytest.raises(Missing, match=r"no Java 99 or newer .*, and no ATTEST_TEST_NEO4J"):
        Neo4jServer(tmp_path, "9")
    monkeypatch.setitem(LINES, "9", Line("9.0.0", java=8))
    monkeypatch.setenv("ATTEST_TEST_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Missing, match="no Maven") as caught:
        Neo4jServer(tmp_path, "9")
    assert "NEO4J_HOME" in str(caught.value)
