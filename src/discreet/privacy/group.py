r"""Several records that change together: what a profile for one says of a group.

Group privacy (Dong, Roth and Su 2022). Between data sets that differ in k records lie k - 1 others,
each the neighbour of the next. Chained, a profile :math:`\delta` for one record gives

.. math:: \delta_k(\epsilon) = \min_{e_1 + \dots + e_k = \epsilon}
          \sum_i e^{e_1 + \dots + e_{i-1}} \delta(e_i)

for the ends, where any split, with negative parts too, is sound: hence also
:math:`\delta_{a+b}(\epsilon) = \min_x \delta_a(x) + e^x \delta_b(\epsilon - x)`. That is the
iterated trade-off function, and no profile alone says more. It is worked out on an even grid, where
differences of points are points again, so nothing is interpolated on the way; in the end between
points by a chord in :math:`e^\epsilon`, of which every profile is a convex function.

*Closed forms.* Shifts of Laplace noise add up, as do pure epsilons and the ranges of log ratios; of
:math:`\rho`-zCDP it is :math:`k^2 \rho` (Bun and Steinke 2016, proposition 27). Gaussian noise of
:math:`\mu` has :math:`k \mu`, exactly. If the computed law is within
:math:`\tau` of a Gaussian one, made for each pair of neighbours anew perhaps, the best split has
:math:`e_1 + \dots + e_i = i \epsilon / k - \mu^2 i (k - i) / 2 \le \epsilon`, so the distances add
at most :math:`2 k e^\epsilon \tau`: less than a distance of :math:`2 k \tau` is charged.

Any other profile is chained as it is, with its distance in every link: an allowance that was made
for one pair of neighbours, as the ridge of ``adaptive_ridge``, need not hold for the ends.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.privacy.bounded_range import BoundedRange
from discreet.privacy.concentrated import ZeroConcentrated
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.guarantee import NoPrivacy
from discreet.privacy.laplace import Laplace
from discreet.privacy.profile import Profile
from discreet.privacy.pure import Approximate, Pure
from discreet.privacy.tabulated import tabulate
from discreet.privacy.within_distance import within

MOST_RECORDS = 1000
"""Of a group that can be declared; more are promised next to nothing."""

CELLS = 1000
"""Points of the grid on either side of zero."""

LEAST_DELTA = 1e-12
"""How far down a group's profile is followed."""

ROUNDS = 3
"""How often the grid is made finer."""

LARGEST = 1e100
"""Parameter of a profile for a group; larger ones promise nothing."""

STEEPEST = 600.0
"""Larger epsilons are not looked at: their exponential is no number any more."""

ROUNDED_UP = 1 + 1e-11
"""Far above the rounding of the additions and products behind one delta."""


def group_delta(profile: Profile, size: int, epsilon: float) -> float:
    """Return delta at ``epsilon`` for ``size`` records that change together, never below the truth.

    Parameters
    ----------
    profile
        What is promised of one record.
    size
        How many records, at least one.
    epsilon
        Where delta is asked for, at least zero.

    Examples
    --------
    >>> round(group_delta(Gaussian(0.2), 5, 3.0) / Gaussian(1.0).delta(3.0), 9)
    1.0
    """
    _checks.whole(size=size, at_least=1)
    _checks.not_negative(epsilon=epsilon)
    closed = _closed_form(profile, size)
    if closed is not None:
        return closed.delta(epsilon)
    if epsilon >= size * profile.pure_epsilon:
        return 0.0
    return float(_on_chord(*_curve(profile, size), np.array(epsilon)))


def group_epsilon(profile: Profile, size: int, delta: float) -> float:
    """Return an epsilon at ``delta`` for records that change together; infinite if there is none.

    Parameters
    ----------
    profile
        What is promised of one record.
    size
        How many records, at least one.
    delta
        From zero to one; at zero the answer is ``size`` times the pure epsilon.

    Examples
    --------
    >>> from discreet.privacy import Pure
    >>> group_epsilon(Pure(0.5), 3, 0.0)
    1.5
    """
    _checks.whole(size=size, at_least=1)
    _checks.delta(delta=delta)
    pure = _times(size, profile.pure_epsilon)
    if delta == 0:
        return pure
    closed = _closed_form(profile, size)
    if closed is not None:
        return min(pure, closed.epsilon(delta))
    points, deltas = _curve(profile, size)
    enough = np.flatnonzero(deltas <= delta)
    if enough.size == 0:
        return pure
    high = float(points[enough[0]])
    low = float(points[max(enough[0] - 1, 0)])
    while high - low > 1e-9 * max(high, 1e-9) and low < (middle := (low + high) / 2) < high:
        meets = float(_on_chord(points, deltas, np.array(middle))) <= delta
        low, high = (low, middle) if meets else (middle, high)
    return min(pure, high)


@lru_cache(maxsize=1024)  # the same plan is often charged many times, as in a grid search
def group_profile(profile: Profile, size: int, delta: float) -> Profile:
    """Return a profile for records that change together: whole if it has a closed form, or a point.

    Parameters
    ----------
    profile
        What is promised of one record.
    size
        How many records, at least one.
    delta
        Where the point is looked for, if all that can be had is one.

    Examples
    --------
    >>> group_profile(Pure(0.5), 3, 0.0), group_profile(Approximate(0.5, 1e-9), 1, 1e-9)
    (Pure(level=1.5), Approximate(level=0.5, exception=1e-09))
    """
    _checks.whole(size=size, at_least=1)
    closed = _closed_form(profile, size)
    if closed is not None:
        return closed
    if math.isfinite(profile.pure_epsilon):
        return _point(_times(size, profile.pure_epsilon), 0.0)
    stated = profile.ideal
    level = stated.level if isinstance(stated, Approximate) else stated.pure_epsilon
    if math.isfinite(level):
        exception = profile.delta(level) * _powers(size, level) * ROUNDED_UP
        return _point(_times(size, level), exception)
    return _point(group_epsilon(profile, size, delta), delta)


