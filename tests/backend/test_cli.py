"""The command line: what a command prints, and its exit code.

A process of its own where it matters that it is one; else the command runs in this process, in which the encoder's
library, fifteen seconds of a processor, is imported once for all.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from backend import cli, report
from backend.models import Progress
from tests.bundles import write_bundle
from tests.explorers import open_test_explorer
from tests.servers.model import Fail, ModelServer, says

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.encoder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the demo graph."""
    folder = tmp_path_factory.mktemp("home")
    loaded = attest(folder, "load", "demo/first", "demo/second", "--dataset", "demo")
    assert loaded.returncode == 0, loaded.stderr
    return folder


def attest(home: Path, *arguments: str, after: str = "pass") -> subprocess.CompletedProcess[str]:
    """Runs a command in a process of its own; `after` is Python that this runs in the end."""
    program = f"import sys\nfrom backend import cli\ntry:\n    cli.main()\nfinally:\n    {after}"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env={**os.environ, "ATTEST_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=240,  # a busy machine; an idle one needs ten for the longest
    )


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs commands over one store in this process."""

    home: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """What a command comes to, with these settings beside the store's."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["attest", *arguments])
            patch.chdir(ROOT)
            for name, value in {"ATTEST_HOME": str(self.home), **settings}.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                cli.main()
        printed = self.capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    def result(self, *arguments: str) -> Any:
        """The object that a command prints which succeeds."""
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def entity_id(self, name: str) -> str:
        found = self.result("search", name, "--mode", "lexical", "--limit", "1")
        identifier: str = found["hits"][0]["id"]
        return identifier


@pytest.fixture
def demo(home: Path, capsys: pytest.CaptureFixture[str]) -> Commands:
    """Commands over the demo graph."""
    return Commands(home, capsys)


