"""
Chaudhuri and Monteleoni (2008), figure 1
=========================================

Noise on the minimiser, or noise in the objective? Test error of logistic regression against epsilon, for points of the unit sphere with a margin. Pure epsilon, one record replaced. ``python -m reproductions perturbation`` has the whole study.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.linear_model import LogisticRegression

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(0)
X = generator.normal(size=(30_000, 5))
X /= np.linalg.norm(X, axis=1, keepdims=True)
X = X[np.abs(X[:, 0]) > 0.03][:24_000]
y = X[:, 0] > 0
train, test = slice(0, 14_000), slice(14_000, None)

epsilons, runs = [0.01, 0.02, 0.05, 0.1, 0.3, 1.0], 5
figure, axes = plt.subplots(figsize=(7, 4))
for mechanism in ("output_perturbation", "objective_perturbation"):
    errors = [
        [
            1 - LogisticRegression(epsilon=epsilon, delta=0.0, data_norm=1.0, unit="replace", C=1 / 140,
                                   fit_intercept=False, classes=[False, True], mechanism=mechanism,
                                   rehearsal=seed).fit(X[train], y[train]).score(X[test], y[test])
            for seed in range(runs)
        ]
        for epsilon in epsilons
    ]  # fmt: skip
    axes.errorbar(epsilons, np.mean(errors, axis=1), np.std(errors, axis=1), marker="o", capsize=3,
                  label=mechanism.replace("_", " "))  # fmt: skip
axes.set_xscale("log")
axes.set_xlabel("epsilon")
axes.set_ylabel("test error")
axes.legend()
figure.tight_layout()
