"""What the linear models share: from constructor arguments to a release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from discreet import _checks
from discreet._types import Vector
from discreet.data import Bounds, Labels, Rows
from discreet.errors import InputTypeError
from discreet.geometry import L2Ball
from discreet.ledger import Ledger
from discreet.losses import Loss
from discreet.mechanisms import Mechanism, ObjectivePerturbation, OutputPerturbation
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.privacy import Budget, Unit
from discreet.problem import Problem
from discreet.release import Release, release

INTERCEPT_SHARE = 0.5
"""The constant of the intercept's column, as a share of the bound on rows."""

MECHANISMS = {
    "objective_perturbation": ObjectivePerturbation(),
    "output_perturbation": OutputPerturbation(),
}


@dataclass(frozen=True)
class Task:
    """Everything public about one fit."""

    loss: Loss
    labels: Labels
    budget: Budget
    unit: Unit
    data_norm: float
    ridge: float | None
    has_intercept: bool
    max_rows: int
    mechanism: str
    assumed: tuple[str, ...]

    def __post_init__(self) -> None:
        _checks.positive(data_norm=self.data_norm)
        _checks.one_of(("auto", *MECHANISMS), mechanism=self.mechanism)
        if self.ridge is not None:
            _checks.positive(ridge=self.ridge)

    @property
    def intercept(self) -> float | None:
        return INTERCEPT_SHARE * self.data_norm if self.has_intercept else None

    def fit(
        self, X: Any, y: Vector, *, ledger: Ledger | None, noise: Noise, purpose: str
    ) -> Release:
        """Release coefficients; the intercept, if any, is the last."""
        bounds = Bounds(
            features=L2Ball(self.data_norm),
            n_features=X.shape[1],
            labels=self.labels,
            intercept=self.intercept,
            max_rows=X.shape[0] if self.unit.count_is_public else self.max_rows,
        )
        problem = Problem(self.loss, bounds, self._ridge(bounds), assumed=self.assumed)
        rows = Rows(X, y, bounds=bounds, unit=self.unit)
        return release(
            self.chosen,
            problem,
            rows,
            budget=self.budget,
            ledger=ledger,
            noise=noise,
            purpose=purpose,
        )

    @property
    def chosen(self) -> Mechanism:
        """The mechanism: objective perturbation wherever its noise has a proof."""
        if self.mechanism != "auto":
            return MECHANISMS[self.mechanism]
        is_pure = self.budget.is_private and self.budget.delta == 0
        name = "output_perturbation" if is_pure else "objective_perturbation"
        return MECHANISMS[name]

    def _ridge(self, bounds: Bounds) -> float:
        r"""Return the ridge asked for, or the least that costs no privacy.

        For a jointly smooth loss :math:`\kappa R^2/\epsilon`, three times that if records are
        replaced; with a little room for the mask. For a pure budget, whose noise falls with the
        ridge, a rule of thumb that has not been tuned.
        """
        if self.ridge is not None:
            return self.ridge
        if not self.budget.is_private:
            return bounds.row_norm() ** 2
        smooth = self.loss.joint_smoothness or 10 * self.loss.smoothness(math.inf)
        factor = 3.0 if self.unit.count_is_public else 1.2
        if self.budget.delta == 0:
            factor *= 10.0 * math.sqrt(bounds.width)
        return factor * smooth * bounds.row_norm() ** 2 / self.budget.epsilon


def noise_from(random_state: Any) -> Noise:
    """Return the operating system's noise, or a rehearsal for a seed."""
    if random_state is None:
        return SystemNoise()
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise InputTypeError("random_state must be None (private) or a whole number (a rehearsal).")
    return RehearsalNoise(int(random_state))
