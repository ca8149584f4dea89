"""
What a smaller epsilon costs
============================

Accuracy of a private classifier against epsilon, for two numbers of rows. Ten times the rows allow a tenth of the epsilon.
"""

import matplotlib.pyplot as plt

from discreet import LinearClassifier
from discreet.datasets import hospital

everybody = hospital(patients=45_000, seed=1)
test = slice(40_000, None)
epsilons = [0.03, 0.1, 0.3, 1.0, 3.0]

figure, axes = plt.subplots(figsize=(7, 4))
for rows in (4_000, 40_000):
    accuracy = []
    for epsilon in epsilons:
        model = LinearClassifier(
            epsilon=epsilon, delta=1e-7, columns=list(everybody.columns.values()), classes=[False, True]
        ).fit(everybody.X[:rows], everybody.y[:rows])
        accuracy.append(model.score(everybody.X[test], everybody.y[test]))
    axes.plot(epsilons, accuracy, marker="o", label=f"{rows:,} rows")
axes.axhline(max(everybody.y.mean(), 1 - everybody.y.mean()), color="grey", linestyle="--",
             label="the most frequent class")
axes.set_xscale("log")
axes.set_xlabel("epsilon")
axes.set_ylabel("accuracy on made-up patients")
axes.legend()
figure.tight_layout()
