"""Sessions with a Neo4j server: the only file that imports its driver, and where its errors become ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from neo4j import GraphDatabase, Query, Result, Session, Transaction, unit_of_work
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
)

from backend.errors import StoreUnreachable

T = TypeVar("T")
Row = dict[str, Any]
Parameters = Mapping[str, Any]

READ_SECONDS = 30.0
_WRITE_SECONDS = 600.0
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 4.0
# More readers than connections wait for one: a server that is busy enough answers no sooner for having more.
_POOL, _ACQUIRE_SECONDS = 50, READ_SECONDS
_TIMED_OUT = ("TransactionTimedOut", "LockClientStopped", "TransactionTerminated")
_VERSION = """CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel'
RETURN versions, edition"""
_GONE = "Neo.ClientError.Database.DatabaseNotFound"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and who asks; the password is in no text that is made of it."""

    uri: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None

    def __str__(self) -> str:
        return re.sub(r"//[^/@]*@", "//", self.uri)


class Server:
    """A pool of connections, shared by all threads; counts the queries that `read` runs."""

    def __init__(self, address: Address, *, read_seconds: float = READ_SECONDS) -> None:
        self.address = address
        self.reads = 0
        self._read_seconds = read_seconds
        self._counting = Lock()
        auth = (address.user, address.password or "") if address.user else None
        with self._errors():
            self._driver = GraphDatabase.driver(
                address.uri,
                auth=auth,
                max_connection_pool_size=_POOL,
                connection_timeout=_CONNECT_SECONDS,
                connection_acquisition_timeout=_ACQUIRE_SECONDS,
                max_transaction_retry_time=_RETRY_SECONDS,
                # A connection that the server closed meanwhile is found out before it is used.
                liveness_check_timeout=0,
                keep_alive=True,
                telemetry_disabled=True,
                notifications_min_severity="OFF",
                user_agent="attest",
            )

    def version(self) -> str:
        """Name and version of the server; raises StoreUnreachable where it does not answer."""
        with self._session("READ") as session, self._errors():
            row = _rows(session.run(_VERSION))[0]
        return f"Neo4j {row['versions'][0]} ({row['edition']})"

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """One read transaction with a limit of time."""
        with (
            self._session("READ") as session,
            self._errors(),
            session.begin_transaction(timeout=self._read_seconds) as transaction,
        ):
            yield Reading(self, transaction)

    def write(self, work: Callable[[Writing], T]) -> T:
        """Runs the work in one transaction, again where the server asks for that: it must bear being run twice."""

        @unit_of_work(timeout=_WRITE_SECONDS)
        def run(transaction: Any) -> T:
            return work(Writing(transaction))

        with self._session("WRITE") as session, self._errors():
            return session.execute_write(run)

    def run_alone(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Runs a statement that must have a transaction of its own: of the schema, or one that makes its own."""
        with self._session("WRITE") as session, self._errors():
            return _rows(session.run(Query(statement), dict(parameters or {})))

    def count(self) -> None:
        """Notes that a query was read."""
        with self._counting:
            self.reads += 1

    def close(self) -> None:
        self._driver.close()

    def _session(self, mode: str) -> Session:
        return self._driver.session(database=self.address.database, default_access_mode=mode, fetch_size=-1)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns the driver's errors into StoreUnreachable, naming the address."""
        try:
            yield
        except (Neo4jError, DriverError, OSError) as error:
            message, hint = _explained(error, self.address)
            # Not `from error`: what the driver says may hold values of the query.
            raise StoreUnreachable(message, hint=hint, address=str(self.address)) from None


class Reading:
    """Queries of one read transaction."""

    def __init__(self, server: Server, transaction: Transaction) -> None:
        self._server = server
        self._transaction = transaction

    def read(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """All rows of one query."""
        self._server.count()
        return self.peek(statement, parameters)

    def peek(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """The same, but not counted: it only begins or ends a reading."""
        return _rows(self._transaction.run(statement, dict(parameters or {})))


class Writing:
    """Statements of one write transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Runs one statement and returns its rows."""
        return _rows(self._transaction.run(statement, dict(parameters or {})))


def _rows(result: Result) -> list[Row]:
    keys = result.keys()
    return [dict(zip(keys, record.values(), strict=True)) for record in result]


def _explained(error: Exception, address: Address) -> tuple[str, str]:
    """What happened and what to do, in words that name the address and no secret."""
    code = error.code if isinstance(error, Neo4jError) else None
    if isinstance(error, AuthError) or (code or "").startswith("Neo.ClientError.Security"):
        who = f"the user {address.user!r}" if address.user else "a visitor without a user"
        return (
            f"The graph store {address} refuses {who}.",
            "Check ATTEST_NEO4J_USER and ATTEST_NEO4J_PASSWORD.",
        )
    if code == _GONE:
        return (
            f"The graph store {address} has no database {address.database!r}.",
            "Check ATTEST_NEO4J_DATABASE; without it the server's own default is used.",
        )
    if code and any(name in code for name in _TIMED_OUT):
        return (
            f"The graph store {address} did not finish a query within its time limit.",
            "Narrow the scope or lower the bounds, and try again.",
        )
    if isinstance(error, ConfigurationError):
        return f"The address {address} cannot be used.", "Write ATTEST_GRAPH like neo4j://host:7687."
    if isinstance(error, ClientError):
        return f"The graph store {address} refuses a query ({code}).", "Is its version at least 5.26?"
    detail = code or type(error).__name__
    return (
        f"The graph store {address} does not answer ({detail}).",
        "Is the server running, and is the address right? Nothing needs to be restarted here once it is back.",
    )
