"""
An oracle that answers questions
================================

A private kernel model is never published. It answers questions, any number of them, with noise that is one path of a Gaussian process: near points share their noise, and it does not grow with the number of questions. The band is twice its public deviation.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet.kernel import GaussianProcessOracle
from discreet.kernels import RBF

generator = np.random.default_rng(0)
x = generator.uniform(-1, 1, 800)
y = np.clip(np.sin(4 * x) + generator.normal(0, 0.2, 800), -1, 1)

oracle = GaussianProcessOracle(
    epsilon=2.0, delta=1e-6, kernel=RBF(8.0), columns=[(-1, 1)], target_range=(-1, 1),
    loss="huber", C=0.1, max_queries=200, max_rows=1_000,
).fit(x[:, None], y)
places = np.linspace(-1, 1, 61)
told = oracle.ask_with_status(places[:, None])
value = np.array([one.value for one in told])
scale = np.array([one.scale for one in told])

figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(x, y, ".", color="#c8ced2", markersize=3)
axes.fill_between(places, value - 2 * scale, value + 2 * scale, color="#0b7a75", alpha=0.15)
axes.plot(places, value, color="#0b7a75", label=f"{oracle.n_answers_} private answers, epsilon = 2 in all")
axes.plot(places, np.sin(4 * places), "--", color="black", label="truth")
axes.set_ylim(-2, 2)
axes.legend()
figure.tight_layout()
