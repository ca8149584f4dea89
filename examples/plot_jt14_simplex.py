"""
Jain and Thakurta (2014), figure 1(d)
=====================================

Weights on a simplex are drawn one entry at a time from an entropic minimiser, and columns of zeros are added to the table. The accuracy hardly depends on their number, as the paper says; here with epsilon 10 and delta 0.001, as there, on made-up rows. Each column enters twice, once with its sign changed,
so that shares of one sign can follow it. ``python -m reproductions sampled`` goes to a million columns, and compares with noise in the objective, which is better at every number.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.linear_model import SimplexRegression

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(0)
core = np.clip(generator.normal(0, 0.4, (10_000, 9)), -1, 1)
y = np.where(core @ [2, -2, 1, 1, 0, 0, 0, 0, 0] + generator.normal(0, 0.3, 10_000) > 0, 1.0, -1.0)
train, test = slice(0, 7_000), slice(7_000, None)

widths, runs = [18, 50, 150, 400], 3
figure, axes = plt.subplots(figsize=(7, 4))
for epsilon in (3.0, 10.0):
    accuracy = []
    for width in widths:
        X = np.hstack([core, -core, np.zeros((10_000, width - 18))])
        models = [
            SimplexRegression(epsilon=epsilon, delta=1e-3, entry_bound=1.0, target_range=(-1, 1), radius=2.0,
                              unit="replace", rehearsal=seed).fit(X[train], y[train])
            for seed in range(runs)
        ]  # fmt: skip
        accuracy.append([np.mean(np.sign(model.predict(X[test])) == y[test]) for model in models])
    axes.errorbar(widths, np.mean(accuracy, axis=1), np.std(accuracy, axis=1), marker="o", capsize=3,
                  label=f"epsilon = {epsilon:g}")  # fmt: skip
axes.set_xscale("log")
axes.set_xticks(widths, [f"{width:,}" for width in widths])
axes.minorticks_off()
axes.set_ylim(0.5, 1)
axes.set_xlabel("columns, all but eighteen of them zeros")
axes.set_ylabel("test accuracy")
axes.legend()
figure.tight_layout()
