"""
Choosing columns privately
==========================

How often peeling finds the three columns that matter, among 500, against the number of rows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet.errors import RehearsalWarning
from discreet.feature_selection import PeelingSupport

warnings.simplefilter("ignore", RehearsalWarning)
sizes, runs = [100, 200, 400, 800, 1600], 6
figure, axes = plt.subplots(figsize=(7, 4))
for epsilon in (0.3, 1.0, 3.0):
    found = []
    for rows in sizes:
        hits = 0
        for seed in range(runs):
            generator = np.random.default_rng(seed)
            X = generator.choice([-1.0, 1.0], (rows, 500))
            y = X[:, :3] @ [1, -1, 1] + generator.normal(0, 0.5, rows)
            selector = PeelingSupport(3, epsilon=epsilon, delta=1e-6, entry_bound=1.0,
                                      target_range=(-4, 4), center=False, rehearsal=seed)
            hits += sorted(selector.fit(X, y).selected_) == [0, 1, 2]
        found.append(hits / runs)
    axes.plot(sizes, found, marker="o", label=f"epsilon = {epsilon:g}")
axes.set_xscale("log")
axes.set_xlabel("rows")
axes.set_ylabel("all three columns found")
axes.legend()
figure.tight_layout()
