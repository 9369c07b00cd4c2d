"""Jobs and their progress, drawn anew by themselves while one runs; the report of each load."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import streamlit as st

from backend.loading.issues import SENTENCES
from backend.models import Issue, Job, JobState, LoadReport
from components import cached, errors, markup, wording
from components.clicks import once

_SHOWN = 6
_STARTED = "job-started"  # the process of a load that has no job yet
_FOLLOWED, _ENDED = "job-followed", "job-ended"  # a process of several jobs, and what is to be said after its end
_SENTENCES: dict[str, str] = {str(kind): sentence for kind, sentence in SENTENCES.items()}
_KINDS = {"load": "Load", "remove": "Remove", "index": "Build the indexes", "copy": "Copy"}
_ACTIVE = (JobState.WAITING, JobState.RUNNING)


def active() -> bool:
    """Whether a job is running, or waiting for one that is."""
    return any(job.state in _ACTIVE for job in cached.explorer().jobs())


def started(pid: int) -> None:
    """Notes that a load was started, so that its job is waited for."""
    st.session_state[_STARTED] = pid


def draw(*, writable: bool, loaded: Callable[[int], None]) -> None:
    """The jobs, newest first; `loaded` is told the process of every load that has ended."""
    waiting = _STARTED in st.session_state or active()
    st.fragment(_draw, run_every=1 if waiting else None)(writable, waiting, loaded)


def follow(pid: int) -> None:
    """Notes that a process of one job after another was started, so that its end is waited for."""
    st.session_state[_FOLLOWED] = pid


def following() -> bool:
    """Whether a process that this session follows still works, or any job does."""
    pid: int | None = st.session_state.get(_FOLLOWED)
    return (pid is not None and psutil.pid_exists(pid)) or active()


def draw_followed() -> None:
    """The progress of what is followed, and the page anew at its end; afterwards what went wrong, once."""
    if failed := st.session_state.pop(_ENDED, None):
        st.error(markup.label(failed, 600), icon=":material/error:")
    if _FOLLOWED in st.session_state or active():
        st.fragment(_draw_followed, run_every=1)()


@errors.shown()
def _draw_followed() -> None:
    jobs = cached.explorer().jobs()
    if not following():
        pid: int | None = st.session_state.pop(_FOLLOWED, None)
        own = [job for job in jobs if job.pid == pid]
        failed = [job.error or "The job did not end well." for job in own if job.state is not JobState.COMMITTED]
        if pid is not None and (failed or not own):
            st.session_state[_ENDED] = failed[0] if failed else "It ended before it began: the command line says why."
        cached.forget()
        st.rerun()
    working = next((job for job in jobs if job.state in _ACTIVE), None)
    if working is None:
        st.progress(0.0, text="Starting …")
    else:
        _progress(working)


@errors.shown()
def _draw(writable: bool, waiting: bool, loaded: Callable[[int], None]) -> None:
    found = cached.explorer().jobs()
    starting = _starting(found)
    if waiting and not starting and not any(job.state in _ACTIVE for job in found):
        cached.forget()
        st.rerun()  # everything on the page may have changed
    st.html(markup.tag("h2", "Jobs", css="at-section-title"))
    if starting:
        st.progress(0.0, text="Starting …")
    if not found and not starting:
        st.html(markup.tag("p", "No job yet.", css="at-quiet"))
    shown = found if st.session_state.get("jobs-all") else found[:_SHOWN]
    for job in shown:
        with st.container(key=f"job-{job.id}", gap="xxsmall"):
            _draw_job(job, writable)
        if job.kind == "load" and job.state not in _ACTIVE:
            loaded(job.pid)
    if len(found) > len(shown):
        st.checkbox(f"Show all {wording.count(len(found), 'job')}", key="jobs-all")


def _starting(found: tuple[Job, ...]) -> bool:
    """Whether a process that was started has no job yet; one that ended without a job is reported."""
    pid: int | None = st.session_state.get(_STARTED)
    if pid is None:
        return False
    if any(job.pid == pid for job in found):
        del st.session_state[_STARTED]
        return False
    if not psutil.pid_exists(pid):
        del st.session_state[_STARTED]
        st.error("The load ended before it began. “attest load” on the command line says why.", icon=":material/error:")
        return False
    return True


def _draw_job(job: Job, writable: bool) -> None:
    st.html(_head(job))
    if job.state in _ACTIVE:
        _progress(job)
    if job.error:
        st.html(markup.tag("p", job.error, css="at-note"))
    if job.state is JobState.KILLED:
        st.html(
            markup.tag(
                "p",
                "Its process is gone. Nothing of it can be seen; loading the same again finishes it.",
                css="at-quiet",
            )
        )
    if writable:
        _buttons(job)
    if job.report is not None:
        with st.expander("Report", icon=":material/receipt_long:", type="compact"):
            st.html(report(job.report))


def _head(job: Job) -> markup.Html:
    what = markup.join((_KINDS.get(job.kind, job.kind), " ", markup.name(job.dataset or "")))
    state = markup.tag("span", wording.JOB_STATES[job.state], css=f"at-badge at-job-{job.state.value}")
    when = wording.moment(job.finished or job.started)
    return markup.tag(
        "div", markup.tag("span", what, " ", state), markup.tag("span", f"{when} UTC", css="at-date"), css="at-job"
    )


def _progress(job: Job) -> None:
    progress = job.progress
    share = min(1.0, progress.done / progress.total) if progress.total else 0.0
    of = f": {wording.number(progress.done)} of {wording.number(progress.total)}" if progress.total else ""
    st.progress(share, text=markup.label(f"{progress.phase[:1].upper()}{progress.phase[1:]}{of}"))


def _buttons(job: Job) -> None:
    if job.state in _ACTIVE:
        st.button(
            "Stop",
            key=f"stop-{job.id}",
            icon=":material/stop_circle:",
            on_click=once(errors.guarded),
            args=(cached.stop, job.id),
        )
    elif job.state is JobState.KILLED:
        st.button(
            "Give it up",
            key=f"undo-{job.id}",
            icon=":material/undo:",
            on_click=once(errors.guarded),
            args=(cached.undo, job.id),
        )


def report(found: LoadReport) -> markup.Html:
    """What a load read, kept, changed, repaired and left out, each kind with the places of its first cases."""
    rows = [(kind, wording.number(read), wording.number(found.kept.get(kind, 0))) for kind, read in found.read.items()]
    parts = [markup.tag("p", f"Recognised {found.format}", css="at-note")] if found.format else []
    parts += [markup.table(("Rows", "Read", "Kept"), rows, numbers_from=1)]
    changes = " · ".join(f"{wording.number(count)} {kind}" for kind, count in found.changes.items())
    parts += [markup.tag("p", changes, css="at-note")] if changes else []
    parts += [_issue(issue) for issue in found.issues]
    parts += [markup.tag("p", f"Mended: {text}", css="at-note") for text in found.mended]
    return markup.join(parts)


def _issue(issue: Issue) -> markup.Html:
    verb = "Repaired" if issue.repaired else "Left out"
    title = f"{verb}: {wording.number(issue.count)} {_SENTENCES.get(issue.kind, issue.kind)}"
    places = [markup.tag("li", markup.tag("bdi", example)) for example in issue.examples]
    return markup.tag("div", markup.tag("b", title), markup.tag("ul", *places), css="at-issue")
