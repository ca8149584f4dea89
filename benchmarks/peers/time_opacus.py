"""Time noisy gradients against Opacus and a bare NumPy loop, on one core, in turns.

Makes an environment of its own (``.venv-opacus`` beside this file), with torch and Opacus, and
runs itself there, on the CPU. All fit the same logistic regression, with Poisson batches of the
same mean size and the same number of steps; Opacus gets the noise that its own accountant finds
for the budget of ours, the bare loop no more than NumPy's normal numbers. What is timed is a fit
from arrays in memory, in seconds of the processor: plans, accountants and tensors are made before.
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
REQUIREMENTS = ["opacus==1.6.0", "torch", str(HERE.parents[1])]
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
    from discreet.questions.problem import Problem

    bounds = Bounds(L2Ball(1.0), X.shape[1], labels=LabelSet([-1, 1]), max_rows=2**20)
    problem = Problem(Logistic(), bounds, ridge=1.0)
    mechanism = NoisyGradient(steps, BATCH / len(X), "lipschitz", expected_rows=len(X))
    budget = Budget(EPSILON, DELTA)

    def fit() -> object:
        rows = Rows(X, y, bounds=bounds)
        return rehearse(mechanism, problem, rows, budget=budget, draws=1)

    return fit


def bare(X, y, steps: int, noise: float) -> Callable[[], object]:
    """Return the same loop with NumPy alone: floats, no clipping, no account."""
    import numpy as np

    def fit() -> object:
        generator = np.random.default_rng(1)
        rate, point = BATCH / len(X), np.zeros(X.shape[1])
        for _ in range(steps):
            chosen = np.flatnonzero(generator.random(len(X)) < rate)
            rows, labels = X[chosen], y[chosen]
            slopes = -labels / (1 + np.exp(labels * (rows @ point)))
            total = rows.T @ slopes + noise * generator.standard_normal(point.size)
            point -= 0.5 / BATCH * total
        return point

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


def their_noise(steps: int) -> float:
    """Return the multiplier of Opacus for the budget of ours."""
    from opacus.accountants.utils import get_noise_multiplier

    return get_noise_multiplier(
        target_epsilon=EPSILON, target_delta=DELTA, sample_rate=BATCH / ROWS, steps=steps
    )


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


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
    noise = their_noise(options.steps)
    peers = fit, theirs(X, y, options.steps, noise), bare(X, y, options.steps, noise)
    times = [[seconds(one) for one in peers] for _ in range(options.rounds)]
    mine, other, loop = (statistics.median(part) for part in zip(*times, strict=True))
    print(f"  ours {mine:.2f} s; Opacus, noise {noise:.2f}, {other:.2f} s: {other / mine:.1f}x, "
          f"goal 20x; bare loop {loop:.2f} s: {mine / loop:.2f}x, goal 2x")  # fmt: skip


def _installed() -> set[str]:
    from importlib import metadata

    return {str(one.metadata["Name"]).lower() for one in metadata.distributions()}


if __name__ == "__main__":
    main()
