"""How fast the foundation is, as ratios to NumPy and SciPy in the same run.

Run with ``make bench``; ``--quick`` takes smaller sizes. Nothing here fails on a slow machine: the
last column says whether the goal was met.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.special import expit

from discreet.data import Bounds, LabelSet, Rows
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.noise import Grid, SystemNoise, release_gaussian, release_laplace
from discreet.privacy import AddRemoveOne, Guarantee, Pure


def best(action: Callable[[], object], repeats: int = 9) -> float:
    """Return the shortest of several times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def ratio(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 3) -> float:
    """Return the best time of ours over the best of theirs, measured in turns."""
    pairs = [(best(ours, 3), best(theirs, 3)) for _ in range(rounds)]
    return min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs)


def peak_memory(action: Callable[[], object]) -> int:
    """Return the most bytes that an action had allocated at once."""
    tracemalloc.start()
    action()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def report(what: str, value: float, goal: float, unit: str = "x") -> None:
    verdict = "met" if value <= goal else "MISSED"
    print(f"  {what:<58} {value:>7.2f}{unit}   goal {goal:g}{unit:<2} {verdict}", flush=True)


def noise(size: int, many: int) -> None:
    print("Exact noise, against numpy.random.Generator.standard_normal into a given array")
    generator, source = np.random.default_rng(0), SystemNoise()
    room = np.empty(size)
    for law in ("gaussian", "laplace"):
        draw = getattr(source, law)
        value = ratio(lambda draw=draw: draw(size, 30), lambda: generator.standard_normal(out=room))
        report(f"{size:,} {law} integers", value, 2)
    room, values, grid = np.empty(many), np.zeros(many), Grid(1.0, 30, 100.0)
    for law, act in (("gaussian", release_gaussian), ("laplace", release_laplace)):
        value = ratio(
            lambda act=act: act(values, grid, source), lambda: generator.standard_normal(out=room)
        )
        report(f"release of {many:,} values, {law}", value, 3)
    extra = peak_memory(lambda: release_gaussian(values, grid, source)) + values.nbytes
    report("memory of that release, values included", extra / 1e9, 1, " GB")


def logistic(X, y, w):
    """The bare expression: loss and gradient of logistic regression."""
    margin = y * (X @ w)
    return np.logaddexp(0, -margin).sum(), X.T @ (-y * expit(-margin))


def kernel(w):
    """The same through blocks of clipped rows."""

    def ask(block):
        margin = block.labels * block.margins(w)
        loss = np.logaddexp(0, -margin).sum()
        return loss, block.weighted_sum(-block.labels * expit(-margin))

    return ask


def sums(name: str, X, size: int) -> None:
    generator = np.random.default_rng(1)
    y = np.where(generator.random(X.shape[0]) < 0.5, -1.0, 1.0)
    w = generator.standard_normal(X.shape[1])
    bounds = Bounds(L2Ball(1.0), X.shape[1], labels=LabelSet([-1, 1]))
    rows = Rows(X, y, bounds=bounds)

    def opened():
        return rows.open(NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne())))

    ready = opened()
    ready.sum(kernel(w))  # the first sum also works out how rows are clipped
    report(
        f"{name}: loss and gradient",
        ratio(lambda: ready.sum(kernel(w)), lambda: logistic(X, y, w)),
        1.2,
    )
    start = best(lambda: opened().count, 3) / best(lambda: logistic(X, y, w), 3)
    print(f"  {name + ': opening, once':<58} {start:>7.2f}x   (reported)")
    extra = peak_memory(lambda: opened().sum(kernel(w)))
    report(f"{name}: extra memory, opening included", 100 * extra / size, 10, " %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    small = 10 if parser.parse_args().quick else 1
    noise(10**6 // small, 2 * 10**7 // small)
    print("rows.sum, against the bare NumPy or SciPy expression")
    generator = np.random.default_rng(2)
    X = generator.standard_normal((300_000 // small, 100)) / 5
    sums("dense 300 000 x 100", X, X.nbytes)
    for width in (10_000, 100_000):
        count = 10**6 // small
        columns = np.sort(generator.integers(0, width, size=(count, 50)), axis=1)
        ends = np.arange(0, 50 * count + 1, 50)
        entries = generator.standard_normal(50 * count) / 5
        S = sparse.csr_array(
            (entries, columns.ravel().astype(np.int32), ends.astype(np.int32)), (count, width)
        )
        S.sum_duplicates()
        size = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
        sums(f"sparse 10^6 rows x 50 of {width:,}", S, size)


if __name__ == "__main__":
    main()
