"""
Tuning within one budget
========================

Four candidates, one budget: fits, the choice among them and the model that is kept are one release. The declared ranges of the first candidates are much too wide. Good ranges, declared from what is known, need no search.
"""

import matplotlib.pyplot as plt
import numpy as np

from discreet import LinearClassifier
from discreet.model_selection import PrivateSearchCV
from discreet.preprocessing import Numeric

generator = np.random.default_rng(0)
X = generator.normal(0, 1, (5_000, 5))
y = X @ [1, -1, 0.5, 0, 0] + generator.normal(0, 0.5, 5_000) > 0


def columns(width):
    return [Numeric(-width, width)] * 5


common = {"classes": [False, True], "delta": 1e-6}
search = PrivateSearchCV(
    LinearClassifier(columns=columns(100), **common),
    {"columns": [columns(100), columns(30), columns(10), columns(3)]},
    epsilon=0.3, delta=1e-6, expected_rows=5_000,
).fit(X, y)
print(search.release_.reason)

wide = LinearClassifier(columns=columns(100), epsilon=0.3, **common).fit(X, y)
right = LinearClassifier(columns=columns(3), epsilon=0.3, **common).fit(X, y)
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.bar(["too wide", "searched", "declared well"],
         [model.score(X, y) for model in (wide, search.best_estimator_, right)], color="#0b7a75")
axes.set_ylim(0.5, 1)
axes.set_ylabel("accuracy, epsilon 0.3 in all")
figure.tight_layout()
