"""
Attacking a mechanism
=====================

The auditor runs a mechanism many times on two neighbouring data sets and certifies how much it leaks, whatever its proof says. Here: a sum with Laplace noise, rounded to a grid;
with half of the noise that it needs; and with NumPy's noise added in floats, whose low bits give the sum away although the scale is right.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet.audit import audit
from discreet.privacy import AddRemoveOne, Guarantee, Pure

pair = np.array([0.0, 1.0]), np.array([0.0, 1.0, 1.0])  # one record more
claim = Guarantee(Pure(1.0), AddRemoveOne())


def on_a_grid(rows, seed):
    return np.floor(1024 * (rows.sum() + np.random.default_rng(seed).laplace(0, 1.0)))


def with_half_the_noise(rows, seed):
    return np.floor(1024 * (rows.sum() + np.random.default_rng(seed).laplace(0, 0.5)))


def in_floats(rows, seed):
    return rows.sum() + np.random.default_rng(seed).laplace(0, 1.0)


found = {
    run.__name__.replace("_", " "): audit(run, pair, claim, trials=8_000, seed=0)
    for run in (on_a_grid, with_half_the_noise, in_floats)
}
for result in found.values():
    print(result)

# %%
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.bar(list(found), [result.lower_bound for result in found.values()],
         color=["#0b7a75", "#b5482a", "#b5482a"])  # fmt: skip
axes.axhline(1.0, color="black", linestyle="--", label="claimed epsilon")
axes.set_ylabel("certified epsilon, at least")
axes.legend()
figure.tight_layout()
