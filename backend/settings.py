"""Settings: read once from the environment, each with a name, a default and a line of help."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dotenv import dotenv_values
from platformdirs import user_data_path

from backend.errors import NotConfigured

SQLITE, CHROMA = "sqlite", "chroma"
INDEXES = ("chunk", "topic", "statement")
_HOST = r"://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class _Addresses:
    """How the address of a server looks: its schemes, what may follow the host, and what to do with a password."""

    embedded: str
    schemes: tuple[str, ...]
    rest: str
    without_password: str


# A question mark is for Neo4j's routing policy, a path for a Chroma behind a proxy.
_GRAPHS = _Addresses(
    SQLITE,
    ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"),
    r"/?(\?[\w=&.-]+)?",
    "Set ATTEST_NEO4J_USER and ATTEST_NEO4J_PASSWORD.",
)
_VECTORS = _Addresses(CHROMA, ("http", "https"), r"(/[\w./-]*)?", "Give it without.")
_MODELS = _Addresses("", ("http", "https"), r"(/[\w./-]*)?", "Set ATTEST_LLM_KEY.")
# What the question, the rules and a passage or two need; and more than any model reads.
_FEWEST_TOKENS, _MOST_TOKENS = 500, 10_000_000


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the settings table."""

    name: str
    default: str
    help: str


