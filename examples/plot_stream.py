"""
Learning from a stream
======================

Records arrive one after another, and the model answers at any time. All that it will ever say was charged once, before the first record.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet import online

generator = np.random.default_rng(0)
X = generator.uniform(-1, 1, (20_000, 3))
y = np.where(X @ [3, -2, 1] + generator.logistic(size=20_000) > 0, "yes", "no")

figure, axes = plt.subplots(figsize=(7, 4))
for epsilon in (0.3, 1.0, 3.0):
    model = online.LogisticRegression(epsilon=epsilon, delta=1e-6, horizon=20_000,
                                      data_norm=np.sqrt(3), classes=["no", "yes"], unit="zero_out")
    right = []
    for start in range(0, 20_000, 500):
        block = slice(start, start + 500)
        if start:
            right.append(np.mean(model.predict(X[block]) == y[block]))  # predicted before learnt
        model.partial_fit(X[block], y[block])
    axes.plot(np.arange(500, 20_000, 500), right, label=f"epsilon = {epsilon:g}")
axes.set_xlabel("records so far")
axes.set_ylabel("accuracy on the next 500")
axes.legend()
figure.tight_layout()
