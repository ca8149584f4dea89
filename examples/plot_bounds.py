"""
What no mechanism can beat
==========================

Upper bounds of methods and lower bounds for all of them, on the mean excess risk of convex losses in the unit ball.
"""

import matplotlib.pyplot as plt

from discreet.theory import Setting, best_lower, best_upper

sizes = [1_000, 10_000, 100_000, 1_000_000]
figure, axes = plt.subplots(figsize=(7, 4))
for epsilon in (0.1, 1.0):
    settings = [Setting(n=n, p=20, epsilon=epsilon, delta=1e-6, smoothness=0.25, diameter=2.0,
                        form="generalised_linear") for n in sizes]
    (line,) = axes.plot(sizes, [best_upper(s).total / s.n for s in settings], marker="o",
                        label=f"best method, epsilon = {epsilon:g}")
    axes.plot(sizes, [best_lower(s).total / s.n for s in settings], linestyle=":",
              color=line.get_color(), label="no method is below")
axes.set_xscale("log")
axes.set_yscale("log")
axes.set_xlabel("rows")
axes.set_ylabel("mean excess risk")
axes.legend()
figure.tight_layout()
