"""A kernel model as an oracle holds it: fitted in private, with public bounds on its errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet._sealed import Sealed
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.geometry import limits
from discreet.privacy import Unit
from discreet.questions import KernelQueries

SOLVER_SHARE = 1e-4
"""How exactly a model is fitted, as a share of how far one record can move it."""

SUM_BLOCK = 256
"""Terms that are added together first; sums of blocks are added afterwards."""


@dataclass(frozen=True)
class PublicTolerance:
    """How far a computed prediction can be from the exact one, whatever the rows are.

    Parameters
    ----------
    solver
        The distance of the fitted from the exact minimiser, in the norm of the feature space.
    evaluation
        What evaluating a fitted model at one point adds, in units of the prediction.
    """

    solver: float
    evaluation: float

    @classmethod
    def of(cls, question: KernelQueries, unit: Unit) -> PublicTolerance:
        """Choose tolerances from public facts.

        A model has as many coefficients as there are rows, each of at most L / ridge. Entries of
        the kernel are off by its error, products by a rounding, and sums by one rounding a term
        within a block and one a block.
        """
        rows = question.bounds.max_rows
        solver = SOLVER_SHARE * unit.spread(question.row_lipschitz) / question.ridge
        entry = question.kernel.error(question.bounds)
        blocks = -(-rows // SUM_BLOCK)
        roundings = 4 + min(rows, SUM_BLOCK + min(blocks, SUM_BLOCK) + -(-blocks // SUM_BLOCK))
        largest = question.row_norm**2 + entry
        off = (
            rows * question.lipschitz / question.ridge * (entry + roundings * limits.UNIT * largest)
        )
        return cls(solver, limits.round_up(off))


class PrivatePredictor(Sealed):
    """The points of a fitted kernel model and their coefficients, all of it secret.

    Parameters
    ----------
    question
        What it was fitted for.
    points
        Those that have a coefficient, one a row.
    coefficients
        One for each point, at most L / ridge in absolute value.
    """

    _sealed = "a model without noise cannot be looked at, copied or stored; ask its oracle."

    def __init__(self, question: KernelQueries, points: Array, coefficients: Vector) -> None:
        most = question.lipschitz / question.ridge * (1 + 1e-12)
        if points.shape != (coefficients.size, question.bounds.n_features):
            raise PrivacyError("a model has one coefficient for each of its points.")
        if not (np.abs(coefficients) <= most).all() or len(points) > question.bounds.max_rows:
            raise PrivacyError("a model is not within its public bounds.")
        self._question, self._points, self._coefficients = question, points, coefficients

    @classmethod
    def fit(
        cls, question: KernelQueries, tolerance: PublicTolerance, rows: OpenRows
    ) -> PrivatePredictor:
        """Fit to opened rows; it is never returned unless it is certified.

        Parameters
        ----------
        question
            What is asked.
        tolerance
            How exact the model has to be.
        rows
            Opened rows.
        """
        X, y = rows.gather()
        table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if y is None:
            raise PrivacyError("a kernel model was fitted to rows without labels.")
        return cls(question, table, _minimise(question, tolerance.solver, table, y))

    def pack(self) -> dict[str, Array]:
        """Return all that another process needs; as secret as the model itself."""
        return {"points": self._points, "coefficients": self._coefficients}

    @classmethod
    def unpack(cls, question: KernelQueries, packed: Any) -> PrivatePredictor:
        """Return a model that was packed."""
        return cls(question, np.array(packed["points"]), np.array(packed["coefficients"]))

    @cached_property
    def _scaled(self) -> tuple[Array, Vector]:
        return self._question.kernel.scale(self._points)

    def predict(self, point: Vector) -> float:
        """Return the prediction at one point, within the declared error of the exact one."""
        if not self._coefficients.size:
            return 0.0
        kernel = self._question.kernel
        entries = kernel.evaluate_scaled(*self._scaled, *kernel.scale(point[None, :]))[:, 0]
        return add_in_blocks(entries * self._coefficients)

    def __repr__(self) -> str:
        return "<secret model>"


def add_in_blocks(terms: Vector) -> float:
    """Add numbers in blocks, then the sums of blocks, and so on: errors grow with the blocks."""
    while terms.size > SUM_BLOCK:
        missing = -terms.size % SUM_BLOCK
        terms = np.concatenate([terms, np.zeros(missing)]).reshape(-1, SUM_BLOCK).sum(axis=1)
    return float(terms.sum())


def _minimise(question: KernelQueries, tolerance: float, X: Array, y: Vector) -> Vector:
    gram = question.kernel.evaluate(X, X)
    ridge, loss = question.ridge, question.loss
    step = 1 / (ridge + loss.smoothness(np.inf) * np.linalg.norm(gram, 2)) if len(X) else 1.0
    coefficients = np.zeros(len(X))
    while True:
        slopes = np.clip(
            loss.slope(y, gram @ coefficients), -question.lipschitz, question.lipschitz
        )
        residual = ridge * coefficients + slopes
        if np.sqrt(max(residual @ gram @ residual, 0.0)) <= tolerance * ridge / 4:
            return np.clip(coefficients, -question.lipschitz / ridge, question.lipschitz / ridge)
        coefficients = coefficients - step * residual
