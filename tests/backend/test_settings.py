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
