"""
Intervals for coefficients
==========================

A fit that is asked for intervals releases what standard errors are made of, within its one budget. They cover sampling and privacy noise together.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet.linear_model import LogisticRegression

generator = np.random.default_rng(0)
X = np.clip(generator.normal(size=(60_000, 4)), -3, 3)
truth = np.array([1.0, -0.5, 0.0, 0.3])
y = generator.random(60_000) < 1 / (1 + np.exp(-(X @ truth)))

model = LogisticRegression(epsilon=1.0, delta=1e-6, data_norm=6.0, classes=[False, True],
                           intervals=True).fit(X, y)
print(model.summary())

# %%
low, high = model.confidence_interval(level=0.95).T
places = np.arange(4)
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.hlines(places, low, high, linewidth=6, color="#0b7a75", label="95 % interval")
axes.plot(truth, places, "|", color="#b5482a", markersize=16, markeredgewidth=2, label="truth")
axes.axvline(0, color="grey", linewidth=0.8)
axes.set_ylim(-0.6, 3.6)
axes.set_yticks(places, [f"x{place}" for place in places])
axes.set_xlabel("coefficient")
axes.legend()
figure.tight_layout()
