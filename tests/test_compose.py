"""compose.yaml says nothing that was not tried another way: its settings, its versions, its addresses."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from backend.settings import SETTINGS, Settings
from tests.servers.neo4j import CONFIGURATION, LINES

ROOT = Path(__file__).parent.parent
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


def test_the_settings_are_settings() -> None:
    given = SERVICES["attest"]["environment"]
    assert set(given) <= {setting.name for setting in SETTINGS}
    settings = Settings.from_environment({key: re.sub(r"\$\{.*?\}", "a password", text) for key, text in given.items()})
    assert urlsplit(settings.graph).hostname in SERVICES
    assert urlsplit(settings.vectors).hostname in SERVICES


def test_no_password_is_written_down() -> None:
    texts = {key: text for service in SERVICES.values() for key, text in service.get("environment", {}).items()}
    secret = {key: text for key, text in texts.items() if "PASSWORD" in key or "AUTH" in key}
    assert set(secret) == {"ATTEST_NEO4J_PASSWORD", "NEO4J_AUTH"}
    assert all(text.removeprefix("neo4j/").startswith("${ATTEST_NEO4J_PASSWORD:?") for text in secret.values())


def test_the_versions_are_those_that_are_tested() -> None:
    [chroma] = re.findall(r"^chromadb==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M)
    assert SERVICES["chroma"]["image"] == f"chromadb/chroma:{chroma}"
    image, _, edition = SERVICES["neo4j"]["image"].partition("-")
    assert edition == "community"
    assert image.removeprefix("neo4j:") in LINES


def test_neo4j_is_configured_as_that_of_the_tests() -> None:
    for name in set(SERVICES["neo4j"]["environment"]) - {"NEO4J_AUTH"}:
        key = name.removeprefix("NEO4J_").replace("__", " ").replace("_", ".").replace(" ", "_")
        assert f"{key}=" in CONFIGURATION, name


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_for_this_machine_and_keeps_its_data(name: str) -> None:
    service = SERVICES[name]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert {volume.partition(":")[0] for volume in service.get("volumes", ())} <= set(COMPOSE["volumes"])
    assert set(service.get("depends_on", ())) <= set(SERVICES)