def _times(size: int, epsilon: float) -> float:
    """Return a multiple of an epsilon as it is written, rounded up: three times 0.1 is 0.3."""
    if not math.isfinite(epsilon):
        return epsilon
    exact = size * Decimal(repr(float(epsilon)))
    found = float(exact)
    return found if Decimal(repr(found)) >= exact else math.nextafter(found, math.inf)


def _point(epsilon: float, delta: float) -> Profile:
    """Return what an epsilon at a delta promises; nothing if they are too large."""
    if not math.isfinite(epsilon) or delta >= 1:
        return NoPrivacy()
    return Approximate(epsilon, delta) if delta else Pure(epsilon)


def _closed_form(profile: Profile, size: int) -> Profile | None:
    if size == 1:
        return profile
    if isinstance(profile.ideal, Gaussian):
        # a hair more than the product, which is rounded
        mu = math.nextafter(size * profile.ideal.mu, math.inf)
        distance = min(1.0, 2 * size * profile.distance)
        return within(Gaussian(mu), distance) if distance else Gaussian(mu)
    match profile:
        case Laplace(level=level) if size * level < LARGEST:
            return Laplace(_times(size, level))
        case BoundedRange(span=span, draws=draws, is_pure=is_pure) if size * span < LARGEST:
            return BoundedRange(_times(size, span), draws, is_pure)
        case ZeroConcentrated(rho=rho) if size**2 * rho < LARGEST:
            return ZeroConcentrated(math.nextafter(size**2 * rho, math.inf))
    return None


def _powers(size: int, epsilon: float) -> float:
    """Return 1 + e**epsilon + ..., as many terms as records: what an equal split costs."""
    if (size - 1) * epsilon > STEEPEST:
        return math.inf
    return float(np.exp(np.arange(size) * epsilon).sum())


@lru_cache(maxsize=32)
def _curve(profile: Profile, size: int) -> tuple[Vector, Vector]:
    """Return epsilons from zero on, and the group's delta at each; finer where it is larger."""
    each = np.geomspace(1e-4, STEEPEST / size, 200)
    costs = _equal_split(profile, size, each)
    enough = np.flatnonzero(costs <= LEAST_DELTA)
    end = size * float(each[enough[0]] if enough.size else each[np.argmin(costs)])
    for _ in range(ROUNDS):
        points, deltas = _curve_to(profile, size, end)
        enough = np.flatnonzero(deltas <= LEAST_DELTA)
        if enough.size == 0 or points[enough[0]] > 0.8 * end:
            break
        end = float(points[enough[0]])
    return points, deltas


def _curve_to(profile: Profile, size: int, end: float) -> tuple[Vector, Vector]:
    points = np.arange(-CELLS, CELLS + 1).astype(np.float64) * (end / CELLS)
    power, found = _single(profile, points), None
    for digit in reversed(f"{size:b}"):
        if digit == "1":
            found = power if found is None else _chain(points, found, power)
        power = _chain(points, power, power)
    from_zero = points[CELLS:]
    best = _equal_split(profile, size, from_zero / size)
    if found is not None:
        best = np.minimum(best, found[CELLS:] * ROUNDED_UP)
    return from_zero, np.minimum.accumulate(np.minimum(best, 1.0))


def _single(profile: Profile, points: Vector) -> Vector:
    """Return the profile of one record at epsilons; on chords of a table where that takes long."""
    if profile.ideal.is_closed_form:
        return profile.deltas(points)
    table = tabulate(profile)
    size = np.abs(points)
    bound = _on_chord(*table, size)
    return np.where(points >= 0, bound, 1 - np.exp(-size) * (1 - bound))


def _equal_split(profile: Profile, size: int, each: Vector) -> Vector:
    """Return the group's delta at ``size`` times each epsilon, if every record has as much."""
    powers = np.array([_powers(size, epsilon) for epsilon in each.tolist()])
    deltas = _single(profile, each)
    return np.where(deltas > 0, np.minimum(deltas * powers * ROUNDED_UP, 1.0), 0.0)


def _chain(points: Vector, first: Vector, second: Vector) -> Vector:
    """Return the profile of a chain of two, at the points of an even grid about zero."""
    before, last = np.ones(points.size), np.full(points.size, second[-1])
    padded = np.concatenate([before, second, last])  # beyond the grid: one, and no less than there
    middle = points.size // 2
    found = np.ones(points.size)
    for place, (delta, factor) in enumerate(zip(first, np.exp(points), strict=True)):
        shift = points.size - (place - middle)
        np.minimum(found, delta + factor * padded[shift : shift + points.size], out=found)
    return found


def _on_chord(points: Vector, deltas: Vector, epsilons: Vector) -> Vector:
    """Return delta between points, linear in e**epsilon; beyond the last, that of the last."""
    inside = np.minimum(epsilons, points[-1])
    place = np.clip(np.searchsorted(points, inside, side="right") - 1, 0, points.size - 2)
    low, high = points[place], points[place + 1]
    share = np.expm1(inside - low) / np.expm1(high - low)
    found = deltas[place] + share * (deltas[place + 1] - deltas[place])
    return np.asarray(np.minimum(found * ROUNDED_UP, 1.0))
