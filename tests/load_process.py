"""Loads a bundle in a process of its own, as the command line does, with the small encoder of the tests.

`python -m tests.load_process HOME BUNDLE DATASET PAUSE` prints every phase as it begins and `committed` at the end; it
rests PAUSE seconds at every step, so that a test can find it there.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from backend.explorer import Explorer
from backend.models import Progress
from tests.explorers import open_test_explorer


def main(home: Path, bundle: Path, dataset: str, pause: float) -> None:
    explorer: Explorer = open_test_explorer(home)
    said: set[str] = set()

    def listener(progress: Progress) -> None:
        if progress.phase not in said:
            said.add(progress.phase)
            print(progress.phase, flush=True)
        time.sleep(pause)

    explorer.load([bundle], dataset=dataset, listener=listener)
    print("committed", flush=True)
    explorer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
