r"""Steps towards corners of an l1 ball, each drawn privately; proof in ``frank_wolfe.md``.

One of very many candidates, each with either sign, is drawn by the exponential mechanism.
Candidate j with the sign s has chance proportional to :math:`e^{r s u_j}`. Candidates are put into
bands of scores, a band no wider than 1/r; a band is proposed with its size times the chance of its
best edge, a member of it uniformly, and that is kept with the chance by which it is behind the
edge: at least 1/e. Candidates far behind share the last band. So the law is exact, and a draw costs
a few passes over integers, without an exponential of each candidate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Integers, Vector
from discreet.data import OpenRows
from discreet.errors import CalibrationError
from discreet.mechanisms.base import (
    TABLE_UNITS,
    YES,
    Mechanism,
    Plan,
    Verdict,
    public_facts,
)
from discreet.mechanisms.sampling.sampled_model import span_of_columns
from discreet.mechanisms.summing.rounded_slopes import RoundedSlopes
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import L1Problem, Question
from discreet.record import Tolerance

USUAL_STEPS = 32
MOST_STEPS = 2**12
"""With more steps a coefficient may not fit the whole numbers that margins are made of."""


@dataclass(frozen=True, eq=False)
class FrankWolfePlan(Plan):
    """How many steps, and how fast the chance of a corner falls with the slope towards it.

    What is released is a corner for each step: the number of a column counted from one, with a
    sign.
    """

    question: L1Problem
    steps: int
    rate: Fraction | None  # None if nothing is to be hidden
    guarantee: Guarantee
    reason: str = ""

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        if self.rate is None:
            return ()
        slopes = RoundedSlopes(self.question)
        slope = slopes.slope * slopes.entry / float(self.rate)
        return (Tolerance("temperature: the sum of slopes by which a chance falls by e", slope),)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        sums = RoundedSlopes(self.question).of(rows)
        corners = np.zeros(self.steps)
        for step in range(1, self.steps + 1):
            place, sign = draw_signed(-sums.totals(), self.rate, noise)  # public from here on
            corners[step - 1] = sign * (place + 1)
            sums.move(place, sign * (step + 1), weight_of_corners(self.question.radius, step))
        return corners

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        if self.steps > 1 or self.rate is None:
            return np.array([self.run(rows, noise) for _ in range(draws)])
        slopes = RoundedSlopes(self.question).of(rows).totals()
        behind = np.concatenate([slopes, -slopes]) + np.abs(slopes).max()
        which, _ = noise.candidates(np.ones_like(behind), behind, self.rate, draws)
        place, side = which % slopes.size, which // slopes.size
        return ((1 - 2 * side) * (place + 1)).astype(np.float64)[:, None]


def weight_of_corners(radius: float, steps: int) -> float:
    r"""Return what one unit of a corner's weight stands for after so many steps.

    Steps of :math:`2/(t + 2)` leave the k-th corner the weight :math:`2(k + 1)/((t + 1)(t + 2))`,
    so coefficients are whole numbers times this.
    """
    return 2 * radius / ((steps + 1) * (steps + 2))


def average_of_corners(corners: Array, radius: float, width: int) -> Vector:
    """Return the coefficients that steps towards these corners lead to, from zero.

    Examples
    --------
    >>> average_of_corners(np.array([2.0, -1.0]), radius=1.0, width=3)
    array([-0.5       ,  0.33333333,  0.        ])
    """
    signed = np.asarray(corners).astype(np.int64)
    weights: Integers = np.sign(signed) * np.arange(2, signed.size + 2)
    whole = np.zeros(width)
    np.add.at(whole, np.abs(signed) - 1, weights)
    return whole * weight_of_corners(radius, signed.size)


def choose_steps(problem: L1Problem, budget: Budget, unit: Unit, rows: int) -> int:
    r"""Return the number of steps at which the bound on the excess risk is least: a public rule.

    With b the score that makes a chance smaller by e, per row, the mean loss exceeds the least one
    in the ball by at most :math:`2 C/(T + 2) + b (\ln 2p + 1)` in expectation, where b grows with
    the root of T (or with T, for a pure budget). The curvature C is that of the worst rows;
    ``TYPICAL`` of it is what rows mostly have.
    """
    _checks.whole(rows=rows, at_least=1)
    if not budget.is_private:
        return MOST_FREE_STEPS
    bend = TYPICAL * problem.curvature / 2
    slope = 2 * unit.spread(problem.radius * problem.lipschitz * problem.entry_bound) / rows
    missed = slope * (math.log(2 * problem.bounds.width) + 1)
    # Of many steps the range falls with their root if delta is used, and with their number if not.
    many = span_of_columns(budget, MANY_STEPS)[0] * math.sqrt(MANY_STEPS) if budget.delta else 0.0

    def excess(steps: int) -> float:
        span = max(budget.epsilon / steps, many / math.sqrt(steps))
        return 2 * bend / (steps + 2) + missed / span

    return min(range(1, MANY_STEPS + 1), key=excess)


TYPICAL = 0.1
"""What mean squares of entries are of the square of their bound, in typical tables."""

MOST_FREE_STEPS = 1000
"""Steps if there is no noise that more of them would add to."""

MANY_STEPS = 500
"""More steps are not chosen by the rule."""


@dataclass(frozen=True)
class FrankWolfe(Mechanism):
    """A lasso by steps towards corners of its ball, each drawn by the exponential mechanism.

    Parameters
    ----------
    steps
        How many; they share the budget, and at most so many coefficients are not zero.
        ``choose_steps`` has a rule from public facts.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.losses import Huber
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, Interval
    >>> bounds = Bounds(LinfBall(1.0), n_features=10**6, labels=Interval(-1, 1))
    >>> problem = L1Problem(Huber(0.5), bounds, radius=1.0)
    >>> plan = FrankWolfe(steps=40).plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3), plan.reason
    (1.0, '40 draws cost less as zCDP than as pure epsilon')
    """

    name: ClassVar[str] = "frank_wolfe"
    units = TABLE_UNITS

    steps: int = USUAL_STEPS

    def __post_init__(self) -> None:
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if isinstance(question, L1Problem):
            return YES
        return Verdict(False, "frank_wolfe learns in an l1 ball; state an L1Problem.")

    def _plan(self, question: L1Problem, budget: Budget, unit: Unit) -> FrankWolfePlan:
        if not budget.is_private:
            return FrankWolfePlan(question, self.steps, None, Guarantee(NoPrivacy(), unit))
        span, profile, reason = span_of_columns(budget, self.steps)
        # One corner gains as much as the opposite one loses.
        rate = round_rate(Fraction(span) / (2 * RoundedSlopes(question).sensitivity(unit)))
        facts = (*public_facts(question.bounds, unit), *question.assumed)
        guarantee = Guarantee(profile, unit, facts, budget.delta or 1e-9)
        return FrankWolfePlan(question, self.steps, rate, guarantee, reason)


BANDS = 64
"""All that is further behind than so many bands, where chances are below e**-31, is one band."""

RATE_BITS = 20
"""Significant bits of a rate."""

MOST_SHIFT, LEAST_STEPS = 62, 2**10
"""A rate is a whole number of at least 2**10 over at most 2**62, which coins can be made of."""

PROPOSALS = 8
"""Candidates proposed at once; the first that is kept counts."""

FEW = 2**12
"""Up to so many candidates, an exponential of each is faster than bands."""

MOST_COIN = 2**62
"""A coin whose numerator is larger is flipped as several."""


def round_rate(rate: Fraction) -> Fraction:
    """Return a rate with few bits, at most as large: chances then differ less, never more.

    Examples
    --------
    >>> rate = round_rate(Fraction(1, 3))
    >>> rate <= Fraction(1, 3), rate.denominator.bit_length() <= 22
    (True, True)
    """
    shift = min(_shift_of(rate) + RATE_BITS, MOST_SHIFT)
    rounded = (rate.numerator << shift) // rate.denominator
    if rounded < LEAST_STEPS:
        raise CalibrationError("epsilon is too small for these draws; use a larger one.")
    return Fraction(rounded, 1 << shift)


def _shift_of(rate: Fraction) -> int:
    """Return the largest k of which a band of 2**k scores is no wider than one over the rate."""
    return max((rate.denominator // rate.numerator).bit_length() - 1, 0)


def draw_signed(scores: Integers, rate: Fraction | None, noise: Noise) -> tuple[int, int]:
    """Draw a candidate and its sign, with chance proportional to exp(rate * sign * score)."""
    most, least = int(scores.max()), int(scores.min())
    if rate is None:
        if most >= -least:
            return int(np.argmax(scores)), 1
        return int(np.argmin(scores)), -1
    best = max(most, -least)
    if scores.size <= FEW:
        behind = np.concatenate([best - scores, best + scores])
        which = int(noise.candidates(np.ones_like(behind), behind, rate)[0][0])
        return which % scores.size, 1 - 2 * (which // scores.size)
    return _draw_from_bands(scores, best, rate, noise)


def _draw_from_bands(scores: Integers, best: int, rate: Fraction, noise: Noise) -> tuple[int, int]:
    shift = _shift_of(rate)
    bands = [_bands_of(best - scores, shift), _bands_of(best + scores, shift)]
    counts = np.concatenate([np.bincount(part, minlength=BANDS) for part in bands])
    filled = np.flatnonzero(counts)
    edges = (filled % BANDS).astype(np.int64) << shift
    while True:
        groups, members = noise.candidates(counts[filled], edges, rate, PROPOSALS)
        for group, member in zip(groups.tolist(), members.tolist(), strict=True):
            side, band = divmod(int(filled[group]), BANDS)
            place = int(np.flatnonzero(bands[side] == band)[member])
            sign = 1 - 2 * side
            behind = best - sign * int(scores[place]) - int(edges[group])
            if _keeps(behind, rate, noise):
                return place, sign


def _bands_of(behind: Integers, shift: int) -> Integers:
    behind >>= shift
    np.minimum(behind, BANDS - 1, out=behind)
    return behind.astype(np.uint8)


def _keeps(behind: int, rate: Fraction, noise: Noise) -> bool:
    """Flip a coin of chance exp(-behind * rate), as several coins if the number is large."""
    left = behind * rate.numerator
    while left > 0:
        part = min(left, MOST_COIN)
        if not noise.coins(np.array([part], dtype=np.int64), rate.denominator)[0]:
            return False
        left -= part
    return True
