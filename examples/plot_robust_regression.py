"""
Gross errors
============

A twentieth of the targets were typed with a digit too many. Huber's loss clips what they can do, to the line and to the noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet.linear_model import HuberRegressor, Ridge

generator = np.random.default_rng(0)
x = generator.uniform(-1, 1, 8_000)
y = 2 * x + generator.normal(0, 0.3, 8_000)
wrong = generator.random(8_000) < 0.05
y[wrong] *= 10
y = np.clip(y, -20, 20)

figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(x[::8], y[::8], ".", color="#c8ced2", markersize=3)
grid = np.linspace(-1, 1, 2)[:, None]
for model in (
    Ridge(epsilon=1.0, delta=1e-7, data_norm=1.0, target_range=(-20, 20)),
    HuberRegressor(epsilon=1.0, delta=1e-7, data_norm=1.0, target_range=(-20, 20), threshold=0.5),
):
    model.fit(x[:, None], y)
    axes.plot(grid[:, 0], model.predict(grid), label=type(model).__name__, linewidth=2)
axes.plot(grid[:, 0], 2 * grid[:, 0], "--", color="black", label="truth")
axes.set_ylim(-6, 6)
axes.legend()
figure.tight_layout()
