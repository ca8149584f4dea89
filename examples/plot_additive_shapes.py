"""
A curve for each column
=======================

An additive model learns one curve for each column, privately and within one budget. Beneath each curve stands the noisy
marginal of its column; where that has no data the ground is shaded. Everything drawn was released.
"""

import numpy as np
import pandas as pd

from discreet import AdditiveClassifier

generator = np.random.default_rng(0)
count = 30_000
patients = pd.DataFrame({
    "age": generator.uniform(18, 95, count),
    "stay": generator.exponential(6, count),
    "ward": generator.choice(["surgery", "medicine", "eyes"], count, p=[0.5, 0.4, 0.1]),
})
risk = abs(patients["age"] - 50) / 10 + np.log1p(patients["stay"]) + 1.5 * (patients["ward"] == "medicine")
back = generator.random(count) < 1 / (1 + np.exp(5 - risk))

model = AdditiveClassifier(
    epsilon=1.0,
    delta=1e-6,
    columns={"age": (18, 100), "stay": (0, 90), "ward": ["surgery", "medicine", "eyes"]},
    classes=[False, True],
    bands=True,
    monotone={"stay": "increasing"},
).fit(patients, back)

model.plot_shapes()

# %%
# How far each column moves a patient, typically:

model.plot_importance()