def test_search_explains_each_hit_and_brings_its_passages(home: Path) -> None:
    done = attest(home, "search", "Meridian Freight", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    hit = found["hits"][0]
    assert (hit["name"], hit["label"], hit["status"]) == ("Meridian Freight", "Company", "supported")
    assert hit["channels"]["lexical"]["rank"] == 1
    assert hit["channels"]["semantic"]["rank"] <= 3
    assert hit["channels"]["semantic"]["score"] > 0.5
    assert hit["matched"] == {"text": "Meridian Freight", "kind": "name", "exact": True}
    assert hit["counts"] == {"passages": 19, "documents": 11}
    assert len(hit["passages"]) == 3
    for passage in hit["passages"]:
        marked = {passage["text"][start:end] for start, end in passage["mentions"]}
        assert marked & {"Meridian Freight", "Meridian"}
        assert {"id", "source_id", "dataset", "title", "collection", "version"} <= passage["document"].keys()


def test_passages_explain_themselves_and_bring_their_mentions(demo: Commands) -> None:
    found = demo.result("passages", "letter of the auditors about the voyage", "--limit", "3")
    assert {"hits", "truncated_by", "cuts", "timings_ms"} <= found.keys()
    assert len(found["hits"]) == 3
    hit = found["hits"][0]
    assert hit.keys() == {"passage", "score", "channels"}
    assert all(channel.keys() == {"rank", "score"} for channel in hit["channels"].values())
    assert hit["passage"]["document"]["title"] == "Letter of the auditors to Meridian Freight"
    marked = {hit["passage"]["text"][start:end] for start, end in hit["passage"]["mentions"]}
    assert "Meridian Freight" in marked


def test_a_question_has_evidence_and_an_answer_of_quotations(demo: Commands) -> None:
    question = ("ask", "Who is the director of Calder Quay Holdings?")
    asked = demo.result(*question, "--strategy", "passages", "--limit", "5")
    assert asked["question"] == "Who is the director of Calder Quay Holdings?"
    assert asked["strategy"].keys() == {"asked", "chosen", "why"}
    assert [item["n"] for item in asked["evidence"]] == [1, 2, 3, 4, 5]
    assert asked["answer"]["kind"] == "extractive"
    assert asked["answer"]["model"] is None
    assert 1 <= len(asked["answer"]["sentences"]) <= 5
    texts = {item["n"]: item["passage"]["text"] for item in asked["evidence"]}
    for sentence in asked["answer"]["sentences"]:
        assert all(sentence["text"] in texts[n] for n in sentence["citations"])
        assert sentence["supported"]
    assert any("Its sole director is Marta Keld" in text for text in texts.values())
    assert (asked["results"], asked["left_out"], asked["truncated_by"], asked["cuts"]) == ([], [], [], [])
    assert asked["timings_ms"]["answer"] > 0


def test_a_question_is_asked_of_a_scope(demo: Commands) -> None:
    question = ("ask", "Who is the director of Calder Quay Holdings?")
    then = demo.result(*question, "--strategy", "passages", "--collection", "Filings", "--as-of", "2023-06-30")
    assert {item["passage"]["document"]["collection"] for item in then["evidence"]} == {"Filings"}
    texts = " ".join(item["passage"]["text"] for item in then["evidence"])
    assert "Edvin Sarpe" in texts
    assert "Marta Keld" not in texts


def test_without_evidence_there_is_no_answer(demo: Commands) -> None:
    asked = demo.result("ask", "Who is the director?", "--where", "pages >= 100000")
    assert (asked["evidence"], asked["answer"]["kind"], asked["answer"]["sentences"]) == ([], "none", [])
    assert asked["answer"]["note"] == "Nothing in scope was found for this question."


@pytest.fixture
def scripted() -> Iterator[ModelServer]:
    with ModelServer(says("Marta Keld directs it [1]. ", "She lives on the moon.\x1b[2J")) as server:
        yield server


def test_people_read_the_evidence_before_the_model_s_answer(demo: Commands, scripted: ModelServer) -> None:
    named = {"ATTEST_LLM_URL": scripted.address, "ATTEST_LLM_MODEL": "small"}
    done = demo.run("ask", "Who is the director?", "--strategy", "passages", **named)
    assert done.returncode == 0, done.stderr
    evidence, _, answer = done.stdout.partition("Answer by the model small:")
    assert evidence.startswith("Evidence by the strategy passages")
    assert "[1] " in evidence
    assert "[8] " in evidence
    assert "[1]" in answer
    assert "She lives on the moon." in answer
    assert "(not supported: It cites no evidence.)" in answer
    assert "\x1b" not in done.stdout


def test_a_model_that_fails_leaves_the_evidence_quoted(demo: Commands) -> None:
    with ModelServer([Fail(400)]) as server:
        named = {"ATTEST_LLM_URL": server.address, "ATTEST_LLM_MODEL": "small"}
        done = demo.run("ask", "Who is the director of Calder Quay Holdings?", "--json", **named)
    answer = json.loads(done.stdout)["answer"]
    assert (done.returncode, answer["kind"]) == (0, "extractive")
    assert "small" in answer["note"]


def test_a_walk_tells_assertions_from_paths(demo: Commands) -> None:
    walked = demo.result("walk", demo.entity_id("Sedge Lane Trust"))
    kinds = {(edge["type"], edge["kind"]) for edge in walked["edges"]}
    assert ("trustee of", "path") in kinds
    assert all(bool(edge["passages"]) == (edge["kind"] == "assertion") for edge in walked["edges"])
    unsupported = [node["name"] for node in walked["nodes"] if node["status"] == "unsupported"]
    assert unsupported == ["Orrin Vantage"]


def test_the_past_is_another_answer(demo: Commands) -> None:
    start = demo.entity_id("Calder Quay Holdings")
    then = demo.result("walk", start, "--type", "directed by", "--as-of", "2023-06-30")
    now = demo.result("walk", start, "--type", "directed by")
    assert [node["name"] for node in then["nodes"]] == ["Calder Quay Holdings", "Edvin Sarpe"]
    assert [node["name"] for node in now["nodes"]] == ["Calder Quay Holdings", "Marta Keld"]


def test_the_bound_that_cut_is_named(demo: Commands) -> None:
    walked = demo.result("walk", demo.entity_id("Port Ostrava Bay"), "--depth", "2", "--max-nodes", "50")
    assert walked["truncated_by"][0] == "node"
    assert walked["cuts"][0]["bound"] == "node"
    assert walked["cuts"][0]["missing"] > 0
    assert len(walked["nodes"]) == 50


def test_show_finds_a_source_id_of_a_dataset(demo: Commands) -> None:
    shown = demo.result("show", "--dataset", "demo", "oarlock")
    assert (shown["kind"], shown["entity"]["name"]) == ("entity", "Oarlock Registrars")
    document = demo.result("show", "--dataset", "demo", "filing-calder-extract", "--kind", "document")
    assert document["document"]["version"] == 2
    first = document["document"]["passages"][0]["id"]
    assert demo.result("show", first)["passage"]["document"]["id"] == document["document"]["id"]


def test_status_counts_what_is_current(demo: Commands) -> None:
    status = demo.result("status", "--check")
    assert status["datasets"] == [
        {
            "name": "demo",
            "documents": 330,
            "passages": 390,
            "entities": 198,
            "mentions": 1033,
            "relations": 597,
            "topics": 358,
            "statements": 502,
            "facts": 490,
            "communities": 0,
            "reports": 0,
            "claims": 0,
        }
    ]
    assert {index["state"] for index in status["indexes"]} == {"online"}
    assert all(check["recorded"] == check["stored"] for check in status["check"])


def test_version_is_that_of_the_package(home: Path) -> None:
    assert attest(home, "--version").stdout == f"attest {metadata.version('attest')}\n"


def test_where_no_terminal_is_progress_is_said_in_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "_SPEAKS_EVERY", 0.01)
    said = ""
    with report.progress(shown=True) as listener:
        assert listener is not None
        listener(Progress("encoding names", 512, 1_024))
        while said.count("\n") < 2:  # also while nothing new is heard
            said += capsys.readouterr().err
    assert "0 s: encoding names 512 of 1,024\n" in said


