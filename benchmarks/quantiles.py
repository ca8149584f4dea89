"""How far off private quartiles are on skewed values, and how long a release takes."""

from __future__ import annotations

import time
import warnings

import numpy as np

from discreet import (
    Bounds,
    Budget,
    ColumnQuantiles,
    ExponentialSampling,
    LaplaceSum,
    Rows,
    VectorMean,
    rehearse,
    release,
)
from discreet.geometry import Box

BOUNDS = Bounds(Box([0.0], [100.0]), 1)
LEVELS = (0.25, 0.5, 0.75)
DRAWS = 2000


def error_of_quantile(values, q, budget, unit):
    """Return the mean absolute error of a private quantile."""
    rows = Rows(values, bounds=BOUNDS, unit=unit)
    question = ColumnQuantiles(BOUNDS, q)
    drawn = rehearse(ExponentialSampling(), question, rows, budget=budget, draws=DRAWS)
    return np.abs(drawn - np.quantile(values, q)).mean()


def error_of_mean(values, budget, unit):
    """Return the mean absolute error of the mean with Laplace noise."""
    rows = Rows(values, bounds=BOUNDS, unit=unit)
    drawn = rehearse(LaplaceSum(), VectorMean(BOUNDS), rows, budget=budget, draws=DRAWS)
    return np.abs(drawn - np.clip(values, 0, 100).mean()).mean()


def seconds_of_release(count):
    """Return how long one release takes."""
    values = np.random.default_rng(0).lognormal(size=(count, 1))
    start = time.perf_counter()
    release(
        ExponentialSampling(),
        ColumnQuantiles(BOUNDS),
        Rows(values, bounds=BOUNDS),
        budget=Budget(1.0),
    )
    return time.perf_counter() - start


def main():
    warnings.simplefilter("ignore")
    columns = ("quartile", "median", "upper", "mean")
    print("unit        epsilon      n " + " ".join(f"{name:>9}" for name in columns))
    for unit in ("add_remove", "replace"):
        for epsilon in (0.1, 1.0):
            for count in (100, 1000, 10_000):
                values = np.random.default_rng(count).lognormal(size=(count, 1))
                budget = Budget(epsilon)
                errors = [error_of_quantile(values, q, budget, unit) for q in LEVELS]
                errors.append(error_of_mean(values, budget, unit))
                numbers = " ".join(f"{error:>9.4f}" for error in errors)
                print(f"{unit:<11} {epsilon:>7} {count:>6} {numbers}")
    print(f"a release from a million rows: {seconds_of_release(10**6):.2f} s")


if __name__ == "__main__":
    main()
