"""A kernel model built up where it errs most on a public net; proof in ``net_updates.md``."""

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
from discreet.geometry import limits
from discreet.mechanisms.base import YES, Mechanism, Plan, Verdict, grid_tolerances, public_facts
from discreet.mechanisms.minimising.kernel_minimiser import KernelMinimiser, accepts_kernel
from discreet.mechanisms.minimising.mask import solver_tolerance
from discreet.mechanisms.query_answering import SMALLEST_SHARE
from discreet.noise import Grid, Noise, distance_of_gaussian, gaussian_grid, release_gaussian
from discreet.privacy import (
    Budget,
    Guarantee,
    NoPrivacy,
    Profile,
    Unit,
    ZeroConcentrated,
    calibrate,
    within,
)
from discreet.questions import KernelQueries, Question
from discreet.record import Tolerance

MOST_NET = 2**14
MOST_ROUNDS = 1000
SCORE_STEPS = 2**16
"""What one record can do to a gap, in units of scores."""

MOST_UNITS = 2.0**48
NOWHERE = -1.0
"""Stands in a release for rounds after the last."""


@dataclass(frozen=True, eq=False)
class NetUpdatesPlan(Plan):
    """How fast chances rise with the gap, the grid of answers, and when to stop.

    What is released is, for each round, the number of a point of the net and a noisy prediction
    there; -1 and 0 after the last round.
    """

    minimiser: KernelMinimiser
    net: Array
    rate: Fraction | None  # None without noise
    unit_score: float
    grid: Grid | None
    sensitivity: float  # of a prediction, rounding included
    threshold: float
    guarantee: Guarantee

    holds_rows = True

    @property
    def rounds(self) -> int:
        """How many rounds there are at most."""
        return self.minimiser.question.max_answers

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (
            solver_tolerance(self.minimiser.radius),
            Tolerance("gap at which the public model is good enough", self.threshold),
            *grid_tolerances(self.grid, "an answer"),
        )

    def chance_of_update(self, prediction: float) -> float:
        """Return how likely a first round is not the last, if predictions are so large at most."""
        if self.grid is None:
            return 1.0
        gaps = (self.threshold - prediction, self.threshold + prediction)
        return math.fsum(math.erfc(gap / self.grid.scale / math.sqrt(2)) / 2 for gap in gaps)

    def run(self, rows: OpenRows, noise: Noise) -> Array:
        return self._answer(self.minimiser.solve(rows).evaluate(self.net), noise)

    def run_many(self, rows: OpenRows, noise: Noise, draws: int) -> Array:
        predictions = self.minimiser.solve(rows).evaluate(self.net)
        return np.array([self._answer(predictions, noise) for _ in range(draws)])

    def _answer(self, predictions: Vector, noise: Noise) -> Array:
        released = np.tile([NOWHERE, 0.0], (self.rounds, 1))
        model = NetModel(self.minimiser.question, self.net)
        for line in released:
            place = self._choose(np.abs(predictions - model.values), noise)
            answer = self._hide(float(predictions[place]), noise)
            line[:] = place, answer  # public from here on
            if not model.update(place, answer, self.threshold):
                break
        return released

    def _choose(self, gaps: Vector, noise: Noise) -> int:
        if self.rate is None:
            return int(np.argmax(gaps))
        scores = np.rint(np.minimum(gaps / self.unit_score, MOST_UNITS)).astype(np.int64)
        behind: Integers = scores.max() - scores
        which, _ = noise.candidates(np.ones_like(behind), behind, self.rate, 1)
        return int(which[0])

    def _hide(self, prediction: float, noise: Noise) -> float:
        if self.grid is None:
            return prediction
        return float(release_gaussian([prediction], self.grid, noise)[0])


class NetModel:
    """The public model: a function of released numbers alone."""

    def __init__(self, question: KernelQueries, net: Array) -> None:
        self._kernel, self._net = question.kernel, net
        self._squares = question.kernel.diagonal(net)
        self.values: Vector = np.zeros(len(net))
        self.coefficients: Vector = np.zeros(len(net))

    def update(self, place: int, answer: float, threshold: float) -> bool:
        """Make the model agree with an answer (a step of Kaczmarz); say whether to go on."""
        gap = answer - float(self.values[place])
        square = float(self._squares[place])
        if abs(gap) <= threshold or not square > SMALLEST_SHARE * self._kernel.reach**2:
            return False
        step = gap / square
        self.coefficients[place] += step
        self.values += step * self._kernel.evaluate(self._net, self._net[place : place + 1])[:, 0]
        return True


