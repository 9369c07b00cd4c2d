"""Loading from the Data page: a path on the server's machine or an upload, in a process of its own."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from pathlib import Path, PurePath

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from backend.errors import AttestError, Malformed
from components import cached, errors, jobs, markup
from components.clicks import once

_PREFIX = "attest-upload-"
_TURN = "load-turn"  # how many loads this session has started
_KEPT = "uploads"  # folder of the upload per process that loads it
_OLD = 24 * 3600  # seconds after which an upload that nobody discarded is
_REFUSED = "load-refused"  # why the last load was not begun
_PATH, _UPLOAD = "A path on this machine", "An upload"


def limit() -> int:
    """The largest upload, in megabytes, as the server is configured."""
    return int(st.get_option("server.maxUploadSize"))


@errors.shown()
def draw() -> None:
    """The form; what it starts shows up among the jobs."""
    st.html(markup.tag("h2", "Load a graph", css="at-section-title"))
    source = st.segmented_control(
        "From", (_PATH, _UPLOAD), default=_PATH, required=True, key="load-source", label_visibility="collapsed"
    )
    with st.form("load", border=False, clear_on_submit=False):
        if source == _UPLOAD:
            st.file_uploader(f"A bundle as a .zip, up to {limit()} MB", type="zip", key=_upload_key())
        else:
            st.text_input("A bundle: a folder, or a .zip of one", key="load-path", placeholder="/data/my-graph")
        if refused := st.session_state.pop(_REFUSED, None):
            errors.draw(refused, "This cannot be loaded")
        with st.container(horizontal=True, gap="small"):
            st.text_input("Dataset", key="load-dataset", placeholder="Named like the bundle")
            st.text_input("Collection", key="load-collection", placeholder="Named like the dataset")
        st.checkbox(
            "Retire what this bundle does not have",
            key="load-replace",
            help="Documents of the dataset that are not in this bundle are ended. Otherwise they stay.",
        )
        st.form_submit_button("Load", type="primary", icon=":material/database_upload:", on_click=once(_submitted))


def discard(pid: int) -> None:
    """Removes the upload that this process loaded."""
    folder = st.session_state.get(_KEPT, {}).pop(pid, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _submitted() -> None:
    """A callback: starts the load that the form asks for."""
    state = st.session_state
    upload: UploadedFile | None = state.get(_upload_key()) if state.get("load-source") == _UPLOAD else None
    try:
        if upload is not None:
            _load_upload(upload)
        else:
            _load_path(state.get("load-path", "").strip())
    except AttestError as error:
        state[_REFUSED] = error


def _load_path(path: str) -> None:
    if not path:
        raise Malformed("There is nothing to load.", hint="Give a path, or choose a file.")
    jobs.started(_start(Path(path).expanduser(), ""))


def _load_upload(upload: UploadedFile) -> None:
    """Loads the upload from a folder of its own, which is gone once it is loaded, or refused."""
    cached.check_writable()
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        pid = _start(_save(upload, folder), PurePath(upload.name).stem)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    st.session_state.setdefault(_KEPT, {})[pid] = folder
    jobs.started(pid)


def _start(bundle: Path, name: str) -> int:
    state = st.session_state
    dataset, collection = state["load-dataset"].strip() or name, state["load-collection"].strip()
    replace: bool = state["load-replace"]
    pid = cached.start_load(bundle, dataset=dataset or None, collection=collection or None, replace=replace)
    state["load-path"] = state["load-dataset"] = state["load-collection"] = ""  # ready for the next one
    state["load-replace"] = False
    state[_TURN] = state.get(_TURN, 0) + 1
    return pid


def _upload_key() -> str:
    """The key of the uploader, which is emptied by getting another one."""
    return f"load-upload-{st.session_state.get(_TURN, 0)}"


def _save(upload: UploadedFile, folder: Path) -> Path:
    """The upload as a file, under a name that cannot point anywhere else."""
    name = re.sub(r"[^\w.-]", "_", PurePath(upload.name).stem)[:100].strip(".") or "bundle"
    path = folder / f"{name}.zip"
    with path.open("wb") as file:
        shutil.copyfileobj(upload, file)
    return path


def _sweep() -> None:
    """Removes uploads of sessions that were closed before their load ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if time.time() - folder.stat().st_mtime > _OLD:
            shutil.rmtree(folder, ignore_errors=True)
