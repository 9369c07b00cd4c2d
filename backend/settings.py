"""Settings: read once from the environment, each with a name, a default and a line of help."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dotenv import dotenv_values
from platformdirs import user_data_path

from backend.errors import NotConfigured

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the settings table."""

    name: str
    default: str
    help: str


SETTINGS = (
    Setting("ATTEST_HOME", "the platform's user data folder", "folder of the embedded stores"),
    Setting("ATTEST_GRAPH", "sqlite", "the graph store"),
    Setting("ATTEST_VECTORS", "chroma", "the vector store"),
    Setting("ATTEST_ENCODER", "the bundled all-MiniLM-L6-v2", "a sentence-transformers model, by name or path"),
    Setting("ATTEST_READ_ONLY", "0", "1: no page can load, remove or read a path"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; made by `from_environment`, passed down, never changed."""

    home: Path = field(default_factory=lambda: user_data_path("attest", appauthor=False))
    graph: str = "sqlite"
    vectors: str = "chroma"
    encoder: str | None = None
    read_only: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads the settings; raises NotConfigured naming the key and the value that is wrong."""
        given = {key: value.strip() for key, value in environment.items() if key.startswith("ATTEST_")}
        _check_choice(given, "ATTEST_GRAPH", ("sqlite",))
        _check_choice(given, "ATTEST_VECTORS", ("chroma",))
        defaults = cls()
        return cls(
            home=Path(given["ATTEST_HOME"]).expanduser().resolve() if given.get("ATTEST_HOME") else defaults.home,
            graph=given.get("ATTEST_GRAPH") or defaults.graph,
            vectors=given.get("ATTEST_VECTORS") or defaults.vectors,
            encoder=given.get("ATTEST_ENCODER") or None,
            read_only=_flag(given, "ATTEST_READ_ONLY"),
        )

    def environment(self) -> dict[str, str]:
        """The settings as the environment of another process."""
        given = {
            "ATTEST_HOME": str(self.home),
            "ATTEST_GRAPH": self.graph,
            "ATTEST_VECTORS": self.vectors,
            "ATTEST_ENCODER": self.encoder or "",
        }
        return {key: value for key, value in given.items() if value}


def read_settings() -> Settings:
    """The settings of this process: its environment, and under it a `.env` file in the working directory."""
    from_file = {key: value for key, value in dotenv_values(".env").items() if value is not None}
    return Settings.from_environment({**from_file, **os.environ})


def _check_choice(given: Mapping[str, str], name: str, choices: tuple[str, ...]) -> None:
    value = given.get(name)
    if value and value not in choices:
        raise NotConfigured(f"{name} is {value!r}.", hint=f"This version knows: {', '.join(choices)}.")


def _flag(given: Mapping[str, str], name: str) -> bool:
    value = given.get(name, "").lower()
    if value not in _TRUE + _FALSE:
        raise NotConfigured(f"{name} is {value!r}.", hint="Write 1 or 0.")
    return value in _TRUE
