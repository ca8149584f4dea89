"""Least squares of all records so far, from noisy sums; proof in ``online_quadratic.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.losses import Squared
from discreet.mechanisms.base import YES, Verdict, grid_tolerances
from discreet.mechanisms.interactive import (
    InteractiveMechanism,
    InteractivePlan,
    Session,
    stream_facts,
)
from discreet.mechanisms.minimising.spectrum import Spectrum
from discreet.mechanisms.streaming.open_batch import RecordMoments
from discreet.mechanisms.streaming.prefix_calibration import PrefixRelease, calibrate_prefix
from discreet.mechanisms.streaming.prefix_factor import ONCE
from discreet.mechanisms.streaming.running_sums import SummingSession
from discreet.mechanisms.streaming.tree_factor import FACTORS, choose_factor
from discreet.mechanisms.sufficient_statistics import LONGEST_ROW, SHORTEST_ROW
from discreet.mechanisms.summing.moments import Moments
from discreet.noise import Noise
from discreet.penalties import Indicator
from discreet.privacy import Budget, Guarantee, NoPrivacy, Unit
from discreet.questions import Problem, Question, Stream
from discreet.record import Tolerance

MOST_COLUMNS = 1024
"""X'X is kept, and decomposed for every answer."""

MOST_RECORDS = 2**22
"""Of a batch, whose products are whole numbers up to 2**40 each."""


class OnlineQuadraticSession(SummingSession):
    """The noisy running sums, from which an answer is made when it is asked for."""

    def __init__(self, plan: OnlineQuadraticPlan, noise: Noise) -> None:
        super().__init__(plan.question, plan.records, plan.release, noise)
        self._plan = plan
        self._answer: Vector | None = None
        self._go_to(np.zeros(plan.records.width))

    def _follow(self, total: Vector, step: int) -> Vector:
        self._answer = None
        return total

    def answer(self) -> Vector:
        if self._answer is None:
            self._answer = self._plan.solve(self._public, self._sums.taken)
        return self._answer


@dataclass(frozen=True, eq=False)
class OnlineQuadraticPlan(InteractivePlan):
    """The noise of running sums of X'X and X'y, and the equations made of them."""

    question: Stream
    moments: Moments
    release: PrefixRelease | None  # None if there is no noise, and no privacy
    guarantee: Guarantee
    reason: str

    @cached_property
    def records(self) -> RecordMoments:
        return RecordMoments(self.moments)

    @property
    def sensitivity(self) -> float:
        """How far, in l2, what the Gaussian mechanism sees can be from that of a neighbour."""
        return 0.0 if self.release is None else self.release.sensitivity

    @property
    def deviation(self) -> float:
        """The deviation of an entry of a running sum, over all steps; scaled as the moments are."""
        return 0.0 if self.release is None else self.release.usual_deviation

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        grid = None if self.release is None else self.release.grid
        return grid_tolerances(grid, "the noise on running sums of scaled moments")

    @property
    def regret(self) -> float:
        """The bound on the expected regret over all records, in the largest terms of the note."""
        problem, horizon = self.question.problem, self.question.horizon
        far, curved = domain_of(problem), problem.ridge / horizon
        square, product = self.moments.gram_size, self.moments.product_size
        steepest = square * far + product + curved * far
        noise = self.deviation * math.sqrt(problem.width)
        lost = steepest + noise * (math.sqrt(2) * square * far + product)
        return steepest * (far + lost / curved * (1 + math.log(horizon)))

    def solve(self, noisy: Vector, step: int) -> Vector:
        """Return the minimiser of the noisy quadratic over the domain: post-processing.

        Negative eigenvalues count as zero. Beside the share of the ridge that belongs to the
        records so far there is half the operator norm that the noise is expected to have.
        """
        if step == 0:
            return np.zeros(self.moments.width)
        gram, product = self.moments.matrices(noisy)
        spectrum = Spectrum.of(gram)
        ridge = self.moments.ridge * step / self.question.updates
        ridge += self.deviation * math.sqrt(self.moments.width / 2)
        radius = domain_of(self.question.problem)
        radius *= self.moments.gram_size / self.moments.product_size
        ridge += spectrum.multiplier(product, ridge, radius)
        return self.moments.coefficients(spectrum.solve(product, ridge))

    def start(self, noise: Noise) -> Session:
        return OnlineQuadraticSession(self, noise)

    def _unpack(self, packed: Mapping[str, Any], noise: Noise) -> Session:
        return OnlineQuadraticSession(self, noise).unpack(packed)


