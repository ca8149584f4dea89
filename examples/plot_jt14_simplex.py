"""
Jain and Thakurta (2014), figure 1(d)
=====================================

Weights on a simplex, as for an average of models, are drawn one entry at a time from an entropic minimiser: the noise hardly depends on the number of columns.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.linear_model import SimplexRegression

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(7, 4))
widths = [10, 30, 100, 300]
for epsilon in (1.0, 10.0):
    errors = []
    for width in widths:
        X = generator.uniform(0, 1, (5_000, width))
        y = 0.7 * X[:, 0] + 0.3 * X[:, 1]
        model = SimplexRegression(epsilon=epsilon, delta=1e-6, data_norm=1.0, target_range=(0, 1), rehearsal=0)
        errors.append(np.mean((model.fit(X, y).predict(X) - y) ** 2) ** 0.5)
    axes.plot(widths, errors, marker="o", label=f"epsilon = {epsilon:g}")
axes.set_xscale("log")
axes.set_xlabel("columns")
axes.set_ylabel("root mean squared error")
axes.legend()
figure.tight_layout()
