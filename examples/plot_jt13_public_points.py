"""
Jain and Thakurta (2013), figure 2
==================================

Public points make a kernel model publishable. Left, a polynomial kernel of degree three seen from 60 public points, against a line: accuracy by epsilon. Right, a linear regression in 300 columns: the gamma noise of pure epsilon grows with
the number of columns, and seen from 40 public points the noise does not feel them. Gaussian noise in all columns does as well on these rows, since only noise along the rows counts; the paper had not compared with it.

The paper used covtype and KDD Cup 2010. Here both tables are made up and small, the loss is smooth, and noise is added to the objective and not to predictions. ``python -m reproductions public_points`` runs on covtype and on a table like the other one.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet import LinearClassifier, LinearRegressor
from discreet.errors import RehearsalWarning
from discreet.kernel import LandmarkClassifier, LandmarkRegressor
from discreet.kernels import Linear, Polynomial

warnings.simplefilter("ignore", RehearsalWarning)
generator = np.random.default_rng(0)
epsilons, runs = [0.1, 0.3, 1.0, 3.0], 2
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))

# %%
# Classes that a cubic separates, and a line only in part.
X = generator.uniform(-1, 1, (9_000, 4))
y = X[:, 0] ** 3 - X[:, 1] * X[:, 2] + 0.3 * X[:, 3] + generator.normal(0, 0.05, 9_000) > 0
train, test, public = slice(0, 6_000), slice(6_000, 8_940), slice(8_940, None)
common = {"delta": 1e-6, "columns": [(-1, 1)] * 4, "classes": [False, True]}
models = {
    "polynomial kernel": LandmarkClassifier(landmarks=X[public], kernel=Polynomial(3, 0.25, 1.0), **common),
    "line": LinearClassifier(**common),
}
for name, model in models.items():
    right_answers = [
        np.mean([
            model.set_params(epsilon=epsilon, rehearsal=seed).fit(X[train], y[train]).score(X[test], y[test])
            for seed in range(runs)
        ])
        for epsilon in epsilons
    ]  # fmt: skip
    left.plot(epsilons, right_answers, marker="o", label=name)
left.set_xscale("log")
left.set_xlabel("epsilon")
left.set_ylabel("accuracy on other rows")
left.set_title("a polynomial kernel")
left.legend()

# %%
# Rows that lie near ten directions of 300, as rows of many columns often do.
hidden = generator.normal(size=(10, 300))
Z = generator.normal(size=(4_500, 10)) @ hidden
Z /= np.linalg.norm(Z, axis=1, keepdims=True)
target = np.clip(0.5 + 0.3 * (Z @ hidden[0]) / np.std(Z @ hidden[0]) + generator.normal(0, 0.05, 4_500), 0, 1)
train, test, public = slice(0, 3_000), slice(3_000, 4_460), slice(4_460, None)
common = {"target_range": (0.0, 1.0), "mechanism": "objective_perturbation", "max_rows": 2**16, "threshold": 1.0}
models = {
    "40 public points": (LandmarkRegressor, {"landmarks": Z[public], "kernel": Linear(), "delta": 1e-6}),
    "all columns, gamma noise": (LinearRegressor, {"delta": 0.0}),
    "all columns, Gaussian noise": (LinearRegressor, {"delta": 1e-6}),
}
for name, (kind, more) in models.items():
    errors = []
    for epsilon in epsilons:
        fits = [
            kind(epsilon=epsilon, data_norm=1.0, rehearsal=seed, **common, **more).fit(Z[train], target[train])
            for seed in range(runs)
        ]
        errors.append(np.mean([np.sqrt(np.mean((fit.predict(Z[test]) - target[test]) ** 2)) for fit in fits]))
    right.plot(epsilons, errors, marker="o", label=name)
right.axhline(np.std(target[test]), color="grey", linestyle="--", label="the mean, always")
right.set_xscale("log")
right.set_yscale("log")
right.set_xlabel("epsilon")
right.set_ylabel("root mean squared error")
right.set_title("regression in 300 columns")
right.legend(fontsize=8)
figure.tight_layout()
