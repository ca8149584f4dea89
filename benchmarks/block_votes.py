"""A vote of 100 blocks with one worker and with two: how the work scales.

``python benchmarks/block_votes.py``. Runs are interleaved, and what is told is the ratio of their
times in the same run: seconds depend on the machine and on who else is on it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings

import numpy as np
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LassoCV

from discreet.errors import RehearsalWarning
from discreet.model_selection import StableSelector

BLOCKS = 100
ROWS, COLUMNS = 10_000, 40


def seconds(X: np.ndarray, y: np.ndarray, jobs: int, backend: str) -> float:
    """Return how long one fit takes."""
    selector = StableSelector(
        SelectFromModel(LassoCV(cv=5)), target_range=(-10, 10), blocks=BLOCKS, n_jobs=jobs,
        backend=backend, delta=1e-6, rehearsal=1,
    )  # fmt: skip
    start = time.perf_counter()
    selector.fit(X, y)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", RehearsalWarning)
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    generator = np.random.default_rng(0)
    X = generator.standard_normal((ROWS, COLUMNS))
    y = X[:, :3].sum(axis=1) + generator.standard_normal(ROWS)
    print("| workers | times one worker's speed, median | least and most | seconds of one, two |")
    print("|---|---|---|---|")
    for backend in ("processes", "threads"):
        seconds(X[:2000], y[:2000], 2, backend)  # processes are started once, and kept
        pairs = [(seconds(X, y, 1, backend), seconds(X, y, 2, backend)) for _ in range(runs)]
        ratios = [one / two for one, two in pairs]
        one, two = (statistics.median(times) for times in zip(*pairs, strict=True))
        print(
            f"| two {backend} | {statistics.median(ratios):.2f} | {min(ratios):.2f} to "
            f"{max(ratios):.2f} | {one:.1f}, {two:.1f} |"
        )


if __name__ == "__main__":
    main()