SETTINGS = (
    Setting("ATTEST_HOME", "the platform's user data folder", "folder of the embedded stores"),
    Setting("ATTEST_GRAPH", SQLITE, "the graph store: `sqlite`, or the address of a Neo4j, as `neo4j://host:7687`"),
    Setting("ATTEST_NEO4J_USER", "no authentication", "the user of that Neo4j"),
    Setting("ATTEST_NEO4J_PASSWORD", "none", "and the password"),
    Setting("ATTEST_NEO4J_DATABASE", "the server's own default", "the database there"),
    Setting(
        "ATTEST_VECTORS", CHROMA, "the vector store: `chroma`, or the address of a Chroma server, as `http://host:8000`"
    ),
    Setting("ATTEST_ENCODER", "the bundled all-MiniLM-L6-v2", "a sentence-transformers model, by name or path"),
    Setting(
        "ATTEST_INDEXES", ",".join(INDEXES), "which vectors a load makes beside those of entities; `none` for no others"
    ),
    Setting("ATTEST_RERANKER", "none", "a cross-encoder of sentence-transformers, by name or path"),
    Setting("ATTEST_LLM_URL", "no model", "an OpenAI-compatible endpoint, as `http://localhost:11434/v1`"),
    Setting("ATTEST_LLM_MODEL", "none", "the name of a language model there"),
    Setting("ATTEST_LLM_KEY", "none", "and the key, where the endpoint wants one"),
    Setting("ATTEST_LLM_TOKENS", "6000", "the most tokens of a prompt, counted as the encoder counts them"),
    Setting("ATTEST_READ_ONLY", "0", "1: no page can load, remove or read a path"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; made by `from_environment`, passed down, never changed."""

    home: Path = field(default_factory=lambda: user_data_path("attest", appauthor=False))
    graph: str = SQLITE
    neo4j_user: str | None = None
    neo4j_password: str | None = field(default=None, repr=False)
    neo4j_database: str | None = None
    vectors: str = CHROMA
    encoder: str | None = None
    indexes: tuple[str, ...] = INDEXES
    reranker: str | None = None
    llm_url: str | None = None
    llm_model: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_tokens: int = 6_000
    read_only: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads the settings; raises NotConfigured naming the key and what is wrong with it."""
        given = {key: value.strip() for key, value in environment.items() if key.startswith("ATTEST_")}
        password = environment.get("ATTEST_NEO4J_PASSWORD") or None  # as it is: spaces may belong to it
        user = given.get("ATTEST_NEO4J_USER") or None
        if (user is None) != (password is None):
            missing = "ATTEST_NEO4J_USER" if user is None else "ATTEST_NEO4J_PASSWORD"
            raise NotConfigured(f"{missing} is missing.", hint="Set user and password, or neither of them.")
        url, model = _place("ATTEST_LLM_URL", given.get("ATTEST_LLM_URL"), _MODELS), given.get("ATTEST_LLM_MODEL")
        if bool(url) != bool(model):
            missing = "ATTEST_LLM_MODEL" if url else "ATTEST_LLM_URL"
            raise NotConfigured(f"{missing} is missing.", hint="Set the address and the name of a model, or neither.")
        defaults = cls()
        return cls(
            home=Path(given["ATTEST_HOME"]).expanduser().resolve() if given.get("ATTEST_HOME") else defaults.home,
            graph=_place("ATTEST_GRAPH", given.get("ATTEST_GRAPH"), _GRAPHS),
            neo4j_user=user,
            neo4j_password=password,
            neo4j_database=given.get("ATTEST_NEO4J_DATABASE") or None,
            vectors=_place("ATTEST_VECTORS", given.get("ATTEST_VECTORS"), _VECTORS),
            encoder=given.get("ATTEST_ENCODER") or None,
            indexes=_indexes(given.get("ATTEST_INDEXES")),
            reranker=given.get("ATTEST_RERANKER") or None,
            llm_url=url or None,
            llm_model=model or None,
            llm_key=given.get("ATTEST_LLM_KEY") or None,
            llm_tokens=_tokens(given.get("ATTEST_LLM_TOKENS") or str(defaults.llm_tokens)),
            read_only=_flag(given, "ATTEST_READ_ONLY"),
        )

    @property
    def vectors_place(self) -> Path | str:
        """Where the vectors are: a folder, or the address of a server."""
        if self.vectors != CHROMA:
            return self.vectors
        # Vectors belong to one graph: those of a server's are kept apart from those of the embedded one.
        return self.home / ("vectors" if self.graph == SQLITE else "vectors-neo4j")

    @property
    def vector_kinds(self) -> tuple[str, ...]:
        """The kinds of things that a load gives vectors to."""
        return ("entity", "report", *self.indexes)

    def elsewhere(self, place: str, vectors: str | None) -> Settings:
        """The same for other stores: `place` is a folder of embedded ones, or the address of a Neo4j."""
        server = "://" in place
        return replace(
            self,
            home=self.home if server else Path(place).expanduser().resolve(),
            graph=_place("--to", place, _GRAPHS) if server else SQLITE,
            vectors=_place("--vectors-to", vectors, _VECTORS),
        )

    def environment(self) -> dict[str, str]:
        """The settings as the environment of another process."""
        given = {
            "ATTEST_HOME": str(self.home),
            "ATTEST_GRAPH": self.graph,
            "ATTEST_NEO4J_USER": self.neo4j_user,
            "ATTEST_NEO4J_PASSWORD": self.neo4j_password,
            "ATTEST_NEO4J_DATABASE": self.neo4j_database,
            "ATTEST_VECTORS": self.vectors,
            "ATTEST_ENCODER": self.encoder,
            "ATTEST_INDEXES": None if self.indexes == INDEXES else ",".join(self.indexes) or "none",
            "ATTEST_RERANKER": self.reranker,
            "ATTEST_LLM_URL": self.llm_url,
            "ATTEST_LLM_MODEL": self.llm_model,
            "ATTEST_LLM_KEY": self.llm_key,
            "ATTEST_LLM_TOKENS": str(self.llm_tokens),
        }
        return {key: value for key, value in given.items() if value}


def read_settings() -> Settings:
    """The settings of this process: its environment, and under it a `.env` file in the working directory."""
    from_file = {key: value for key, value in dotenv_values(".env").items() if value is not None}
    return Settings.from_environment({**from_file, **os.environ})


def _place(name: str, given: str | None, known: _Addresses) -> str:
    """The embedded store, or an address; one that may hold a password is refused without repeating it."""
    value = given or known.embedded
    if value == known.embedded:
        return value
    if "@" in value:
        raise NotConfigured(f"{name} has a user or a password in its address.", hint=known.without_password)
    if not re.fullmatch(rf"({'|'.join(map(re.escape, known.schemes))}){_HOST}{known.rest}", value):
        scheme, there, _ = value.partition("://")
        shown = f"{scheme}://…" if there else value
        addresses = ", ".join(f"{scheme}://host:port" for scheme in known.schemes)
        what = "store that is known here" if known.embedded else "address"
        hint = f"Write {known.embedded}, or {addresses}." if known.embedded else f"Write {addresses}."
        raise NotConfigured(f"{name} is no {what}: {shown!r}.", hint=hint)
    return value.rstrip("/")


def _indexes(given: str | None) -> tuple[str, ...]:
    names = [name.strip() for name in (given or ",".join(INDEXES)).split(",")]
    if names == ["none"]:
        return ()
    if unknown := [name for name in names if name not in INDEXES]:
        raise NotConfigured(
            f"ATTEST_INDEXES names {unknown[0]!r}.", hint=f"The names are {', '.join(INDEXES)}, or none by itself."
        )
    return tuple(name for name in INDEXES if name in names)


def _flag(given: Mapping[str, str], name: str) -> bool:
    value = given.get(name, "").lower()
    if value not in _TRUE + _FALSE:
        raise NotConfigured(f"{name} is {value!r}.", hint="Write 1 or 0.")
    return value in _TRUE


def _tokens(value: str) -> int:
    if not (value.isascii() and value.isdigit() and _FEWEST_TOKENS <= int(value[:9]) <= _MOST_TOKENS):
        raise NotConfigured(
            f"ATTEST_LLM_TOKENS is {value[:50]!r}.", hint=f"Write a number from {_FEWEST_TOKENS:,} to {_MOST_TOKENS:,}."
        )
    return int(value)
