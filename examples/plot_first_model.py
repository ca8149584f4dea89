"""
A first private model
=====================

A logistic model of made-up patients, with and without privacy. Ranges and categories are declared; they are never measured from the table.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet import LinearClassifier
from discreet.datasets import hospital

table = hospital(patients=20_000)
common = {"columns": list(table.columns.values()), "classes": [False, True]}
private = LinearClassifier(epsilon=1.0, delta=1e-6, **common).fit(table.X, table.y)
print(private.privacy_)

# %%
# The same model without noise, for comparison only. With ``epsilon=inf`` nothing is promised.
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    exact = LinearClassifier(epsilon=np.inf, **common).fit(table.X, table.y)

names = [name for name in private.coefficients() if name != "(intercept)"]
scale = {"age": 20, "stay_days": 6, "medicines": 5, "sodium": 5}  # units worth comparing
places = np.arange(len(names))
figure, axes = plt.subplots(figsize=(8, 4.5))
for shift, (model, label) in enumerate([(exact, "without privacy"), (private, "epsilon = 1")]):
    values = [model.coefficients()[name] * scale.get(name, 1) for name in names]
    axes.barh(places + 0.4 * shift, values, height=0.4, label=label)
axes.set_yticks(places + 0.2, names)
axes.set_xlabel("coefficient")
axes.legend()
figure.tight_layout()
