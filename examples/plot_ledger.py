"""
A budget that is kept
=====================

Four analysts ask about the same patients. The ledger records every release, and refuses the first one that does not fit.
"""

import matplotlib.pyplot as plt

from discreet import Budget, LinearClassifier, MemoryLedger
from discreet.datasets import hospital
from discreet.errors import BudgetExceeded

table = hospital(patients=5_000)
ledger = MemoryLedger(Budget(2.0, 1e-6))
left, asked = [ledger.remaining()], []
for epsilon in (0.5, 0.7, 0.3, 1.5):
    model = LinearClassifier(epsilon=epsilon, delta=1e-9, columns=list(table.columns.values()),
                             classes=[False, True], ledger=ledger)
    try:
        model.fit(table.X, table.y)
        asked.append(f"fit, {epsilon:g}")
    except BudgetExceeded as refused:
        print(refused)
        asked.append(f"refused, {epsilon:g}")
    left.append(ledger.remaining())

figure, axes = plt.subplots(figsize=(7, 3.5))
axes.bar(["before", *asked], left, color="#0b7a75")
axes.set_ylabel("epsilon that is left")
figure.tight_layout()
