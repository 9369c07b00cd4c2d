"""What one job asks and writes: rows of its own at once, as long as it holds the lease."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.errors import StoreUnreachable
from backend.stores.neo4j import statements
from backend.stores.neo4j.driver import Row, Server, Writing
from backend.stores.neo4j.state import required

PAGE = 5_000  # rows of one statement


class JobSession:
    """The server as one job sees it; every statement may use `commit`, the last one, and `since`, its own number."""

    def __init__(self, server: Server, job_id: str, *, commit: int) -> None:
        self.server = server
        self.job_id = job_id
        self.commit = commit
        self.since = commit + 1

    def read(self, statement: str, **parameters: Any) -> list[Row]:
        with self.server.reading() as reading:
            return reading.peek(statement, {"commit": self.commit, "since": self.since, **parameters})

    def value(self, statement: str, **parameters: Any) -> Any:
        rows = self.read(statement, **parameters)
        return next(iter(rows[0].values())) if rows else None

    def write(self, statement: str, rows: Sequence[Row]) -> list[Row]:
        """Runs the statement with `rows` in a transaction of its own; nothing without any."""
        if not rows:
            return []
        parameters = {"rows": rows, "since": self.since, "commit": self.commit}

        def work(transaction: Writing) -> list[Row]:
            self.require_lease(transaction)
            return transaction.run(statement, parameters)

        return self.server.write(work)

    def require_lease(self, transaction: Writing) -> None:
        """Raises StoreUnreachable where this job's rows would be taken for those of a later one."""
        if required(transaction.run(statements.STATE), self.server)["lease"] != self.job_id:
            raise self.overtaken()

    def overtaken(self) -> StoreUnreachable:
        return StoreUnreachable(
            f"Job {self.job_id} was not heard of for so long that another has taken its place.",
            hint="Nothing of it is visible; run it again.",
            address=str(self.server.address),
        )
