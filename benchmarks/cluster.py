"""Fits on a Dask cluster of this machine: workers, and dask-ml and scikit-learn on the same rows.

Rows are made up, and in the memory of the workers before any clock starts. dask-ml's and
scikit-learn's models are not private. Each time is the best of some runs.

    python benchmarks/cluster.py --rows 400000 --columns 200
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

SEED = 7
LIMIT = 4.0


def part(number: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Make the rows of a partition, and their labels."""
    coefficients = np.random.default_rng(SEED).standard_normal(columns) / np.sqrt(columns)
    generator = np.random.default_rng([SEED, number])
    X = generator.standard_normal((rows, columns))
    return X, (X @ coefficients + 0.5 * generator.logistic(size=rows) > 0).astype(np.int64)


def made(rows: int, columns: int, partitions: int) -> tuple[Any, Any]:
    """Return rows and labels as Dask arrays that workers hold."""
    each = rows // partitions
    made_up = [dask.delayed(part, pure=True)(i, each, columns) for i in range(partitions)]
    X = [da.from_delayed(one[0], (each, columns), dtype=float) for one in made_up]
    y = [da.from_delayed(one[1], (each,), dtype=np.int64) for one in made_up]
    return dask.persist(da.concatenate(X), da.concatenate(y))


@contextmanager
def workers(count: int) -> Any:
    """Start so many workers of one thread each."""
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def best(fit: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """Return the shortest time, and the last model."""
    times, model = [], None
    for _ in range(runs):
        start = time.perf_counter()
        model = fit()
        times.append(time.perf_counter() - start)
    return min(times), model


def ours(columns: int, rows: int) -> dict[str, Callable[[], Any]]:
    """Return our models."""
    from discreet.linear_model import LinearClassifier, LogisticRegression
    from discreet.preprocessing import Numeric

    most = 2 ** int(np.ceil(np.log2(rows)))
    declared = [Numeric(-LIMIT, LIMIT)] * columns
    norm = float(np.sqrt(1.5 * columns))
    return {
        "LogisticRegression": lambda: LogisticRegression(
            data_norm=norm, classes=[0, 1], max_rows=most
        ),
        "LinearClassifier": lambda: LinearClassifier(
            columns=declared, classes=[0, 1], max_rows=most
        ),
    }


def say(name: str, seconds: float, right: float, beside: str = "") -> None:
    """Print a line."""
    print(f"{name:<42}{seconds:8.2f} s   {right:.4f} right   {beside}", flush=True)


def on_workers(count: int, arguments: argparse.Namespace, right: Callable[[Any], float]) -> dict:
    """Measure with so many workers, and return the times of our models."""
    named = f"{count} worker{'s' * (count > 1)}"
    times = {}
    with workers(count):
        X, y = made(arguments.rows, arguments.columns, arguments.partitions)
        wait([X, y])
        for name, make in ours(arguments.columns, arguments.rows).items():
            times[name], model = best(partial(_fitted, make, X, y), arguments.runs)
            say(f"{name}, {named}", times[name], right(model))
        for solver in arguments.solvers if arguments.peers else ():
            seconds, model = best(partial(_dask_ml, solver, X, y), 1)
            beside = f"ours take {min(times.values()) / seconds:.2f}x of it, at best"
            say(f"dask-ml, {solver}, {named}", seconds, right(model), beside)
    return times


def in_memory(arguments: argparse.Namespace, right: Callable[[Any], float]) -> None:
    """Measure scikit-learn on the same rows in one array."""
    from sklearn.linear_model import LogisticRegression

    each = arguments.rows // arguments.partitions
    parts = [part(i, each, arguments.columns) for i in range(arguments.partitions)]
    X, y = (np.concatenate(some) for some in zip(*parts, strict=True))
    for solver in ("lbfgs", "newton-cholesky"):
        make = partial(LogisticRegression, solver=solver)
        seconds, model = best(partial(_fitted, make, X, y), arguments.runs)
        say(f"scikit-learn, {solver}, in memory", seconds, right(model))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="dask-ml and scikit-learn as well")
    parser.add_argument("--solvers", nargs="*", default=["lbfgs", "newton", "admm"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X_test, y_test = part(arguments.partitions, 50_000, arguments.columns)

    def right(model: Any) -> float:
        return float(np.mean(np.asarray(model.predict(X_test)) == y_test))

    one, two = (on_workers(count, arguments, right) for count in (1, 2))
    for name in one:
        print(f"{name}: two workers are {one[name] / two[name]:.2f}x as fast as one")
    if arguments.peers:
        in_memory(arguments, right)


def _fitted(make: Callable[[], Any], X: Any, y: Any) -> Any:
    return make().fit(X, y)


def _dask_ml(solver: str, X: Any, y: Any) -> Any:
    from dask_ml.linear_model import LogisticRegression

    return LogisticRegression(solver=solver, data_norm=1.0).fit(X, y)


if __name__ == "__main__":
    main()
