"""Many runs of what is audited, reproducible and in parallel.

Monte-Carlo trials with seeds of their own, spread over processes by joblib.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from discreet._progress import Progress
from discreet.audit.scores.base import Matrix
from discreet.audit.statistical.outputs import check_fresh, matrix_of, numbers_of, rows_of
from discreet.audit.statistical.pair import Pair
from discreet.errors import AuditError
from discreet.noise import RehearsalNoise, SystemNoise

_SEEDS = 1 << 32
_CHUNKS = 16

SEED_NAMES = ("rehearsal", "random_state")
"""What estimators call their seed: this library's, and others."""


class Run(ABC):
    """Something that can be run many times on a data set."""

    takes_seed = True

    @abstractmethod
    def many(self, data: Any, seeds: range) -> Matrix:
        """Run once for each seed, and return the numbers released."""


@dataclass(frozen=True, eq=False)
class Function(Run):
    """A function of a data set, and of a ``seed`` if it has such an argument."""

    function: Callable[..., Any]

    @property
    def takes_seed(self) -> bool:  # type: ignore[override]
        try:
            return "seed" in inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return False

    def many(self, data: Any, seeds: range) -> Matrix:
        if self.takes_seed:
            return rows_of([numbers_of(self.function(data, seed=seed)) for seed in seeds])
        return rows_of([numbers_of(self.function(data)) for _ in seeds])


@dataclass(frozen=True, eq=False)
class Estimator(Run):
    """A copy of an estimator, fitted to the data; the seed is its own parameter, if it has one."""

    estimator: Any

    @property
    def takes_seed(self) -> bool:  # type: ignore[override]
        return self._seed_name is not None

    @property
    def _seed_name(self) -> str | None:
        """The parameter that makes noise repeatable; None if there is none."""
        parameters = self.estimator.get_params()
        return next((name for name in SEED_NAMES if name in parameters), None)

    def many(self, data: Any, seeds: range) -> Matrix:
        return rows_of([numbers_of(self._fit(data, seed)) for seed in seeds])

    def _fit(self, data: Any, seed: int) -> Any:
        model = copy.deepcopy(self.estimator)
        name = self._seed_name
        if name is not None:
            model.set_params(**{name: seed})
        return model.fit(*data) if isinstance(data, tuple) else model.fit(data)


@dataclass(frozen=True, eq=False)
class Vectorised(Run):
    """An object whose ``many(data, count, seed)`` makes many releases at once."""

    source: Any

    def many(self, data: Any, seeds: range) -> Matrix:
        released = self.source.many(data, len(seeds), seeds[0])
        if len(released) != len(seeds):
            raise AuditError(
                f"many() was asked for {len(seeds)} releases and returned {len(released)}."
            )
        return np.asarray(released, dtype=np.float64).reshape(len(seeds), -1)


def as_run(subject: Any) -> Run:
    """Return what runs a function, an estimator, or an object with a method ``many``."""
    if isinstance(subject, Run):
        return subject
    if hasattr(subject, "many"):
        return Vectorised(subject)
    if hasattr(subject, "fit") and hasattr(subject, "get_params"):
        return Estimator(subject)
    if callable(subject):
        return Function(subject)
    raise AuditError(
        "run must be a function of a data set, an estimator, or an object with many(data, count, "
        f"seed); got a value of type {type(subject).__name__}."
    )


def collect_outputs(
    run: Run, pair: Pair, trials: int, *, seed: int | None, n_jobs: int, verbose: int
) -> tuple[Matrix, Matrix]:
    """Run ``trials`` times on each data set."""
    noise = SystemNoise() if seed is None else RehearsalNoise(seed)
    start = int(noise.below(_SEEDS - 2 * trials, 1)[0])
    edges = np.linspace(0, trials, min(_CHUNKS, trials) + 1).astype(int).tolist()
    jobs = [
        (which, range(start + which * trials + low, start + which * trials + high))
        for which in (0, 1)
        for low, high in pairwise(edges)
    ]
    data = pair.first, pair.second
    parts: tuple[list[Matrix], list[Matrix]] = ([], [])
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_run_several)(run, which, data[which], seeds) for which, seeds in jobs
    )
    with Progress(len(jobs), "parts", is_shown=verbose > 0) as progress:
        for (which, _), values in zip(jobs, results, strict=True):
            parts[which].append(values)
            progress.step()
    first, second = matrix_of(parts[0], "first"), matrix_of(parts[1], "second")
    for several in parts:
        check_fresh(several)
    return first, second


def _run_several(run: Run, which: int, data: Any, seeds: range) -> Matrix:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run.many(data, seeds)
        except AuditError:
            raise
        except Exception as error:
            name = ("first", "second")[which]
            raise AuditError(
                f"run raised {type(error).__name__} on the {name} data set: {error}"
            ) from error
