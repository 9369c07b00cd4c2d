"""The jobs of a server's store: nodes beside the graph, written in transactions of their own while a job works."""

from __future__ import annotations

from collections.abc import Mapping
from time import time
from typing import Any
from uuid import uuid4

from backend.models import Job, JobState, Progress
from backend.stores.jobs import Endings, Writer, find_job, is_alive, now, progress_text, require_open, result_job
from backend.stores.neo4j.driver import Reading, Row, Server, Writing
from backend.stores.neo4j.schema import JOB, STORE
from backend.stores.neo4j.state import required

_FIELDS = (
    "id",
    "number",
    "kind",
    "dataset",
    "state",
    "progress",
    "started",
    "finished",
    "error",
    "pid",
    "process_started",
    "host",
    "beat",
    "committed_at",
    "report",
)
_ROW = "{" + ", ".join(f"{field}: j.{field}" for field in _FIELDS) + "} AS job"
_JOBS = f"MATCH (j:{JOB}) WHERE j.id IS NOT NULL RETURN {_ROW} ORDER BY j.number DESC"
_OPEN = f"""MATCH (k:{STORE} {{id: 'store'}})
SET k.jobs = coalesce(k.jobs, 0) + 1
CREATE (j:{JOB}) SET j = $fields, j.number = k.jobs
RETURN j.id AS id"""
# Writing to the one node that holds the lease locks it until the transaction ends, so that two never read it at once.
_HOLDER = f"""MATCH (k:{STORE} {{id: 'store'}}) SET k.asked_at = $now
WITH k OPTIONAL MATCH (j:{JOB} {{id: k.lease}}) RETURN {_ROW}"""
_TAKE = f"""MATCH (k:{STORE} {{id: 'store'}}), (j:{JOB} {{id: $id}})
SET k.lease = $id, j.state = $state, j.beat = $now"""
_BEAT = f"""MATCH (j:{JOB} {{id: $id}}) SET j.progress = $progress, j.beat = $now
RETURN coalesce(j.stop_asked, false) AS stop_asked"""
_CLOSE = f"""MATCH (j:{JOB} {{id: $id}}) SET j.state = $state, j.finished = $finished, j.error = $error
WITH j MATCH (k:{STORE} {{id: 'store'}}) WHERE k.lease = $id SET k.lease = null"""
_STOP = f"MATCH (j:{JOB} {{id: $id}}) SET j.stop_asked = true"


class Neo4jJobs:
    """A JobBoard in the database of the graph."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._endings = Endings(self._end)

    def open(self, kind: str, dataset: str | None) -> Job:
        job_id, writer = str(uuid4()), Writer.here()
        fields = {
            "id": job_id,
            "kind": kind,
            "dataset": dataset,
            "state": str(JobState.WAITING),
            "progress": progress_text(Progress("waiting")),
            "started": now(),
            "pid": writer.pid,
            "process_started": writer.process_started,
            "host": writer.host,
            "beat": time(),
        }
        required(self._server.write(lambda transaction: transaction.run(_OPEN, {"fields": fields})), self._server)
        return self.job(job_id)

    def acquire(self, job_id: str) -> Job | None:
        self._endings.say_what_waits()

        def take(transaction: Writing) -> Job | None:
            holder = required(transaction.run(_HOLDER, {"now": time()}), self._server)["job"]
            if holder["id"] not in (None, job_id) and is_alive(holder):
                return _job(holder)
            transaction.run(_TAKE, {"id": job_id, "state": str(JobState.RUNNING), "now": time()})
            return None

        return self._server.write(take)

    def beat(self, job_id: str, progress: Progress) -> bool:
        asked = {"id": job_id, "progress": progress_text(progress), "now": time()}
        rows = self._server.write(lambda transaction: transaction.run(_BEAT, asked))
        return not required(rows, self._server)["stop_asked"]

    def close(self, job_id: str, state: JobState, *, error: str | None = None) -> None:
        self._endings.say(job_id, state, error)

    def _end(self, ending: Mapping[str, Any]) -> None:
        self._server.write(lambda transaction: transaction.run(_CLOSE, ending))

    def request_stop(self, job_id: str) -> Job:
        require_open(self.job(job_id))
        self._server.write(lambda transaction: transaction.run(_STOP, {"id": job_id}))
        return self.job(job_id)

    def job(self, job_id: str) -> Job:
        return find_job(self.jobs(), job_id)

    def jobs(self) -> tuple[Job, ...]:
        with self._server.reading() as reading:
            return read_jobs(reading)


def read_jobs(reading: Reading) -> tuple[Job, ...]:
    """Every job, newest first."""
    return tuple(_job(row["job"]) for row in reading.peek(_JOBS))


def _job(row: Row) -> Job:
    return result_job(row, committed_at=row["committed_at"], report=row["report"])
