"""Compare private quartiles with those of OpenDP on skewed values, from the same candidates.

Makes an environment of its own (``.venv-opendp`` beside this file) and runs itself there. Both draw
by an exponential mechanism at pure epsilon under add/remove, OpenDP with the smallest scale that
its own search finds for epsilon. What is printed is the mean absolute error over many draws, and
the error of the mean with Laplace noise, at the same epsilon, as an estimate of the mean.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import own_environment

HERE = Path(__file__).parent
FOLDER = HERE / ".venv-opendp"
REQUIREMENTS = ["opendp==0.16.0", str(HERE.parents[1])]
STEPS, LARGEST = 2**12, 100.0
LEVELS = (0.25, 0.5, 0.75)


def theirs(level: float, epsilon: float, steps: int) -> Callable[[Any], float]:
    """Return OpenDP's measurement of a quantile."""
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    candidates = np.linspace(0, LARGEST, steps + 1).tolist()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))

    def make(scale: float) -> Any:
        return dp.m.make_private_quantile(
            domain, dp.symmetric_distance(), dp.max_divergence(), candidates, level, scale
        )

    measured = dp.binary_search_chain(make, d_in=1, d_out=epsilon, bounds=(1e-3, 1e6))
    return lambda values: measured(values.tolist())


def ours(values: Any, level: float, epsilon: float, draws: int, steps: int) -> Any:
    """Return private quantiles of this library."""
    from discreet import Bounds, Budget, ColumnQuantiles, ExponentialSampling, Rows, rehearse
    from discreet.geometry import Box

    bounds = Bounds(Box([0.0], [LARGEST]), 1)
    rows = Rows(values[:, None], bounds=bounds, unit="add_remove")
    question = ColumnQuantiles(bounds, level, steps=steps)
    return rehearse(ExponentialSampling(), question, rows, budget=Budget(epsilon), draws=draws)


def noisy_mean(values: Any, epsilon: float, draws: int) -> Any:
    """Return means with Laplace noise."""
    from discreet import Bounds, Budget, LaplaceSum, Rows, VectorMean, rehearse
    from discreet.geometry import Box

    bounds = Bounds(Box([0.0], [LARGEST]), 1)
    rows = Rows(values[:, None], bounds=bounds, unit="add_remove")
    return rehearse(LaplaceSum(), VectorMean(bounds), rows, budget=Budget(epsilon), draws=draws)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--steps", type=int, default=STEPS, help="candidates, less one")
    options = parser.parse_args()
    if not own_environment.is_inside(FOLDER):
        own_environment.make(FOLDER, REQUIREMENTS)
        own_environment.enter(FOLDER, Path(__file__), sys.argv[1:])
    import numpy as np

    warnings.simplefilter("ignore")
    print(f"epsilon      n  ours / OpenDP at {LEVELS}, and a Laplace mean; {options.draws} draws")
    for epsilon in (0.1, 1.0):
        for count in (100, 1000, 10_000):
            values = np.random.default_rng(count).lognormal(size=count)
            cells = []
            for level in LEVELS:
                truth, peer = np.quantile(values, level), theirs(level, epsilon, options.steps)
                drawn = np.array([peer(values) for _ in range(options.draws)])
                own = ours(values, level, epsilon, options.draws, options.steps)
                own = np.abs(own - truth).mean()
                cells.append(f"{own:8.4f} / {np.abs(drawn - truth).mean():8.4f}")
            mean = np.abs(noisy_mean(values, epsilon, options.draws) - values.mean()).mean()
            print(f"{epsilon:>7} {count:>6}  {'  '.join(cells)}  {mean:8.4f}", flush=True)


if __name__ == "__main__":
    main()
