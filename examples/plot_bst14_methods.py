"""
Bassily, Smith and Thakurta (2014), table I
===========================================

Several methods for the same problem, a logistic regression in a ball: excess of the objective over its minimum, against the number of rows. ``python -m reproductions lower_bound`` has the instances of the lower bounds.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.linear_model import LogisticRegression

warnings.simplefilter("ignore")
generator = np.random.default_rng(0)
X = generator.normal(size=(40_000, 5))
X /= np.linalg.norm(X, axis=1, keepdims=True)
y = generator.random(40_000) < 1 / (1 + np.exp(-4 * X[:, 0]))
signs = np.where(y, 1.0, -1.0)


def objective(model, rows):
    losses = np.logaddexp(0, -signs[:rows] * model.decision_function(X[:rows]))
    return np.mean(losses) + np.sum(model.coef_**2) / (2 * common["C"] * rows)


sizes, runs = [500, 2_000, 8_000, 32_000], 4
common = {"data_norm": 1.0, "fit_intercept": False, "classes": [False, True], "unit": "replace"}
figure, axes = plt.subplots(figsize=(7, 4))
for mechanism in ("output_perturbation", "objective_perturbation", "noisy_gradient"):
    excess = []
    for rows in sizes:
        common["C"] = 10 / np.sqrt(rows)
        best = LogisticRegression(epsilon=np.inf, **common).fit(X[:rows], y[:rows])
        found = [
            LogisticRegression(epsilon=1.0, delta=1e-6, mechanism=mechanism, rehearsal=seed, **common)
            .fit(X[:rows], y[:rows])
            for seed in range(runs)
        ]  # fmt: skip
        excess.append(np.mean([objective(model, rows) for model in found]) - objective(best, rows))
    axes.plot(sizes, excess, marker="o", label=mechanism.replace("_", " "))
axes.set_xscale("log")
axes.set_yscale("log")
axes.set_xlabel("rows")
axes.set_ylabel("excess of the objective")
axes.legend()
figure.tight_layout()
