"""How many records a second online learners take, beside river's logistic regression.

Run with ``make bench``; ``--quick`` takes fewer records. A hundred columns; seconds of the
processor, since a machine may be busy. Nothing here fails on a slow machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from river import linear_model

from discreet.online import LogisticRegression

WIDTH, CHUNK = 100, 256
NAMES = [f"x{place}" for place in range(WIDTH)]


def make() -> LogisticRegression:
    return LogisticRegression(
        1.0, 1e-6, data_norm=1.0, horizon=10**6, features=NAMES, classes=[False, True]
    )


def count_a_second(records: int, action: Callable[[], object]) -> float:
    """Return how many records a second of the processor an action takes; the better of two."""
    times = []
    for _ in range(2):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return records / min(times)


def report(what: str, value: float, goal: float) -> None:
    verdict = "met" if value >= goal else "MISSED"
    print(f"  {what:<58} {value:>11,.0f} a second   goal {goal:,.0f} {verdict}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer records, for a first look")
    small = 10 if parser.parse_args().quick else 1
    generator = np.random.default_rng(0)
    X = generator.standard_normal((51_200 // small, WIDTH)) / 10
    y = X[:, 0] > 0
    singles = 5000 // small
    records = [dict(zip(NAMES, row, strict=True)) for row in X[:singles].tolist()]
    labels = y[:singles].tolist()
    print(f"Online logistic regression, {WIDTH} columns")

    many = make().partial_fit(X[:CHUNK], y[:CHUNK])

    def learn_chunks() -> None:
        for start in range(0, len(X), CHUNK):
            many.partial_fit(X[start : start + CHUNK], y[start : start + CHUNK])

    report(f"minibatches of {CHUNK}", count_a_second(len(X), learn_chunks), 50_000)
    theirs = linear_model.LogisticRegression()

    def learn_theirs() -> None:
        for record, label in zip(records, labels, strict=True):
            theirs.learn_one(record, label)

    river = count_a_second(singles, learn_theirs)
    print(f"  {'river, one at a time, without privacy':<58} {river:>11,.0f} a second")
    ours = make()
    ours.learn_one(records[0], labels[0])

    def learn_ours() -> None:
        for record, label in zip(records, labels, strict=True):
            ours.learn_one(record, label)

    single = count_a_second(singles, learn_ours)
    report("one at a time", single, 5000)
    report("one at a time, against half of river", single, river / 2)


if __name__ == "__main__":
    main()
