"""
A first private model
=====================

A model of made-up patients, with and without privacy. Ranges and categories are declared; they are never measured from the table. Both fit a logistic regression (``margin=0``), so that coefficients can be compared.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from discreet import LinearClassifier
from discreet.datasets import hospital

table = hospital(patients=20_000)
frame = pd.DataFrame(table.X, columns=list(table.columns))
common = {"columns": table.columns, "classes": [False, True], "margin": 0.0}
private = LinearClassifier(epsilon=1.0, delta=1e-6, **common).fit(frame, table.y)
print(private.privacy_)

# %%
# The same model without noise, for comparison only. With ``epsilon=inf`` nothing is promised.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    exact = LinearClassifier(epsilon=np.inf, **common).fit(frame, table.y)

names = [name for name in private.coefficients() if name != "(intercept)"]
units = {"age": 20, "stay_days": 6, "medicines": 5, "sodium": 5}  # steps worth comparing
places = np.arange(len(names))[::-1]
figure, axes = plt.subplots(figsize=(8, 5))
for shift, (model, label) in enumerate([(exact, "without privacy"), (private, "epsilon = 1")]):
    values = [model.coefficients()[name] * units.get(name, 1) for name in names]
    axes.barh(places - 0.4 * shift, values, height=0.4, label=label)
axes.set_yticks(places - 0.2, [f"{name}, by {units[name]}" if name in units else name for name in names])
axes.axvline(0, color="black", linewidth=0.8)
axes.set_xlabel("change of the log-odds of coming back")
axes.legend()
figure.tight_layout()
