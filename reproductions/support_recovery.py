"""How many rows it takes to find all columns that matter, privately: Thakurta (2013), chapter 6.

Columns are random signs, labels a sum of a few of them and noise. Peeling, votes of blocks and the
margins of a LASSO are set beside the number of rows that the printed test of stability needs, and
the number of fits of the printed subsampling.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.errors import RehearsalWarning
from discreet.estimators.bounded_entries import SupportSelector
from discreet.feature_selection import BlockVoteSupport, LassoStability, PeelingSupport
from discreet.privacy import Budget

BUDGET = Budget(1.0, 1e-6)

NOISE = 0.5
"""The deviation of the noise; coefficients are 1 and -1."""

CURVED = 0.25
"""The restricted curvature, per row, that the printed test takes for granted: signs have 1."""


def peeling(size: int, rows: int, reach: float) -> SupportSelector:
    return PeelingSupport(size, entry_bound=1.0, target_range=(-reach, reach), center=False)


def votes(size: int, rows: int, reach: float) -> SupportSelector:
    return BlockVoteSupport(size, vote="support", target_range=(-reach, reach))


def lasso(size: int, rows: int, reach: float) -> SupportSelector:
    return LassoStability(size, entry_bound=1.0, target_range=(-reach, reach), expected_rows=rows,
                          fit_intercept=False)  # fmt: skip


METHODS: dict[str, Callable[[int, int, float], SupportSelector]] = {
    "peeling": peeling,
    "votes of blocks": votes,
    "margins of a LASSO": lasso,
}


@dataclass(frozen=True)
class Setting:
    """How many columns matter, of how many, and with how many rows."""

    size: int
    width: int
    rows: int

    @property
    def reach(self) -> float:
        """The declared bound of labels: four deviations."""
        return 4 * math.sqrt(self.size + NOISE**2)


def draw_table(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make up signs, and labels of the first few columns."""
    generator = np.random.default_rng(seed)
    X = 2.0 * generator.integers(0, 2, (setting.rows, setting.width), dtype=np.int8) - 1.0
    signs = 1.0 - 2.0 * (np.arange(setting.size) % 2)
    y = X[:, : setting.size] @ signs + NOISE * generator.standard_normal(setting.rows)
    return X, y


def measure_recovery(
    setting: Setting, seeds: range, names: tuple[str, ...] = tuple(METHODS)
) -> Shares:
    """Return how often each method finds the columns that matter, all of them and no others."""
    found = dict.fromkeys(names, 0)
    for seed in seeds:
        X, y = draw_table(setting, seed)
        for name in names:
            selector = METHODS[name](setting.size, setting.rows, setting.reach)
            selector.set_params(epsilon=BUDGET.epsilon, delta=BUDGET.delta, rehearsal=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RehearsalWarning)
                selector.fit(X, y)
            found[name] += sorted(selector.selected_) == list(range(setting.size))
    return {name: count / len(seeds) for name, count in found.items()}


Shares = dict[str, float]


def printed_rows(size: int, budget: Budget = BUDGET) -> int:
    r"""Return the fewest rows with which the printed test of stability can pass, without noise.

    Its first margin asks for :math:`\Lambda/2 \ge t \cdot 12 s^2/\Psi`, its third for coefficients
    of :math:`(8 + 4 t) s^{3/2}/(\Psi n)`, t = log(1/delta)/epsilon - 1, and they shrink by
    :math:`\Lambda/n` from one.

    Examples
    --------
    >>> printed_rows(3), printed_rows(5)
    (12305, 33408)
    """
    records = math.log(1 / budget.delta) / budget.epsilon - 1
    penalty = 2 * records * 12 * size**2 / CURVED
    return math.ceil(penalty + (8 + 4 * records) * size**1.5 / CURVED)


def printed_fits(rows: int, budget: Budget = BUDGET) -> int:
    r"""Return how many subsamples the printed algorithm fits: :math:`\log(n/\delta)/q^2`.

    With :math:`q = \epsilon/(32 \log(1/\delta))`.

    Examples
    --------
    >>> printed_fits(10_000)
    4500384
    """
    share = budget.epsilon / (32 * math.log(1 / budget.delta))
    return math.ceil(math.log(rows / budget.delta) / share**2)
