"""Settings: what the environment may say, and that what is wrong is named without any password."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import NotConfigured
from backend.settings import SETTINGS, Settings

SERVER = {
    "ATTEST_HOME": "/srv/attest",
    "ATTEST_GRAPH": "neo4j+s://graph.example:7687",
    "ATTEST_NEO4J_USER": "reader",
    "ATTEST_NEO4J_PASSWORD": " s3cret ",
    "ATTEST_NEO4J_DATABASE": "papers",
    "ATTEST_VECTORS": "https://vectors.example/chroma",
    "ATTEST_ENCODER": "some/model",
    "ATTEST_INDEXES": "chunk",
    "ATTEST_RERANKER": "some/reranker",
    "ATTEST_LLM_URL": "http://localhost:11434/v1",
    "ATTEST_LLM_MODEL": "some-model:7b",
    "ATTEST_LLM_KEY": "s3cret-key",
    "ATTEST_LLM_TOKENS": "8000",
}


def test_without_any_setting_the_stores_are_embedded() -> None:
    settings = Settings.from_environment({})
    assert (settings.graph, settings.vectors) == ("sqlite", "chroma")
    assert settings.vectors_place == settings.home / "vectors"


def test_a_server_is_an_address() -> None:
    settings = Settings.from_environment(SERVER)
    assert settings.graph == "neo4j+s://graph.example:7687"
    assert settings.vectors_place == "https://vectors.example/chroma"
    assert (settings.neo4j_user, settings.neo4j_database) == ("reader", "papers")
    assert settings.neo4j_password == " s3cret "  # spaces may belong to it


def test_another_process_gets_the_same_settings() -> None:
    settings = Settings.from_environment(SERVER)
    assert settings.environment() == SERVER
    assert Settings.from_environment(settings.environment()) == settings
    assert set(SERVER) | {"ATTEST_READ_ONLY"} == {setting.name for setting in SETTINGS}


def test_a_password_is_in_no_repr() -> None:
    assert "s3cret" not in repr(Settings.from_environment(SERVER))


def test_a_model_has_an_address_and_a_name() -> None:
    settings = Settings.from_environment(SERVER)
    assert (settings.llm_url, settings.llm_model) == ("http://localhost:11434/v1", "some-model:7b")
    assert (settings.llm_key, settings.llm_tokens) == ("s3cret-key", 8_000)
    without = Settings.from_environment({})
    assert (without.llm_url, without.llm_model, without.llm_key, without.llm_tokens) == (None, None, None, 6_000)


@pytest.mark.parametrize(
    ("given", "missing"), [("ATTEST_LLM_URL", "ATTEST_LLM_MODEL"), ("ATTEST_LLM_MODEL", "ATTEST_LLM_URL")]
)
def test_address_and_name_of_a_model_come_together(given: str, missing: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        Settings.from_environment({given: SERVER[given], "ATTEST_LLM_KEY": "s3cret"})
    assert missing in caught.value.message
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("value", ["many", "-1", "499", "6,000", "1e4", "10000001", "²000", "9" * 5_000])
def test_a_number_of_tokens_that_is_none_is_named(value: str) -> None:
    with pytest.raises(NotConfigured, match="ATTEST_LLM_TOKENS") as caught:
        Settings.from_environment({"ATTEST_LLM_TOKENS": value})
    assert "500" in caught.value.hint


@pytest.mark.parametrize(
    "value", ["localhost:11434", "ftp://host/v1", "http://host/v1?key=s3cret", "http://u:s3cret@h/v1"]
)
def test_what_is_no_address_of_a_model_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(NotConfigured, match="ATTEST_LLM_URL") as caught:
        Settings.from_environment({"ATTEST_LLM_URL": value, "ATTEST_LLM_MODEL": "m"})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"])
@pytest.mark.parametrize("rest", ["localhost", "127.0.0.1:7687", "[::1]:7687", "a-b.example:1?policy=eu&x=1"])
def test_every_address_of_a_neo4j(scheme: str, rest: str) -> None:
    assert Settings.from_environment({"ATTEST_GRAPH": f"{scheme}://{rest}"}).graph == f"{scheme}://{rest}"


def test_a_slash_at_the_end_makes_no_difference() -> None:
    settings = Settings.from_environment({"ATTEST_GRAPH": "bolt://host:7687/", "ATTEST_VECTORS": "http://host:8000/"})
    assert (settings.graph, settings.vectors) == ("bolt://host:7687", "http://host:8000")


@pytest.mark.parametrize("name", ["ATTEST_GRAPH", "ATTEST_VECTORS"])
@pytest.mark.parametrize(
    "value",
    [
        "postgres",
        "ftp://host",
        "neo4j+x://host",
        "neo4j://",
        "bolt://host:port",
        "bolt://host/db",
        "http://h:1?x",
        "h:1",
    ],
)
def test_what_is_no_store_is_named(name: str, value: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        Settings.from_environment({name: value})
    assert name in caught.value.message
    assert value.partition("://")[0] in caught.value.message
    assert "://host:port" in caught.value.hint


@pytest.mark.parametrize("name", ["ATTEST_GRAPH", "ATTEST_VECTORS"])
@pytest.mark.parametrize(
    "value",
    [
        "neo4j://neo4j:s3cret@host:7687",
        "bolt://neo4j:s3cret/@host",
        "http://user:s3cret@host:8000",
        "ftp://user:s3cret@host",
        "user:s3cret@host",
        "neo4j://host:s3cret",
        "https://host:s3cret/",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(name: str, value: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        Settings.from_environment({name: value})
    assert name in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("given", "missing"),
    [("ATTEST_NEO4J_USER", "ATTEST_NEO4J_PASSWORD"), ("ATTEST_NEO4J_PASSWORD", "ATTEST_NEO4J_USER")],
)
def test_user_and_password_come_together(given: str, missing: str) -> None:
    with pytest.raises(NotConfigured) as caught:
        Settings.from_environment({given: "s3cret"})
    assert missing in caught.value.message
    assert "s3cret" not in str(caught.value)


def test_the_home_is_a_whole_path() -> None:
    assert Settings.from_environment({"ATTEST_HOME": "~/x"}).home == Path("~/x").expanduser().resolve()
