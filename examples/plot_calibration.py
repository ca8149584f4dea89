"""
Probabilities that can be believed
==================================

A reliability diagram from the same private histogram: of those who were said to come back with a chance of 30 %, how many did?
"""

import matplotlib.pyplot as plt

from discreet import LinearClassifier
from discreet.datasets import hospital
from discreet.metrics import private_score

table = hospital(patients=20_000, seed=3)
train, test = slice(0, 14_000), slice(14_000, None)
model = LinearClassifier(epsilon=1.0, delta=1e-6, columns=list(table.columns.values()), classes=[False, True])
model.fit(table.X[train], table.y[train])
scores = private_score(model, table.X[test], table.y[test],
                       metrics=("roc_auc", "log_loss"), epsilon=1.0, expected_rows=6_000)
figure, axes = plt.subplots(figsize=(5, 5))
scores.plot_calibration(axes=axes)
figure.tight_layout()
