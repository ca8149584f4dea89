"""
What an attacker can do
=======================

Somebody wants to know whether a record is in the table. At a given rate of false alarms, how many members must every attack miss? The curve of
Gaussian noise is far better than the worst one with the same epsilon and delta.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet.privacy import Budget, Gaussian, calibrate
from discreet.report.tradeoff import tradeoff_of

alarms = np.linspace(0, 1, 201)
figure, axes = plt.subplots(figsize=(5.5, 5))
for epsilon in (0.3, 1.0, 3.0):
    delta = 1e-6
    noise = calibrate(lambda noise: Gaussian(1 / noise), Budget(epsilon, delta))
    curve = tradeoff_of(Gaussian(1 / noise))
    (line,) = axes.plot(
        curve.alarms, curve.least_misses, label=f"Gaussian noise, epsilon = {epsilon:g}"
    )
    worst = np.maximum.reduce([np.zeros_like(alarms), 1 - delta - np.exp(epsilon) * alarms,
                               np.exp(-epsilon) * (1 - delta - alarms)])
    axes.plot(alarms, worst, color=line.get_color(), linestyle=":", label="the worst with that epsilon")
axes.plot(alarms, 1 - alarms, color="grey", linewidth=1, label="guessing blindly")
axes.set_xlabel("false alarms")
axes.set_ylabel("members missed, at least")
axes.legend(fontsize=8)
figure.tight_layout()
