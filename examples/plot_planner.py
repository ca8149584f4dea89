"""
What will it be worth?
======================

The planner predicts accuracy from public facts alone: declared columns, a guess at the number of rows and at how predictable the target is. It reads no data and spends nothing.
"""

import matplotlib.pyplot as plt

from discreet.planning import Planner, PublicFacts
from discreet.preprocessing import Category, Numeric

facts = PublicFacts(
    {"age": Numeric(18, 100), "stay": Numeric(0, 30), "ward": Category(["surgery", "medicine"])},
    classes=["home", "back"], signal=0.8, majority=0.6,
)
epsilons, rows = [0.05, 0.2, 1.0], [300, 1_000, 5_000]
prediction = Planner(facts, draws=2).predict(epsilons, n=rows)
print(prediction)

# %%
figure, axes = plt.subplots(figsize=(7, 4))
for n in rows:
    cells = [cell for cell in prediction.cells if cell.n == n]
    axes.plot([cell.epsilon for cell in cells], [cell.mean for cell in cells], marker="o", label=f"{n:,} rows")
axes.axhline(0.8, color="grey", linestyle="--", label="without privacy, guessed")
axes.set_xscale("log")
axes.set_xlabel("epsilon")
axes.set_ylabel("predicted accuracy")
axes.legend()
figure.tight_layout()
