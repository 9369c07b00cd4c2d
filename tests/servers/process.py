"""What every server of the tests needs: a free port, and an end."""

from __future__ import annotations

import signal
import socket
import subprocess


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def end_process(process: subprocess.Popen[bytes], how: signal.Signals, *, patience: float = 60) -> None:
    """Sends a signal and waits; a process that is still there after so many seconds is killed."""
    process.send_signal(how)
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
