"""A kernel model as an oracle holds it: fitted in private, with public bounds on its errors.

What the bounds are for is proved in ``gaussian_process.md`` and ``bounded_updates.md``, for all
that is ever answered in ``interaction/interaction.md``, "Oracles".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._private_part import Sealed
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.mechanisms.base import Verdict
from discreet.mechanisms.minimising.kernel_minimiser import KernelMinimiser, accepts_kernel
from discreet.mechanisms.query_answering import QueryMechanism, QueryPlan
from discreet.privacy import Unit
from discreet.questions import KernelQueries, Question
from discreet.solvers import KernelFit

SLACK = 1 + 1e-12
"""How far rounding may bring a coefficient above its bound."""


@dataclass(frozen=True)
class PublicTolerance:
    """How far a computed prediction can be from the exact one, whatever the rows are."""

    solver: float
    evaluation: float

    @classmethod
    def of(cls, question: KernelQueries) -> PublicTolerance:
        """Return what is certified of every fit, from public facts."""
        minimiser = KernelMinimiser(question)
        return cls(minimiser.radius, minimiser.evaluation_error)


class PrivatePredictor(Sealed):
    """The points of a fitted kernel model and their coefficients, all of it secret."""

    _sealed = "a model without noise cannot be looked at, copied or stored; ask its oracle."

    def __init__(self, question: KernelQueries, fit: KernelFit) -> None:
        most = question.lipschitz / question.ridge * SLACK
        if fit.points.shape != (fit.coefficients.size, question.bounds.n_features):
            raise PrivacyError("a model has one coefficient for each of its points.")
        within = bool((np.abs(fit.coefficients) <= most).all())
        if not within or len(fit.points) > question.bounds.max_rows:
            raise PrivacyError("a model is not within its public bounds.")
        self._fit = fit

    @classmethod
    def of(cls, question: KernelQueries, rows: OpenRows) -> PrivatePredictor:
        """Fit to opened rows; it is never returned unless it is certified."""
        return cls(question, KernelMinimiser(question).solve(rows))

    def pack(self) -> dict[str, Array]:
        """Return all that another process needs; as secret as the model itself."""
        return {"points": self._fit.points, "coefficients": self._fit.coefficients}

    @classmethod
    def unpack(cls, question: KernelQueries, packed: Any) -> PrivatePredictor:
        """Return a model that was packed."""
        radius = KernelMinimiser(question).radius
        points, coefficients = np.array(packed["points"]), np.array(packed["coefficients"])
        return cls(question, KernelFit(question.kernel, points, coefficients, radius))

    def predict(self, point: Vector) -> float:
        """Return the prediction at one point, within the declared error of the exact one."""
        return float(self._fit.evaluate(point[None, :])[0])

    def __repr__(self) -> str:
        return "<secret model>"


class FittedQueryPlan(QueryPlan):
    """A plan whose private model is fitted to all rows."""

    tolerance: PublicTolerance

    def fit(self, rows: OpenRows) -> PrivatePredictor:
        return PrivatePredictor.of(self.question, rows)


class FittedQueryMechanism(QueryMechanism):
    """A mechanism whose private model is the minimiser in a kernel's space."""

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, KernelQueries):
            return Verdict(False, f"{self.name} answers KernelQueries; use output_perturbation.")
        return accepts_kernel(question)  # before anything is paid
