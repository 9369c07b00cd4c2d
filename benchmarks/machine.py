"""What the measurements ran on."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import psutil

from backend.stores.sqlite import driver
from tests.chromium import find_chromium

_PACKAGES = ("chromadb", "sentence-transformers", "torch", "streamlit")


def machine() -> str:
    """Processor, cores, memory and versions, in one line."""
    memory = psutil.virtual_memory().total / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"{_processor()}, {psutil.cpu_count()} cores, {memory:.0f} GB of memory, {platform.system()} "
        f"{platform.machine()}; Python {platform.python_version()}, {driver.version()}, {packages}, {_browser()}"
    )


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _browser() -> str:
    path = find_chromium()
    if path is None:
        return "no Chromium"
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return " ".join(shown.split()[:2]) or "Chromium"