def rebuild(question: KernelQueries, net: Array, value: Array) -> NetModel:
    """Return the public model that belongs to a release.

    If there are fewer rounds than there may be, the last one was only to see that the model is near
    enough.
    """
    model, answered = NetModel(question, net), value[value[:, 0] != NOWHERE]
    if len(answered) < len(value):
        answered = answered[:-1]
    for place, answer in answered:
        model.update(int(place), float(answer), threshold=-1.0)
    return model


@dataclass(frozen=True)
class NetUpdates(Mechanism):
    """A public kernel model, corrected round by round where it errs most on a public net.

    A reference: the non-interactive algorithm of Jain and Thakurta, reconstructed. It is dominated,
    at every budget that matters, by :class:`ProjectedKernel` on the same points.

    Parameters
    ----------
    patience
        The model stops when an answer is within so many deviations of the noise of it; zero for
        all rounds.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Hinge
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> kernel, net = BoundedKernel(RBF(2.0), 1.0), ((-1.0,), (0.0,), (1.0,))
    >>> question = KernelQueries(Hinge(), bounds, 20.0, kernel, max_answers=2, points=net)
    >>> plan = NetUpdates().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> plan.rounds, round(plan.grid.scale, 2)
    (2, 0.45)
    """

    name: ClassVar[str] = "net_updates"

    patience: float = 2.0

    def __post_init__(self) -> None:
        _checks.not_negative(patience=self.patience)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, KernelQueries):
            return Verdict(False, "net_updates answers KernelQueries about a public net.")
        if not 1 <= len(question.points) <= MOST_NET or question.max_answers > MOST_ROUNDS:
            return Verdict(
                False,
                f"net_updates needs a public net of 1 to {MOST_NET:,} points and at most "
                f"{MOST_ROUNDS:,} answers; use projected_kernel.",
            )
        return accepts_kernel(question) and YES

    def _plan(self, question: KernelQueries, budget: Budget, unit: Unit) -> NetUpdatesPlan:
        minimiser, net = KernelMinimiser(question), question.accept(np.array(question.points))
        reach = question.kernel.reach
        moved = limits.round_up(reach * minimiser.apart(unit) + 2 * minimiser.evaluation_error)
        if not budget.is_private:
            nothing = Guarantee(NoPrivacy(), unit)
            return NetUpdatesPlan(minimiser, net, None, 1.0, None, 0.0, 0.0, nothing)
        if not budget.delta > 0:
            raise CalibrationError("Gaussian noise needs delta > 0; allow a small delta.")
        rounds = question.max_answers
        distance = distance_of_gaussian(rounds)

        def profile_of(noise: float) -> Profile:
            return within(ZeroConcentrated(1 / (2 * noise**2)), distance)

        noise = calibrate(profile_of, budget)
        share = 1 / (2 * noise**2) / rounds / 2  # of zCDP, for one draw and for one answer
        span = math.sqrt(8 * share) * (1 - 1e-12)
        grid = gaussian_grid(
            multiplier=1 / math.sqrt(2 * share) * (1 + 1e-12),
            sensitivity=moved,
            dimension=1,
            bound=1.01 * (question.reach + minimiser.evaluation_error),
        )
        facts = (
            *public_facts(question.bounds, unit),
            "the points of the net",
            "that the kernel is positive semidefinite",
            *question.kernel.assumed,
            *question.assumed,
        )
        return NetUpdatesPlan(
            minimiser,
            net,
            Fraction(span) / (2 * (SCORE_STEPS + 2)),
            moved / SCORE_STEPS,
            grid,
            limits.round_up(moved + grid.spread_l2(1)),
            self.patience * grid.scale,
            Guarantee(profile_of(noise), unit, facts, quoted_delta=budget.delta),
        )
