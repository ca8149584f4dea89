"""The true privacy profile of a pair of laws, beside the declared one."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.audit.laws.base import Cells, Law
from discreet.audit.laws.finite import vector
from discreet.errors import InputError
from discreet.privacy import Guarantee

NEGLIGIBLE = 1e-12
"""A declared delta below this says nothing about tightness."""

LARGEST_EPSILON = 500.0
TINIEST = 1e-300
POINTS = 30
CAUTION = 3.0
"""Times the change from coarser grids: against scalar laws, one change is too little one in 20."""


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The true profile of one pair beside the declared one, on a grid of epsilons.

    Parameters
    ----------
    epsilons
        The grid.
    true
        Delta of the pair, the larger of both orders.
    declared
        Delta of the guarantee.
    error
        How far ``true`` can be too large: a bound on rounding, and for laws on the plane an
        estimate of the error of the quadrature, from coarser grids and from the total masses.
    largest_loss
        The largest logarithm of a ratio of masses of a cell: pure epsilon is at least this.

    Examples
    --------
    >>> from discreet.audit.laws import MovedNoise
    >>> from discreet.privacy import AddRemoveOne, Gaussian
    >>> promise = Guarantee(Gaussian(0.5), AddRemoveOne())
    >>> print(exact_audit(MovedNoise(0, 2), MovedNoise(1, 2), promise).sentence())
    No violation: on this pair the true delta is at most 1.00 times the declared one.
    >>> exact_audit(MovedNoise(0, 1), MovedNoise(1, 1), promise).violated
    True
    """

    epsilons: Vector
    true: Vector
    declared: Vector
    error: Vector
    largest_loss: float

    @property
    def _surely(self) -> Vector:
        return np.maximum(self.true - self.error, 0.0)

    @property
    def violated(self) -> bool:
        """Whether the pair refutes the guarantee at some epsilon, whatever the error.

        A delta of zero is also refuted by a single larger loss.
        """
        is_exceeded = self._surely > self.declared * (1 + 1e-9)
        is_pure = (self.declared == 0) & (self.largest_loss > self.epsilons * (1 + 1e-9))
        return bool((is_exceeded | is_pure).any())

    @property
    def tightness(self) -> float:
        """The largest ratio of true to declared delta, where the latter is not negligible."""
        matters = self.declared > NEGLIGIBLE
        if not matters.any():
            return 0.0
        return float((self.true[matters] / self.declared[matters]).max())

    @property
    def _log_ratios(self) -> Vector:
        # A declared delta counts as no smaller than what is negligible.
        ratios: Vector = np.log(np.maximum(self._surely, TINIEST)) - np.log(
            self.declared + NEGLIGIBLE
        )
        return ratios

    @property
    def severity(self) -> float:
        """The largest log ratio of what is surely true to what is declared: for searches."""
        return float(self._log_ratios.max())

    @property
    def worst(self) -> int:
        """The place in the grid where the true delta is largest against the declared one."""
        return int(np.argmax(self._log_ratios))

    def sentence(self) -> str:
        """Say what was found."""
        if not self.violated:
            return (
                "No violation: on this pair the true delta is at most "
                f"{self.tightness:.2f} times the declared one."
            )
        at = self.worst
        if self._surely[at] <= self.declared[at]:
            return (
                f"VIOLATION: a pure epsilon of {self.epsilons[self.declared == 0].min():.4g} is "
                f"declared, and this pair loses {self.largest_loss:.4g}."
            )
        return (
            f"VIOLATION: at epsilon = {self.epsilons[at]:.4g} the true delta of this pair is "
            f"{self.true[at]:.3g}, and the declared one {self.declared[at]:.3g}."
        )

    def table(self) -> str:
        """Return one line for each epsilon."""
        lines = [f"{'epsilon':>10} {'true':>11} {'error':>9} {'declared':>11}"]
        for row in zip(self.epsilons, self.true, self.error, self.declared, strict=True):
            lines.append("{:10.4g} {:11.4e} {:9.1e} {:11.4e}".format(*row))
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return everything as JSON text."""
        loss = self.largest_loss
        return json.dumps(
            {
                "violated": self.violated,
                "tightness": self.tightness,
                "largest_loss": loss if math.isfinite(loss) else None,
                "epsilons": self.epsilons.tolist(),
                "true": self.true.tolist(),
                "error": self.error.tolist(),
                "declared": self.declared.tolist(),
            }
        )


def true_deltas(first: Law, second: Law, epsilons: ArrayLike) -> Vector:
    """Return the delta of a pair of laws at each epsilon, the larger of both orders.

    Examples
    --------
    >>> from discreet.audit.laws import MovedNoise
    >>> from discreet.privacy import Laplace
    >>> pair = MovedNoise(0, 1, "laplace"), MovedNoise(1, 1, "laplace")
    >>> float(true_deltas(*pair, [0.5])[0].round(4)), round(Laplace(1.0).delta(0.5), 4)
    (0.2212, 0.2212)
    """
    return _profile(_cells(first, second), _grid(epsilons))[0]


def largest_loss(first: Law, second: Law) -> float:
    """Return the largest log ratio of the two masses of a cell: no pure epsilon is below it.

    Masses lost in rounding do not count.

    Examples
    --------
    >>> from discreet.audit.laws import FiniteLaw
    >>> round(largest_loss(FiniteLaw([0.75, 0.25]), FiniteLaw([0.5, 0.5])), 4)
    0.6931
    """
    return _largest_loss(_cells(first, second))


def exact_audit(
    first: Law, second: Law, guarantee: Guarantee, *, epsilons: ArrayLike | None = None
) -> ExactResult:
    """Compare the true profile of a pair of laws with a guarantee, on a grid of epsilons.

    Examples
    --------
    The standard deviation of Laplace noise taken for its scale:

    >>> from discreet.audit.laws import MovedNoise
    >>> from discreet.privacy import AddRemoveOne, Laplace
    >>> scale = 1 / math.sqrt(2)
    >>> pair = MovedNoise(0, scale, "laplace"), MovedNoise(1, scale, "laplace")
    >>> promise = Guarantee(Laplace(1.0), AddRemoveOne())
    >>> print(exact_audit(*pair, promise, epsilons=[1.0]).sentence())
    VIOLATION: at epsilon = 1 the true delta of this pair is 0.187, and the declared one 0.
    """
    return compare(first, second, *declared_deltas(guarantee, epsilons))


def compare(first: Law, second: Law, epsilons: Vector, declared: Vector) -> ExactResult:
    """Compare the true profile of a pair of laws with declared deltas."""
    cells = _cells(first, second)
    true, error = _profile(cells, epsilons)
    return ExactResult(epsilons, true, declared, error, _largest_loss(cells))


def declared_deltas(
    guarantee: Guarantee, epsilons: ArrayLike | None = None
) -> tuple[Vector, Vector]:
    """Return the epsilons asked for, or a grid over the declared profile, and the deltas there."""
    _checks.instance(Guarantee, guarantee=guarantee)
    grid = default_epsilons(guarantee) if epsilons is None else _grid(epsilons)
    return grid, guarantee.profile.deltas(grid)


def default_epsilons(guarantee: Guarantee) -> Vector:
    """Return epsilons from zero to where the declared delta is negligible.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> grid = default_epsilons(Guarantee(Pure(2.0), AddRemoveOne()))
    >>> float(grid[0]), float(grid[-1])
    (0.0, 2.0)
    """
    _checks.instance(Guarantee, guarantee=guarantee)
    top = min(guarantee.profile.pure_epsilon, LARGEST_EPSILON)
    if top == LARGEST_EPSILON:
        top = _end_of(guarantee)
    steps = np.linspace(0, 1, POINTS + 1)
    return np.union1d(top * steps, top * steps[1] * np.array([0.01, 0.1, 0.3]))


def _end_of(guarantee: Guarantee) -> float:
    """Return, to a few percent, where the declared delta is down to 1e-9 or to its floor."""
    low, high = 1e-4, LARGEST_EPSILON
    least = max(1e-9, 2 * guarantee.delta(high))
    if least >= 1:
        return 10.0
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if guarantee.delta(middle) <= least else (middle, high)
    return high


def _cells(first: Law, second: Law) -> Cells:
    _checks.instance(Law, first=first, second=second)
    return first.beside(second)


def _grid(epsilons: ArrayLike) -> Vector:
    grid = vector(epsilons=epsilons)
    if (grid < 0).any() or (grid > LARGEST_EPSILON).any():
        raise InputError(f"epsilons must lie between 0 and {LARGEST_EPSILON:g}.")
    return grid


def _profile(cells: Cells, epsilons: Vector) -> tuple[Vector, Vector]:
    """Return delta at each epsilon, and how far it can be too large."""
    forward = _one_order(cells.first, cells.second, cells.first_error, cells.second_error, epsilons)
    back = _one_order(cells.second, cells.first, cells.second_error, cells.first_error, epsilons)
    is_back = back[0] - back[1] > forward[0] - forward[1]
    true, error = np.where(is_back, back, forward)
    if cells.coarser:
        changes = [np.abs(true - _profile(coarse, epsilons)[0]) for coarse in cells.coarser]
        error = error + CAUTION * np.max(changes, axis=0)
        off = max(abs(float(masses.sum()) - 1) for masses in (cells.first, cells.second))
        error = error + off * (1 + np.exp(epsilons))
    return np.minimum(true, 1.0), error


def _one_order(
    ours: Vector, theirs: Vector, our_error: Vector, their_error: Vector, epsilons: Vector
) -> tuple[Vector, Vector]:
    true, error = np.zeros_like(epsilons), np.zeros_like(epsilons)
    for place, factor in enumerate(np.exp(epsilons)):
        gap = ours - factor * theirs
        counts = gap > 0
        true[place] = gap.sum(where=counts)
        error[place] = (our_error + factor * their_error).sum(where=counts)
    return true, error * (1 + 1e-9) + 1e-15 * true


def _largest_loss(cells: Cells) -> float:
    sides = (
        _loss(cells.first - cells.first_error, cells.second + cells.second_error),
        _loss(cells.second - cells.second_error, cells.first + cells.first_error),
    )
    return max(0.0, *sides)


def _loss(least: Vector, most: Vector) -> float:
    matters = least > 1e-300
    with np.errstate(divide="ignore"):
        return float((np.log(least[matters]) - np.log(most[matters])).max())
