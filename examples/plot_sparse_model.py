"""
Six columns of a thousand
=========================

A model of all columns carries the noise of all columns. A sparse one chooses first, privately, and learns from the chosen ones alone, in one release and one charge.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet import LinearClassifier
from discreet.linear_model import FrankWolfeClassifier, SparseClassifier

generator = np.random.default_rng(0)
X = generator.uniform(-1, 1, (6_000, 1000))
y = X[:, :6] @ [2, -2, 2, -2, 2, -2] + generator.normal(0, 0.3, 6_000) > 0
common = {"epsilon": 1.0, "delta": 1e-6, "classes": [False, True]}
models = {
    "all columns": LinearClassifier(data_norm=np.sqrt(1000 / 3), **common),
    "SparseClassifier": SparseClassifier(entry_bound=1.0, n_features_to_select=6, **common),
    "FrankWolfeClassifier": FrankWolfeClassifier(entry_bound=1.0, **common),
}
accuracy = {name: model.fit(X[:5000], y[:5000]).score(X[5000:], y[5000:])
            for name, model in models.items()}

figure, axes = plt.subplots(figsize=(6, 3.5))
axes.bar(list(accuracy), list(accuracy.values()), color="#0b7a75")
axes.axhline(0.5, color="grey", linestyle="--")
axes.set_ylim(0.4, 1)
axes.set_ylabel("accuracy at epsilon 1")
figure.tight_layout()