@dataclass(frozen=True)
class OnlineQuadratic(InteractiveMechanism):
    """Online least squares whose regret grows with the logarithm of the stream only.

    The squared loss is known from X'X and X'y, which do not depend on coefficients: their running
    sums are released with correlated noise, and an answer is the exact minimiser of what they say.

    Parameters
    ----------
    factor
        Which noise is added to which sum: ``"square_root"``, ``"tree"``, ``"band"``, or ``"auto"``.
    band
        How many steps the noise of a band reaches. Only with ``"band"``.

    Examples
    --------
    >>> from discreet.data import Bounds, Interval
    >>> from discreet.privacy import ReplaceOne
    >>> bounds = Bounds(L2Ball(1.0), 5, labels=Interval(-1, 1))
    >>> problem = Problem(Squared(1.0), bounds, ridge=10.0, penalty=Indicator(L2Ball(1.0)))
    >>> plan = OnlineQuadratic().plan(
    ...     Stream(problem, horizon=1000), Budget(1.0, 1e-6), ReplaceOne()
    ... )
    >>> plan.reason, round(plan.release.grid.scale, 1)
    ("square root noise on 1,000 running sums of X'X and X'y", 16.2)
    """

    name: ClassVar[str] = "online_quadratic"

    factor: str = "auto"
    band: int | None = None

    def __post_init__(self) -> None:
        _checks.one_of(FACTORS, factor=self.factor)
        if self.band is not None:
            _checks.whole(band=self.band, at_least=1)
            if self.factor != "band":
                raise InputError('state band only with factor="band".')

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, Stream):
            return Verdict(False, "online_quadratic learns from streams; state a Stream.")
        problem = question.problem
        if not isinstance(problem.loss, Squared):
            return Verdict(
                False,
                f"{problem.loss!r} has no finite statistics that say all; use Squared, or "
                "follow_the_leader.",
            )
        if not math.isfinite(domain_of(problem)):
            return Verdict(
                False,
                "online_quadratic needs a ball for the coefficients; state penalty="
                "Indicator(L2Ball(...)).",
            )
        if problem.width > MOST_COLUMNS:
            return Verdict(
                False,
                f"X'X of {problem.width} columns is too large to be solved for every answer: "
                f"online_quadratic takes at most {MOST_COLUMNS}. Use follow_the_leader.",
            )
        if not SHORTEST_ROW <= problem.row_norm <= LONGEST_ROW:
            return Verdict(False, "rows this long or short cannot be squared safely; rescale them.")
        if question.batch > MOST_RECORDS:
            return Verdict(
                False, f"sums of a batch fit 64 bits up to {MOST_RECORDS:,} records; use fewer."
            )
        return YES

    def _plan(self, question: Stream, budget: Budget, unit: Unit) -> OnlineQuadraticPlan:
        facts = stream_facts(question, unit)
        bounds = replace(question.bounds, max_rows=question.batch)
        moments = Moments(question.problem.restate(bounds), unit, order=2)
        if not budget.is_private:
            guarantee = Guarantee(NoPrivacy(), unit, facts)
            return OnlineQuadraticPlan(question, moments, None, guarantee, "running sums")
        factor = choose_factor(self.factor, question.updates, moments.dimension, self.band, ONCE)
        release = calibrate_prefix(
            factor,
            budget,
            width=moments.dimension,
            apart=unit.spread(moments.contribution, diameter=moments.diameter) * (1 + 2.0**-40),
            bound=math.sqrt(2) * question.batch * (1 + 2.0**-20),
        )
        return OnlineQuadraticPlan(
            question,
            moments,
            release,
            Guarantee(release.profile, unit, facts, quoted_delta=budget.delta),
            f"{factor.name} noise on {question.updates:,} running sums of X'X and X'y",
        )


def domain_of(problem: Problem) -> float:
    """Return the radius of the ball that coefficients are kept in; infinite if it is none."""
    if problem.penalty is None:
        return problem.radius
    if isinstance(problem.penalty, Indicator) and isinstance(problem.penalty.region, L2Ball):
        return min(problem.radius, problem.domain_radius)
    return math.inf
