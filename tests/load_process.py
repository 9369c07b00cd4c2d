"""Loads a bundle in a process of its own, as the command line does, with the small encoder of the tests.

`python -m tests.load_process HOME GRAPH BUNDLE DATASET PAUSE` prints every phase as it begins and `committed` at the
end; it rests PAUSE seconds at every step, so that a test can find it there.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from backend.explorer import Explorer
from backend.models import Progress
from tests.explorers import open_test_explorer


def main(home: Path, graph: str, bundle: Path, dataset: str, pause: float) -> None:
    explorer: Explorer = open_test_explorer(home, graph=graph)
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
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4], float(sys.argv[5]))
