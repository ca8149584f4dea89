"""Accuracy, AUC and log loss of peers on the tables of ``utility.py``, each tuned on the test part.

``make peers-utility``. diffprivlib (pure epsilon, replace one), noisy gradients by the optimiser of
Opacus (its own account, delta = 1e-9, add or remove one) and scikit-learn without privacy learn the
same matrices: rows of norm at most one, with a constant. Every setting is fitted once; for each
score the two best by the test part are fitted again and again, and the better mean is written to
``utility.json``. Each score has a setting of its own, which is generous. Makes an environment of
its own (``.venv-utility`` beside this file) and runs itself there. Cells are kept in
``../output/peers.jsonl``: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import own_environment

HERE = Path(__file__).parent
FOLDER = HERE / ".venv-utility"
RESULTS = HERE / "utility.json"
REQUIREMENTS = [
    "diffprivlib==0.6.6", "scikit-learn==1.7.2", "opacus==1.6.0", "torch", "pandas>=2.2",
    "pyarrow>=15", str(HERE.parents[1]),
]  # fmt: skip
DELTA = 1e-9
AGAIN = 2

Scorer = Callable[[Any], Any]
"""Turns margins of the test rows into scores."""

PENALTIES = [{"C": C} for C in (0.001, 0.01, 0.1, 1.0, 10.0)]
WEAK_PENALTIES = [{"C": C} for C in (1.0, 100.0, 10_000.0)]
DESCENTS = [
    {"rate": rate, "steps": steps, "speed": speed, "clip": clip}
    for rate, steps, pairs in (
        (1.0, 40, ((1, 0.3), (16, 1.0), (64, 0.3), (64, 1.0))),
        (0.05, 400, ((1, 1.0), (4, 0.3), (16, 0.3), (16, 1.0), (64, 0.3), (64, 1.0), (256, 1.0))),
    )
    for speed, clip in pairs
]
"""Most of them the best of 32 on the test part of four tables, in single fits."""


def fit_sklearn(X: Any, y: Any, epsilon: float, seed: int, *, C: float) -> Any:
    """Return the coefficients of logistic regression without privacy."""
    from sklearn.linear_model import LogisticRegression

    solver = "newton-cholesky" if X.shape[1] <= 1000 else "lbfgs"
    model = LogisticRegression(C=C, fit_intercept=False, solver=solver, max_iter=1000)
    return model.fit(X, y).coef_.ravel()


def fit_diffprivlib(X: Any, y: Any, epsilon: float, seed: int, *, C: float) -> Any:
    """Return the coefficients of diffprivlib, whose intercept is left out: its proof needs that."""
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(
        epsilon=epsilon, data_norm=1.0, C=C, fit_intercept=False, max_iter=1000, random_state=seed
    )
    return model.fit(X, y).coef_.ravel()


def fit_opacus(
    X: Any, y: Any, epsilon: float, seed: int, *, rate: float, steps: int, speed: float, clip: float
) -> Any:
    """Return the last point of noisy gradients: Poisson batches of a share ``rate`` of the rows.

    Clipping, noise and steps are those of Opacus; gradients of single rows are written out, which
    gives the same point as its hooks do in half the time.
    """
    import torch
    from opacus.optimizers import DPOptimizer

    torch.manual_seed(seed)
    point = torch.nn.Parameter(torch.zeros(X.shape[1]))
    optimiser = DPOptimizer(
        torch.optim.SGD([point], lr=speed),
        noise_multiplier=_opacus_noise(epsilon, rate, steps),
        max_grad_norm=clip,
        expected_batch_size=max(1, round(rate * len(X))),
    )
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    for _ in range(steps):
        chosen = slice(None) if rate == 1 else torch.rand(len(X)) < rate
        rows, labels = X[chosen], y[chosen]
        with torch.no_grad():
            point.grad_sample = rows * (torch.sigmoid(rows @ point) - labels)[:, None]
        optimiser.step()
        optimiser.zero_grad()
    return point.detach().numpy()


@functools.cache
def _opacus_noise(epsilon: float, rate: float, steps: int) -> float:
    from opacus.accountants.utils import get_noise_multiplier

    return get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=DELTA,
        sample_rate=rate,
        steps=steps,
        accountant="prv",
        epsilon_tolerance=0.01 * epsilon,
    )


PEERS = {
    "scikit-learn": (fit_sklearn, WEAK_PENALTIES),
    "diffprivlib": (fit_diffprivlib, PENALTIES),
    "Opacus": (fit_opacus, DESCENTS),
}


def tune(peer: str, name: str, epsilon: float, table: Any, cells: Any, fits: int) -> list[Any]:
    """Return, for each score, its mean over fits, the error, and the setting it is best with."""
    import numpy as np
    from cells import Cell, Measured
    from probability_scores import score_chances
    from scipy.special import expit

    fit, settings = PEERS[peer]
    X, y = table.X[table.train], table.y[table.train]
    test, truth = table.X[table.test], table.y[table.test]

    def scores(setting: dict[str, float], count: int) -> np.ndarray:
        def once(seed: int) -> tuple[float, ...]:
            chance = expit(test @ fit(X, y, epsilon, seed, **setting))
            both = np.column_stack([1 - chance, chance])
            return score_chances(np.array([False, True]), both, truth)[:3]

        said = " ".join(f"{key} {value:g}" for key, value in setting.items())
        return cells.fill(Cell(name, peer, epsilon, said), count, once) * (1, 1, -1)

    first = np.array([scores(setting, 1)[0] for setting in settings])
    fits = fits if math.isfinite(epsilon) else 1
    best = []
    for score, column in enumerate(first.T):
        tried = []
        for place in np.argsort(-column)[:AGAIN]:
            values = scores(settings[place], fits)[:, score] * (1, 1, -1)[score]
            tried.append((*Measured.of(values), settings[place]))
        best.append((min if score == 2 else max)(tried, key=lambda found: found[0]))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--only", nargs="*", help="some of the tables")
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--fits", type=int, default=4)
    options = parser.parse_args()
    if not own_environment.is_inside(FOLDER) and not _has_peers():
        own_environment.make(FOLDER, REQUIREMENTS)
        own_environment.enter(FOLDER, Path(__file__), sys.argv[1:])
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE.parent))
    import torch
    from cells import OUTPUT, Cells, write_lines

    import tables

    torch.set_num_threads(1)
    cells = Cells(OUTPUT / "peers.jsonl")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.only or tables.CLASSES:
        if not (options.data / name).is_dir():
            continue
        table = tables.matrix(tables.capped_classes(options.data / name), centred=True)
        results.setdefault(name, {})["rows, columns"] = [len(table.train), table.X.shape[1] - 1]
        for peer in options.peers:
            epsilons = [math.inf] if peer == "scikit-learn" else tables.EPSILONS
            results[name][peer] = [
                [(round(mean, 5), round(error, 5), setting) for mean, error, setting in
                 tune(peer, name, epsilon, table, cells, options.fits)]
                for epsilon in epsilons
            ]  # fmt: skip
            print(name, peer, *(f"{cell[1][0]:.4f}" for cell in results[name][peer]), flush=True)
        write_lines(RESULTS, dict(sorted(results.items())))


def _has_peers() -> bool:
    found = {str(one.metadata["Name"]).lower() for one in metadata.distributions()}
    return {"opacus", "diffprivlib"} <= found


if __name__ == "__main__":
    main()
