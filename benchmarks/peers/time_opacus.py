"""Time noisy gradients against Opacus on one core, in turns: the same logistic problem.

Makes an environment of its own (``.venv-opacus`` beside this file), with torch for the CPU and
Opacus, and runs itself there. Both fit a logistic regression with Poisson batches of the same mean
size,
the same number of steps and noise for the same budget; making the plan is timed by itself.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import own_environment

HERE = Path(__file__).parent
FOLDER = HERE / ".venv-opacus"
REQUIREMENTS = ["opacus==1.6.0", "torch", "--extra-index-url", "https://download.pytorch.org/whl/cpu",
                str(HERE.parents[1])]  # fmt: skip
ROWS, WIDTH, BATCH, STEPS = 50_000, 100, 1000, 1000
EPSILON, DELTA = 1.0, 1e-6


def table(rows: int, width: int) -> tuple:
    import numpy as np

    generator = np.random.default_rng(0)
    X = generator.standard_normal((rows, width))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = X @ generator.standard_normal(width) + 0.3 * generator.logistic(size=rows) > 0
    return X, np.where(y, 1.0, -1.0)


def ours(X, y, steps: int) -> Callable[[], object]:
    """Return a fit with discreet; its plan is made here."""
    from discreet import Budget, Rows, rehearse
    from discreet.data import Bounds, LabelSet
    from discreet.geometry import L2Ball
    from discreet.losses import Logistic
    from discreet.mechanisms import NoisyGradient
    from discreet.problem import Problem

    bounds = Bounds(L2Ball(1.0), X.shape[1], labels=LabelSet([-1, 1]), max_rows=2**20)
    problem = Problem(Logistic(), bounds, ridge=1.0)
    mechanism = NoisyGradient(steps, BATCH / len(X), "lipschitz", expected_rows=len(X))
    budget = Budget(EPSILON, DELTA)

    def fit() -> object:
        rows = Rows(X, y, bounds=bounds)
        return rehearse(mechanism, problem, rows, budget=budget, draws=1)

    return fit


def theirs(X, y, steps: int, noise: float) -> Callable[[], object]:
    """Return a fit with Opacus: its engine, Poisson batches, clipping at one."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(
        torch.tensor(X, dtype=torch.float32), torch.tensor(y > 0, dtype=torch.float32)
    )
    measure = torch.nn.BCEWithLogitsLoss()

    def fit() -> object:
        model = torch.nn.Linear(X.shape[1], 1, bias=False)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
        loader = DataLoader(data, batch_size=BATCH)
        model, optimiser, loader = PrivacyEngine().make_private(
            module=model, optimizer=optimiser, data_loader=loader, noise_multiplier=noise,
            max_grad_norm=1.0,
        )  # fmt: skip
        taken = 0
        while taken < steps:
            for rows, labels in loader:
                optimiser.zero_grad()
                measure(model(rows).squeeze(1), labels).backward()
                optimiser.step()
                taken += 1
                if taken == steps:
                    break
        return model

    return fit


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not own_environment.is_inside(FOLDER) and "opacus" not in _installed():
        own_environment.make(FOLDER, REQUIREMENTS)
        own_environment.enter(FOLDER, Path(__file__), sys.argv[1:])
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    X, y = table(ROWS, WIDTH)
    fit = ours(X, y, options.steps)
    print(f"{ROWS:,} x {WIDTH}, batches of {BATCH:,} on average, {options.steps:,} steps, one core")
    print(f"  first fit of ours, with its plan: {seconds(fit):.2f} s")
    peer = theirs(X, y, options.steps, noise=1.5)
    times = [(seconds(fit), seconds(peer)) for _ in range(options.rounds)]
    mine, other = (statistics.median(part) for part in zip(*times, strict=True))
    print(f"  ours {mine:.2f} s, Opacus {other:.2f} s: {other / mine:.1f}x, goal 20x")


def _installed() -> set[str]:
    from importlib import metadata

    return {str(one.metadata["Name"]).lower() for one in metadata.distributions()}


if __name__ == "__main__":
    main()
