"""
Thakurta's thesis (2013), chapter 6: support recovery
=====================================================

How many rows does it take to find all columns that matter, and no others? Three columns of 400, epsilon 1 and delta 1e-6. Peeling always answers; the margins of a LASSO and votes of blocks may say "no stable answer", and are then
counted as not found. The stability test as the thesis prints it could not pass with fewer than 12,305 rows, and is not private either.
``python -m reproductions support_recovery`` has more columns and more runs.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.feature_selection import BlockVoteSupport, LassoStability, PeelingSupport

warnings.simplefilter("ignore", RehearsalWarning)
budget = {"epsilon": 1.0, "delta": 1e-6, "target_range": (-7.2, 7.2)}
methods = {
    "peeling": lambda rows: PeelingSupport(3, entry_bound=1.0, center=False, **budget),
    "margins of a LASSO": lambda rows: LassoStability(
        3, entry_bound=1.0, expected_rows=rows, fit_intercept=False, **budget
    ),
    "votes of blocks": lambda rows: BlockVoteSupport(3, vote="support", **budget),
}


def finds(method, rows, seed):
    """Draw random signs, of which three columns make the target, and choose."""
    generator = np.random.default_rng(seed)
    X = generator.choice([-1.0, 1.0], (rows, 400))
    y = X[:, :3] @ [1, -1, 1] + generator.normal(0, 0.5, rows)
    selector = methods[method](rows).set_params(rehearsal=seed)
    return sorted(selector.fit(X, y).selected_) == [0, 1, 2]


sizes, runs = [250, 500, 1000, 2000, 4000], 3
figure, axes = plt.subplots(figsize=(7, 4))
for method, marker in zip(methods, "os^", strict=True):
    shares = [np.mean([finds(method, rows, seed) for seed in range(runs)]) for rows in sizes]
    axes.plot(sizes, shares, marker=marker, label=method)
axes.axvline(12_305, color="grey", linestyle="--", label="the printed test, at the earliest")
axes.set_xscale("log")
axes.set_xticks([250, 1000, 4000, 12_305], ["250", "1,000", "4,000", "12,305"])
axes.minorticks_off()
axes.set_xlabel("rows")
axes.set_ylabel("all three columns found, and no others")
axes.legend()
figure.tight_layout()
