"""
Where a line is not enough
==========================

Points inside and outside of a circle: a linear model is at a loss, random Fourier features and public landmarks are not. All models have the same budget.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet import LinearClassifier
from discreet.kernel import FourierClassifier, LandmarkClassifier
from discreet.kernels import RBF

generator = np.random.default_rng(0)
X = generator.uniform(-1, 1, (6_000, 2))
y = (X**2).sum(axis=1) < 0.5
common = {"epsilon": 1.0, "delta": 1e-6, "columns": [(-1, 1)] * 2, "classes": [False, True]}
models = {
    "linear": LinearClassifier(**common),
    "Fourier features": FourierClassifier(gamma=2.0, n_components=50, **common),
    "30 public landmarks": LandmarkClassifier(landmarks=30, kernel=RBF(2.0), **common),
}

grid = np.linspace(-1, 1, 60)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
for axes, (name, model) in zip(panels, models.items(), strict=True):
    chance = model.fit(X, y).predict_proba(points)[:, 1].reshape(60, 60)
    axes.contourf(grid, grid, chance, levels=np.linspace(0, 1, 11), cmap="BrBG")
    axes.add_patch(plt.Circle((0, 0), 0.5**0.5, fill=False, linestyle="--"))
    axes.set_title(f"{name}: {model.score(X, y):.0%}")
    axes.set_aspect("equal")
figure.tight_layout()
