r"""The random linear term of objective perturbation: three laws, and how each is drawn.

What a term of exponential density costs in pure epsilon is known in closed form.
The density is proportional to :math:`\exp(-\|b\|/s)` in some norm; with :math:`R_*` the largest
row in that norm and L the largest slope, write :math:`a = L R_*/s`. One row of relative slope
q = |f'|/L changes the log density by at most :math:`a q`, and the volume element by at most

.. math:: \ln(1 + \min(\beta, \kappa_0 (1 - q)) R^2/\Lambda),

the second bound for jointly smooth losses only. The rows of a person, which weigh W together and
point in r directions at most, have :math:`W a q` and :math:`r \ln(1 + W \min(...) R^2/(r
\Lambda))`: by Jensen's inequality all their slopes may be taken alike. So with :math:`\psi(a)` the
maximum over q of the sum, adding or removing a row costs :math:`\psi(a)`, and replacing one costs
:math:`a + \psi(a)`: the second record adds its slope, and the determinants of the two records pull
in opposite directions. ``log_ratio`` is :math:`r \ln(1 + W \beta R^2/(r \Lambda))` and ``joint`` is
:math:`W \kappa_0 R^2/\Lambda`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.errors import CalibrationError
from discreet.noise import Noise, distance_of_gaussian, distance_of_radial, draw_radial
from discreet.noise.radial_noise import coupling_error, draw_radials
from discreet.privacy import Unit
from discreet.privacy.guarantee import in_three_digits as up
from discreet.questions.problem import Problem

BITS = 46
"""Terms are drawn on a grid this much finer than their scale."""

GAUSSIAN_TAIL = 12.0
GAUSSIAN_TAIL_CHANCE = 2.0**-100
"""The norm of p Gaussians exceeds sqrt(p) + 12 with a chance below e**-72 < 2**-100."""

GAMMA_TAIL = 80.0
GAMMA_TAIL_CHANCE = 2.0**-115
"""A Gamma(p) variable exceeds p + sqrt(2 p t) + t with a chance below e**-t < 2**-115."""


@dataclass(frozen=True)
class LinearTerm(ABC):
    """A random vector of a declared scale."""

    scale: float

    @abstractmethod
    def draw(self, width: int, noise: Noise) -> Vector:
        """Return a vector within :meth:`error` of an ideal one."""

    def draw_many(self, width: int, count: int, noise: Noise) -> Array:
        """Return ``count`` vectors, one a row."""
        return np.array([self.draw(width, noise) for _ in range(count)])

    @abstractmethod
    def error(self, width: int) -> float:
        """Bound the distance between the vector drawn and an ideal one."""

    @abstractmethod
    def bound(self, width: int) -> float:
        """Bound the Euclidean norm; :meth:`chance` covers the exceptions."""

    @abstractmethod
    def chance(self, width: int) -> float:
        """Bound the probability that the bound, the error or the law itself is off."""

    @abstractmethod
    def size(self, width: int) -> float:
        """Return the root mean square of a coordinate."""


class GaussianTerm(LinearTerm):
    """Independent Gaussians."""

    def draw_many(self, width: int, count: int, noise: Noise) -> Array:
        return self.draw(width * count, noise).reshape(count, width)

    def draw(self, width: int, noise: Noise) -> Vector:
        return _from_grid(noise.gaussian(width, BITS), self.scale)

    def error(self, width: int) -> float:
        return _half_cells(self.scale, width)

    def bound(self, width: int) -> float:
        return self.scale * (math.sqrt(width) + GAUSSIAN_TAIL)

    def chance(self, width: int) -> float:
        return distance_of_gaussian(width) + GAUSSIAN_TAIL_CHANCE

    def size(self, width: int) -> float:
        return self.scale


class LaplaceTerm(LinearTerm):
    """Independent Laplace variables: density proportional to exp(-|b|_1 / scale)."""

    def draw_many(self, width: int, count: int, noise: Noise) -> Array:
        return self.draw(width * count, noise).reshape(count, width)

    def draw(self, width: int, noise: Noise) -> Vector:
        return _from_grid(noise.laplace(width, BITS), self.scale)

    def error(self, width: int) -> float:
        return _half_cells(self.scale, width)

    def bound(self, width: int) -> float:
        # The l1 norm is a Gamma(p) variable; each coordinate alone is below t + ln p.
        largest = math.sqrt(width) * (GAMMA_TAIL + math.log(width))
        return self.scale * min(_gamma_bound(width), largest)

    def chance(self, width: int) -> float:
        return GAMMA_TAIL_CHANCE

    def size(self, width: int) -> float:
        return math.sqrt(2) * self.scale


class RadialTerm(LinearTerm):
    """A uniform direction and a Gamma length: density proportional to exp(-|b|_2 / scale)."""

    def draw_many(self, width: int, count: int, noise: Noise) -> Array:
        return draw_radials(width, self.scale, count, noise)

    def draw(self, width: int, noise: Noise) -> Vector:
        return draw_radial(width, self.scale, noise).vector

    def error(self, width: int) -> float:
        return coupling_error(width, self.scale)

    def bound(self, width: int) -> float:
        return self.scale * _gamma_bound(width)

    def chance(self, width: int) -> float:
        return distance_of_radial(width) + GAMMA_TAIL_CHANCE

    def size(self, width: int) -> float:
        return math.sqrt(width + 1) * self.scale


def _from_grid(units: Integers, scale: float) -> Vector:
    values = units.astype(np.float64)
    values += 0.5
    values *= math.ldexp(scale, -BITS)
    return values


def _half_cells(scale: float, width: int) -> float:
    """Half a cell a coordinate, and the rounding of large values to floats."""
    return 2 * 0.5 * math.ldexp(scale, -BITS) * math.sqrt(width)


def _gamma_bound(width: int) -> float:
    return width + math.sqrt(2 * width * GAMMA_TAIL) + GAMMA_TAIL


_DOWN = 1 - 2.0**-40


def pure_cost(problem: Problem, unit: Unit, shift: float) -> float:
    """Return the epsilon of a linear term whose density falls by at most ``shift``.

    That is by the slopes of whoever is protected, all rows of a person together.

    Examples
    --------
    >>> from discreet.questions.bounds import Bounds, LabelSet
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> bounds = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]))
    >>> pure_cost(Problem(Logistic(), bounds, ridge=1.1), AddRemoveOne(), shift=1.0)
    1.0
    """
    alone = _cost_with_curvature(problem, shift)
    return shift + alone if unit.is_replace else alone


def largest_shift(problem: Problem, unit: Unit, epsilon: float) -> float:
    """Return the largest shift that costs at most ``epsilon``, rounded down."""
    low, high = 0.0, epsilon
    if pure_cost(problem, unit, low) >= epsilon:
        raise too_little_ridge(problem, epsilon)
    if pure_cost(problem, unit, high * _DOWN) <= epsilon:
        return high * _DOWN
    while high - low > 1e-13 * epsilon:
        middle = (low + high) / 2
        low, high = (middle, high) if pure_cost(problem, unit, middle) <= epsilon else (low, middle)
    return low * _DOWN


def too_little_ridge(problem: Problem, epsilon: float) -> CalibrationError:
    """Say that the curvature of one row, or person, costs more than the budget."""
    rank = problem.bounds.rank
    enough = problem.row_smoothness / (rank * math.expm1(0.5 * epsilon / rank))
    who = "one row has" if problem.bounds.has_one_row_each else "the rows of one person have"
    return CalibrationError(
        f"a ridge of {problem.ridge:.3g} is too weak for epsilon = {up(epsilon)}: {who} more "
        f"curvature than the budget allows. Use at least {enough:.3g}, C at most {1 / enough:.3g}."
    )


def _cost_with_curvature(problem: Problem, shift: float) -> float:
    """Maximise shift * q + r ln(1 + curvature/r) over the relative slope q."""
    joint, rank = problem.joint, problem.bounds.rank
    if joint is None:
        return shift + problem.log_ratio
    # Where the first bound holds the sum grows with q; where the second does, it is concave in q.
    widest = min(1.0, rank * math.expm1(problem.log_ratio / rank) / joint)
    short = widest if shift == 0 else min(max(rank / shift - rank / joint, 0.0), widest)
    return shift * (1 - short) + rank * math.log1p(joint * short / rank)
