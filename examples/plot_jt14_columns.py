"""
Jain and Thakurta (2014), figure 1(c)
=====================================

Columns of zeros are added to a table. Gaussian noise in the objective grows in all of them, and predictions do not suffer: what counts is the noise along the rows. Noise of the pure mechanism grows with the number of columns.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.linear_model import LogisticRegression

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(0)
core = generator.normal(size=(6_000, 9)) / 4
y = core @ np.array([2, -2, 1, 1, 0, 0, 0, 0, 0]) + generator.normal(0, 0.3, 6_000) > 0

widths = [9, 50, 200, 1_000]
figure, axes = plt.subplots(figsize=(7, 4))
for label, delta in (("Gaussian noise, delta = 0.001", 1e-3), ("pure epsilon", 0.0)):
    accuracy = []
    for width in widths:
        X = np.hstack([core, np.zeros((6_000, width - 9))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(epsilon=1.0, delta=delta, data_norm=1.0, unit="replace", C=0.1,
                                       classes=[False, True], rehearsal=0,
                                       mechanism="objective_perturbation").fit(X[:4_000], y[:4_000])
        accuracy.append(model.score(X[4_000:], y[4_000:]))
    axes.plot(widths, accuracy, marker="o", label=label)
axes.set_xscale("log")
axes.set_xlabel("columns, all but nine of them zeros")
axes.set_ylabel("test accuracy")
axes.legend()
figure.tight_layout()
