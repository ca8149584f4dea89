"""
How good is it? A private ROC curve
===================================

Scores on private rows are released with noise, and their intervals account for it. One noisy histogram serves the area, the curve and all other scores.
"""

import matplotlib.pyplot as plt

from discreet import LinearClassifier
from discreet.datasets import hospital
from discreet.metrics import private_score

table = hospital(patients=20_000)
train, test = slice(0, 14_000), slice(14_000, None)
model = LinearClassifier(epsilon=1.0, delta=1e-6, columns=list(table.columns.values()), classes=[False, True])
model.fit(table.X[train], table.y[train])
scores = private_score(model, table.X[test], table.y[test],
                       metrics=("accuracy", "roc_auc"), epsilon=0.5, expected_rows=6_000)
print(scores["roc_auc"].value, scores["roc_auc"].interval(0.95))

figure, axes = plt.subplots(figsize=(5, 5))
scores.plot_roc(axes=axes)
figure.tight_layout()
