"""
A private median
================

The median of incomes, drawn by the exponential mechanism: no range has to be tight, because only ranks matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet.location import Median

generator = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(7, 4))
for rows, colour in ((300, "#a3781c"), (3_000, "#4a5fa5"), (30_000, "#0b7a75")):
    income = generator.lognormal(10.3, 0.6, rows)
    drawn = [
        Median(epsilon=0.2, delta=0.0, bounds=(0, 10**6)).fit(income).location_ for _ in range(40)
    ]
    axes.plot(np.full(40, rows), np.ravel(drawn), "o", alpha=0.4, color=colour)
    axes.plot([rows], [np.median(income)], "_", color="black", markersize=30)
axes.set_xscale("log")
axes.set_xlabel("rows")
axes.set_ylabel("median income: exact (line) and 40 private draws")
figure.tight_layout()