@pytest.mark.parametrize("columns", ["30", "80"])
@pytest.mark.parametrize("command", ["jobs", "status"])
def test_ids_of_jobs_are_printed_whole(
    demo: Commands, monkeypatch: pytest.MonkeyPatch, command: str, columns: str
) -> None:
    ids = [job["id"] for job in demo.result("jobs")["jobs"]]
    monkeypatch.setenv("COLUMNS", columns)
    printed = demo.run(command).stdout
    assert len(ids) == 2
    assert all(f"\n{job_id}  load" in printed for job_id in ids)


def test_times_have_one_form(demo: Commands) -> None:
    for job in demo.result("jobs")["jobs"]:
        for moment in (job["started"], job["finished"]):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", moment)


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "Meridian", "--mode", "lexical"),
        ("passages", "Meridian", "--mode", "lexical"),
        ("status",),
        ("jobs",),
        ("show", "--dataset", "demo", "oarlock"),
    ],
    ids=["lexical search", "passages by words", "status", "jobs", "show"],
)
def test_a_command_that_needs_no_encoder_imports_none(home: Path, arguments: tuple[str, ...]) -> None:
    heavy = "print(sorted({'torch', 'chromadb', 'sentence_transformers', 'numpy', 'openai'} & set(sys.modules)))"
    done = attest(home, *arguments, after=heavy)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("search", " "), 2, "malformed"),
        (("search", "x", "--limit", "501"), 2, "malformed"),
        (("search", "x", "--no-such-option"), 2, "malformed"),
        (("search", "x", "--label", "Ship"), 2, "malformed"),
        (("search", "x", "--where", "pages"), 2, "malformed"),
        (("search", "x", "--as-of", "yesterday"), 2, "malformed"),
        (("search", "x", "--collection", "Gossip"), 2, "malformed"),
        (("passages", " "), 2, "malformed"),
        (("passages", "x", "--collection", "Gossip"), 2, "malformed"),
        (("ask", " "), 2, "malformed"),
        (("ask", "x", "--limit", "0"), 2, "malformed"),
        (("ask", "x", "--strategy", "magic"), 2, "malformed"),
        (("ask", "x", "--as-of", "yesterday"), 2, "malformed"),
        (("walk", "not-an-id"), 2, "malformed"),
        (("walk", "00000000-0000-0000-0000-000000000000"), 3, "unavailable"),
        (("walk", "00000000-0000-0000-0000-000000000000", "--depth", "3"), 2, "malformed"),
        (("show", "00000000-0000-0000-0000-000000000000"), 3, "unavailable"),
        (("remove", "--dataset", "nothing"), 3, "unavailable"),
        (("load", "no/such/path"), 2, "malformed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_error_is_one_object_and_an_exit_code(
    demo: Commands, arguments: tuple[str, ...], code: int, kind: str
) -> None:
    done = demo.run(*arguments, "--json")
    assert done.returncode == code
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == kind
    assert error["message"]
    assert error["hint"]
    assert done.stderr == ""


def test_nothing_found_is_a_result(demo: Commands) -> None:
    assert demo.result("search", "zzyzx", "--mode", "lexical")["hits"] == []


def test_names_from_data_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]0;owned\x07\u202eevil [red]x[/red]"
    bundle = write_bundle(
        tmp_path / "bundle",
        documents=[{"id": "d", "title": hostile}],
        passages=[{"id": "p", "document_id": "d", "text": hostile}],
        entities=[{"id": "e", "name": hostile}],
        mentions=[{"entity_id": "e", "passage_id": "p"}],
    )
    with closing(open_test_explorer(tmp_path / "home")) as explorer:
        explorer.load([bundle])
    shown = Commands(tmp_path / "home", capsys).run("search", "evil", "--mode", "lexical").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "<U+202E>evil [red]x[/red]" in shown


def test_another_encoder_is_not_ready_until_the_index_is_built(tmp_path: Path) -> None:
    bundle = write_bundle(
        tmp_path / "bundle",
        documents=[{"id": "d"}],
        passages=[{"id": "p", "document_id": "d", "text": "The Anchor is closed."}],
        entities=[{"id": "e", "name": "Anchor"}],
        mentions=[{"entity_id": "e", "passage_id": "p"}],
    )
    with closing(open_test_explorer(tmp_path / "home")) as explorer:
        explorer.load([bundle])
    done = attest(tmp_path / "home", "search", "anchor", "--mode", "semantic", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout)["error"]["hint"] == "Run `attest index`."
