"""Marginals first, then a model of functions made of them; proof in ``additive_model.md``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.geometry import ConvexSet, L2Ball, LinfBall
from discreet.mechanisms.additive_objectives import (
    AdditiveObjective,
    NumericTarget,
    SecondPlan,
    SecondShare,
    TwoClasses,
)
from discreet.mechanisms.additive_pure import PureSecond, region_of
from discreet.mechanisms.additive_release import AdditiveRelease, limits_of, scores_of
from discreet.mechanisms.additive_softmax import SeveralClasses
from discreet.mechanisms.base import TABLE_UNITS, YES, Mechanism, Plan, Verdict, grid_tolerances
from discreet.mechanisms.marginal_splits import SplitNoise
from discreet.mechanisms.summing.additive_tables import (
    UNIT_BALL,
    AdditiveFrame,
    make_frame,
    widest_frame,
)
from discreet.mechanisms.summing.dyadic_splits import SplitLayout
from discreet.mechanisms.summing.released_marginals import ReleasedMarginals, read_marginals
from discreet.mechanisms.summing.score_counts import COUNTED_SHARE, ScoreCounts
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Profile, Unit, compose, gaussian_multiplier
from discreet.questions import AdditiveProblem, Interval, Labels, LabelSet, Question
from discreet.questions.bounds import Bounds
from discreet.record import Tolerance

MARGINAL_SHARE = 0.09
"""The share of mu squared that goes into the marginals."""

PURE_SHARE = 0.1
"""The share of a pure epsilon that goes into the marginals."""

WIDEST = 1e100
"""Scores are not clipped: tables and constants are numbers, and far smaller."""

MOST_FITS = 100
"""Of one release; the noise of each grows with the root of their number."""


@dataclass(frozen=True, eq=False)
class AdditiveModelPlan(Plan):
    """Noisy marginals, then coefficients of functions in the frame that they give.

    What is released: the marginals' numbers, then what they settled, then coefficients in the frame
    (the constant's last), those of each class and each fit followed by zeros up to the most
    there can be; then counts of scores, if they are asked for. ``read`` takes it apart.
    """

    question: AdditiveProblem
    noise: SplitNoise
    second: SecondPlan | PureSecond  # of one fit
    guarantee: Guarantee
    reason: str = ""
    fits: int = 1
    counts: ScoreCounts | None = None

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        first = self.noise.tolerances
        if self.counts is not None:
            first += grid_tolerances(self.counts.grid, "the noise on counts of scores")
        return (*first, *self.second.tolerances)

    @property
    def widest(self) -> int:
        """The most coefficients that one problem can have."""
        return widest_of(self.question)

    @property
    def objective(self) -> AdditiveObjective[Any]:
        """What is minimised, by the kind of labels."""
        return objective_of(self.question)

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        numbers = self.noise.hide(self.noise.layout.count(rows), noise)[0]
        marginals = self.marginals(numbers)  # public from here on: made of noisy numbers alone
        frame, settings = self._settle(marginals)
        coefficients = self.run_in(frame, settings, rows, noise)
        padded = np.zeros((*coefficients.shape[:-1], self.widest))
        padded[..., : coefficients.shape[-1]] = coefficients
        value = np.concatenate([numbers, astuple(settings), padded.ravel()])
        if self.counts is None:
            return value
        read = self._read_in(frame, settings, marginals, value)
        return np.append(value, self._count_scores(rows, read, noise))

    def run_in(self, frame: AdditiveFrame, settings: Any, rows: OpenRows, noise: Noise) -> Array:
        """Return coefficients in a frame that is public, with noise: by problem and by repeat."""
        objective, bounds = self.objective, self._bounds(frame.region, frame.width + 1)
        plan: Plan
        if isinstance(self.second, PureSecond):
            plan = self.second.settle(settings, bounds)
        else:
            plan = objective.settle_second(self.second, settings, bounds)
        framed = objective.place(rows, settings).transform(frame.apply_within, bounds)
        found = [np.atleast_2d(plan.run(framed, noise)) for _ in range(self.fits)]
        return np.stack(found, axis=1)

    def _bounds(self, region: ConvexSet, width: int) -> Bounds:
        return bounds_within(self.question, region, width, self.objective.labels)

    def _count_scores(self, rows: OpenRows, read: AdditiveRelease, noise: Noise) -> Vector:
        """Return noisy counts of rows by class and score, which the coefficients give them."""
        counts = self.counts
        if counts is None:
            raise PrivacyError("scores were counted that no budget was planned for.")
        shapes, constant = read.shapes()
        frame = scores_of(read.frame, shapes, read.pair_weights()[0])
        scored = rows.transform(frame.apply, self._bounds(limits_of(frame), frame.width + 1))
        return counts.release(scored, np.append(np.ones(frame.width), constant), noise)

    def marginals(self, released: Vector) -> ReleasedMarginals:
        """Return what the first numbers of a release say of rows: public."""
        layout = self.noise.layout
        return read_marginals(layout, released[: layout.kinds.size], self.noise.deviations)

    def settle_from(self, released: Vector) -> tuple[AdditiveFrame, Any]:
        """Return the frame and the objective's settings that noisy marginals give: public."""
        return self._settle(self.marginals(released))

    def _settle(self, marginals: ReleasedMarginals) -> tuple[AdditiveFrame, Any]:
        objective = self.objective
        singles = sum(1 if count is None else count for count in self.question.marginals.levels)
        noise = self._noise_in(partial(self._frame, marginals, 1))
        signal = marginals.rows / (noise * singles) if noise else math.inf
        terms = objective.terms(signal, marginals)
        frame = self._frame(marginals, terms)
        if self.question.interactions:
            paired = self._frame(marginals, terms, with_pairs=True)
            if objective.can_tell_pairs(paired, marginals.rows, self._noise_in(lambda: paired)):
                frame = paired
        settings = objective.settle_in(frame, marginals, self._noise_in(lambda: frame))
        keeps = frame.region == UNIT_BALL and objective.keeps_constant(terms, marginals)
        return replace(frame, length=settings.length, keeps_constant=keeps), settings

    def _frame(
        self, marginals: ReleasedMarginals, terms: int, *, with_pairs: bool = False
    ) -> AdditiveFrame:
        """Return the frame with so many functions of a column of numbers."""
        question, is_pure = self.question.marginals, isinstance(self.second, PureSecond)
        floor_noise = math.sqrt(len(question.levels) + 1) * marginals.count_noise
        if is_pure:
            floor_noise = self.noise.size
        frame = make_frame(
            question,
            marginals,
            terms,
            floor_noise,
            centred=not is_pure,
            with_pairs=with_pairs,
            constant=self.objective.constant(marginals),
        )
        if not is_pure:
            return frame
        # Where more of the norm is kept than is typical, so much more is kept of the sum.
        return replace(frame, region=region_of(frame.typical_sum(marginals), frame.width + 1))

    def _noise_in(self, make_frame: Callable[[], AdditiveFrame]) -> float:
        """Return the noise in a coordinate of the slope; a frame is made if it depends on it.

        Repeats are averaged, and that leaves the noise of one with all of a Gaussian budget.
        """
        if isinstance(self.second, PureSecond):
            frame = make_frame()
            one = self.second.noise_in(self._bounds(frame.region, frame.width + 1))
        else:
            one = self.second.objective_noise
        return one / math.sqrt(self.fits)

    def rows_of_model(self, rows: OpenRows, value: Any) -> OpenRows:
        """Return the scores of rows as they are, one for each problem: private."""
        scoring, question = self.read(value).scoring(), self.question
        labels, problems = question.marginals.labels, self.objective.problems
        return rows.transform(
            scoring.apply, bounds_within(question, LinfBall(WIDEST), problems, labels)
        )

    def coefficients_of_model(self, value: Any) -> Array:
        return np.eye(self.objective.problems)

    def read(self, released: Vector) -> AdditiveRelease:
        """Take a release apart: public."""
        marginals = self.marginals(released)
        return self._read_in(*self._settle(marginals), marginals, released)

    def _read_in(
        self, frame: AdditiveFrame, settings: Any, marginals: ReleasedMarginals, released: Vector
    ) -> AdditiveRelease:
        """Take a release apart whose frame and settings are known."""
        objective = self.objective
        start = self.noise.layout.kinds.size + objective.settled
        shape = (objective.problems, self.fits, self.widest)
        end = start + math.prod(shape)
        coefficients = np.reshape(released[start:end], shape)[..., : frame.width + 1]
        unit, centre = objective.to_units(settings)
        counts = None if self.counts is None else np.asarray(released[end:])
        shares = tuple(column.shares for column in marginals.columns)
        monotone = self.question.monotone
        return AdditiveRelease(
            frame, settings, coefficients, shares, unit, centre, counts, monotone
        )

    def shapes(self, released: Vector) -> tuple[tuple[Array, ...], Any]:
        """Return what each cell of every column adds to a score, and the constant: public.

        For a target in its own units, which may lead out of its range; of three or more classes for
        each of them.
        """
        return self.read(released).shapes()


def objective_of(question: AdditiveProblem) -> AdditiveObjective[Any]:
    """Return what is minimised for labels of this kind."""
    labels = question.marginals.labels
    if isinstance(labels, Interval):
        return NumericTarget(question)
    is_of_two = isinstance(labels, LabelSet) and len(labels.values) == 2
    return TwoClasses(question) if is_of_two else SeveralClasses(question)


def widest_of(question: AdditiveProblem) -> int:
    """Return the most coefficients that one problem can have."""
    return widest_frame(question.marginals.levels, with_pairs=question.interactions)


def bounds_within(
    question: AdditiveProblem, region: ConvexSet, width: int, labels: Labels | None
) -> Bounds:
    """Return what is declared about rows of so many features within a region."""
    return replace(question.bounds, features=region, n_features=width, labels=labels)


@dataclass(frozen=True)
class AdditiveModel(Mechanism):
    """A small part of the budget for marginals, the rest for one function of each column.

    Parameters
    ----------
    share
        The share of mu squared that goes into the marginals, if delta is not zero; a tenth of a
        pure epsilon does.
    fits
        How many times the functions are learnt, with noise of its own each time; their average is
        nearly as good as one, and says how far noise moves it. Four for bands.
    counts_scores
        Whether rows are counted too, by class and by the score that the released functions give
        them; for two classes. The noisy counts come last (``summing/score_counts.py``), and make
        probabilities of scores.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import LabelSet, Marginals
    >>> marginals = Marginals([None, None, 5], LabelSet([-1, 1]), max_rows=10**6)
    >>> question = AdditiveProblem(marginals, ridge=1.4)
    >>> plan = AdditiveModel().plan(question, Budget(1.0, 1e-6), AddRemoveOne())
    >>> round(plan.guarantee.epsilon(1e-6), 3), plan.widest
    (1.0, 25)
    """

    name: ClassVar[str] = "additive_model"
    units = TABLE_UNITS

    share: float = MARGINAL_SHARE
    fits: int = 1
    counts_scores: bool = False

    def __post_init__(self) -> None:
        _checks.positive(share=self.share)
        _checks.fraction(share=self.share)
        _checks.whole(fits=self.fits, at_least=1, at_most=MOST_FITS)

    @property
    def share_beside(self) -> float:
        """The share of mu squared that marginals and counts have."""
        return self.share + (COUNTED_SHARE if self.counts_scores else 0.0)

    def budget_for_second(self, budget: Budget) -> Budget:
        """Return roughly what the other stages leave of a budget, for rules of thumb."""
        if budget.delta > 0 or not budget.is_private:
            return budget
        share = 1 - PURE_SHARE - (COUNTED_SHARE if self.counts_scores else 0.0)
        return Budget(share * budget.epsilon)

    def accepts(self, question: Question, unit: Unit) -> Verdict:
        if not isinstance(question, AdditiveProblem):
            return Verdict(False, "additive_model adds functions of columns; use "
                                  "objective_perturbation for linear models.")  # fmt: skip
        if self.counts_scores and objective_of(question).labels != LabelSet([-1, 1]):
            return Verdict(
                False, "scores are counted of two classes; use counts_scores=False for others."
            )
        return YES

    def _plan(self, question: AdditiveProblem, budget: Budget, unit: Unit) -> AdditiveModelPlan:
        layout = SplitLayout(question.marginals)
        noise, beside, counts = self._plan_marginals(layout, budget, unit), list[Profile](), None
        if budget.is_private:
            beside.append(noise.profile)
        if self.counts_scores:
            counts = ScoreCounts.within_budget(budget, unit, question.bounds)
            beside += [] if counts.profile is None else [counts.profile]
        objective, widest = objective_of(question), widest_of(question)
        bounds = bounds_within(question, L2Ball(1.0), widest, objective.labels)
        known = compose(beside) if beside else None
        share = SecondShare(budget, unit, known, self.fits)
        second: SecondPlan | PureSecond
        if budget.is_private and budget.delta == 0 and objective.problems == 1:
            second, first = PureSecond.of(objective, bounds, share), PURE_SHARE
        else:
            second, first = objective.plan_second(bounds, share), self.share
        reason = f"{first:.0%} of the budget for marginals, then {second.reason}"
        if counts is not None:
            reason += f"; scores counted for {COUNTED_SHARE:.0%} of the budget"
        return AdditiveModelPlan(
            question, noise, second, second.guarantee, reason, self.fits, counts
        )

    def _plan_marginals(self, layout: SplitLayout, budget: Budget, unit: Unit) -> SplitNoise:
        if not budget.is_private:
            return SplitNoise(layout, unit)
        if budget.delta == 0:
            return SplitNoise.laplace(layout, unit, PURE_SHARE * budget.epsilon)
        multiplier = gaussian_multiplier(budget) / math.sqrt(self.share)
        return SplitNoise.gaussian(layout, unit, multiplier)
