"""
Ranges that are too wide
========================

Noise is made for the declared range. One that is ten times too wide costs accuracy; one that is too narrow cuts off signal. Neither may be measured from the table.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet import LinearRegressor
from discreet.errors import RehearsalWarning

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(0)
age = generator.uniform(20, 90, 3000)
pressure = 100 + 0.6 * (age - 20) + generator.normal(0, 8, 3000)

widths = [0.3, 0.5, 1, 3, 10, 30, 100]
scores = []
for width in widths:
    runs = [
        LinearRegressor(
            epsilon=0.5, delta=1e-7, columns=[(55 - 35 * width, 55 + 35 * width)],
            target_range=(80, 180), rehearsal=seed,
        )
        for seed in range(3)
    ]
    scores.append([run.fit(age[:, None], pressure).score(age[:, None], pressure) for run in runs])
figure, axes = plt.subplots(figsize=(7, 4))
axes.errorbar(widths, np.mean(scores, axis=1), np.std(scores, axis=1), marker="o")
axes.axvline(1, color="grey", linestyle="--", label="the range of the values")
axes.set_xscale("log")
axes.set_xlabel("declared range, over the true one")
axes.set_ylabel("R²")
axes.legend()
figure.tight_layout()
