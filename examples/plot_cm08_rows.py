"""
Chaudhuri and Monteleoni (2008), figure 2
=========================================

Learning curves of both perturbations at epsilon 0.1: with more rows the noise fades.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.linear_model import LogisticRegression

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(1)
X = generator.normal(size=(24_000, 5))
X /= np.linalg.norm(X, axis=1, keepdims=True)
y = X[:, 0] > 0
test = slice(14_000, None)

sizes, runs = [1_000, 2_000, 4_000, 8_000, 14_000], 5
figure, axes = plt.subplots(figsize=(7, 4))
for mechanism in ("output_perturbation", "objective_perturbation"):
    errors = [
        [
            1 - LogisticRegression(epsilon=0.1, delta=0.0, data_norm=1.0, unit="replace", C=100 / rows,
                                   fit_intercept=False, classes=[False, True], mechanism=mechanism,
                                   rehearsal=seed).fit(X[:rows], y[:rows]).score(X[test], y[test])
            for seed in range(runs)
        ]
        for rows in sizes
    ]  # fmt: skip
    axes.errorbar(sizes, np.mean(errors, axis=1), np.std(errors, axis=1), marker="o", capsize=3,
                  label=mechanism.replace("_", " "))  # fmt: skip
axes.set_xlabel("rows")
axes.set_ylabel("test error")
axes.legend()
figure.tight_layout()
