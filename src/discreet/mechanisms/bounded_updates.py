"""A public model, updated a few times by noisy answers; proof in ``bounded_updates.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import CalibrationError
from discreet.mechanisms.base import grid_tolerances
from discreet.mechanisms.gaussian_process import (
    ExactAnswersPlan,
    move_of_minimiser,
    public_facts_of_queries,
)
from discreet.mechanisms.private_predictor import (
    FittedQueryMechanism,
    FittedQueryPlan,
    PrivatePredictor,
    PublicTolerance,
)
from discreet.mechanisms.query_answering import (
    CODES,
    EXHAUSTED,
    PUBLIC,
    SMALLEST_SHARE,
    UPDATED,
    OracleAnswer,
    QueryPlan,
    Transcript,
    TranscriptEntry,
)
from discreet.noise import Grid, Noise, laplace_grid, release_laplace
from discreet.privacy import (
    Budget,
    Guarantee,
    NoPrivacy,
    ThresholdedLaplace,
    Unit,
    calibrate,
)
from discreet.questions import KernelQueries
from discreet.record import Tolerance

FAILURE = 0.05
"""The chance that some noise is larger than the threshold was made for."""

MOST_UPDATES = 2**20


class UpdateTranscript(Transcript):
    """The public model, and how often it was updated; none of it is secret."""

    def __init__(self, question: KernelQueries, updates: int) -> None:
        super().__init__()
        self._most, self._updates, self._kernel = question.max_answers, updates, question.kernel
        self._reach = question.reach
        self._points: list[Vector] = []
        self._coefficients: list[float] = []

    @property
    def is_open(self) -> bool:
        return self.n_updates < self._updates and self.count < self._most

    @property
    def n_updates(self) -> int:
        """How often the public model was updated; counted from the entries."""
        return len(self._points)

    def _keep(self, entry: TranscriptEntry) -> None:
        if entry.status == UPDATED:
            self._points.append(entry.point)
            self._coefficients.append(float(entry.public[0]))

    def _drop(self, entry: TranscriptEntry) -> None:
        if entry.status == UPDATED:
            self._points.pop()
            self._coefficients.pop()

    def predict(self, point: Vector) -> float:
        """Return what the public model predicts."""
        if not self._points:
            return 0.0
        entries = self._kernel.evaluate(np.array(self._points), point[None, :])[:, 0]
        found = math.fsum(entries * np.array(self._coefficients))
        return min(max(found, -self._reach), self._reach)


@dataclass(frozen=True, eq=False)
class BoundedUpdatesPlan(FittedQueryPlan):
    """The grid of the noise, the threshold and the number of updates."""

    has_statuses = True
    closed_status = EXHAUSTED

    question: KernelQueries
    tolerance: PublicTolerance
    grid: Grid
    threshold: float
    updates: int
    sensitivity: float  # of one prediction; solver, evaluation and grid included
    guarantee: Guarantee
    reason: str

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (
            Tolerance("distance of the computed from the exact minimiser", self.tolerance.solver),
            Tolerance("error of an evaluation", self.tolerance.evaluation),
            Tolerance("threshold of an update", self.threshold),
            *grid_tolerances(self.grid),
        )

    def chance_of_update(self, prediction: float) -> float:
        """Return how likely the model is ever updated, if predictions are so large at most."""
        scale = self.grid.scale
        gaps = (max(0.0, self.threshold - prediction), self.threshold + prediction)
        once = min(1.0, math.fsum(math.exp(-gap / scale) / 2 for gap in gaps))
        return -math.expm1(self.question.max_answers * math.log1p(-once)) if once < 1 else 1.0

    def start(self) -> UpdateTranscript:
        return UpdateTranscript(self.question, self.updates)

    def prepare(self, transcript: UpdateTranscript, point: Vector) -> float:
        return transcript.predict(point)

    def answer(
        self,
        model: PrivatePredictor,
        transcript: UpdateTranscript,
        point: Vector,
        prepared: float,
        noise: Noise,
    ) -> TranscriptEntry:
        noisy = float(release_laplace([model.predict(point)], self.grid, noise)[0])
        gap, deviation = noisy - prepared, math.sqrt(2) * self.grid.scale
        if abs(gap) <= self.threshold:
            size = self.threshold + deviation
            return TranscriptEntry(point, np.zeros(1), 0.0, prepared, PUBLIC, size)
        square = float(self.question.kernel.diagonal(point[None, :])[0])
        step = gap / square if square > self._least_square else 0.0
        return TranscriptEntry(point, np.array([step]), 0.0, noisy, UPDATED, deviation)

    @property
    def _least_square(self) -> float:
        """Below it a point is too near the origin of the feature space to correct a model by."""
        return SMALLEST_SHARE * self.question.kernel.reach**2

    def _run_often(self, model: PrivatePredictor, noise: Noise, draws: int) -> Array:
        """Answer the declared points in many runs together: points do not follow answers."""
        points = self._points()
        if len(np.unique(points, axis=0)) < len(points) or len(points) > self.question.max_answers:
            return super()._run_often(model, noise, draws)
        gram, reach = self.question.kernel.evaluate(points, points), self.question.reach
        squares = self.question.kernel.diagonal(points)
        steps, answers = np.zeros((draws, len(points))), np.zeros((draws, len(points), 2))
        updated = np.zeros(draws, dtype=np.int64)
        for place, point in enumerate(points):
            public = np.clip(steps[:, :place] @ gram[:place, place], -reach, reach)
            is_open = updated < self.updates
            noisy = release_laplace(np.full(draws, model.predict(point)), self.grid, noise)
            is_far = np.abs(noisy - public) > self.threshold
            updates = is_open & is_far
            updated += updates
            if squares[place] > self._least_square:
                steps[updates, place] = (noisy - public)[updates] / squares[place]
            answers[:, place, 0] = np.where(updates, noisy, public)
            codes = np.where(updates, CODES[UPDATED], CODES[PUBLIC])
            answers[:, place, 1] = np.where(is_open, codes, CODES[EXHAUSTED])
        return answers

    def answer_in_public(self, transcript: UpdateTranscript, point: Vector) -> OracleAnswer:
        value = transcript.predict(point)
        return OracleAnswer(value, EXHAUSTED, self.question.reach + abs(value))


@dataclass(frozen=True)
class BoundedUpdates(FittedQueryMechanism):
    """A public model answers while it is near enough to the private one, and is updated if not.

    ``gaussian_process`` is more accurate wherever either is of use.

    Parameters
    ----------
    updates
        How often the public model is updated at most; None to choose it so that all answers are
        near, with the least error.
    threshold
        How far the public model may be from a noisy prediction; None for four times as far as
        noise goes.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]), max_rows=10_000)
    >>> kernel = BoundedKernel(RBF(gamma=2.0), radius=1.0)
    >>> queries = KernelQueries(Logistic(), bounds, ridge=50.0, kernel=kernel, max_answers=1000)
    >>> plan = BoundedUpdates(updates=10).plan(queries, Budget(1.0, 1e-6), AddRemoveOne())
    >>> plan.updates, plan.guarantee.epsilon(1e-6) <= 1.0
    (10, True)
    """

    name: ClassVar[str] = "bounded_updates"

    updates: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.updates is not None:
            _checks.whole(updates=self.updates, at_least=1, at_most=MOST_UPDATES)
        if self.threshold is not None:
            _checks.positive(threshold=self.threshold)

    def _plan(self, question: KernelQueries, budget: Budget, unit: Unit) -> QueryPlan:
        tolerance = PublicTolerance.of(question)
        if not budget.is_private:
            return ExactAnswersPlan(question, tolerance, Guarantee(NoPrivacy(), unit))
        if budget.delta == 0:
            raise CalibrationError(
                "no pure epsilon holds for any number of queries; use a small delta."
            )
        moved = move_of_minimiser(question, tolerance, unit) * question.row_norm * (1 + 1e-15)
        updates = self.updates or _choose_updates(question, budget, moved)
        noise = calibrate(
            lambda noise: ThresholdedLaplace(1 / noise, updates),
            budget,
            guess=_expected_noise(budget) * math.sqrt(2 * updates),
        )
        grid = laplace_grid(
            epsilon=1 / noise,
            sensitivity=moved,
            dimension=1,
            bound=1.01 * (question.reach + question.row_norm * tolerance.solver)
            + tolerance.evaluation,
            error=tolerance.evaluation,
        )
        total = moved + 2 * tolerance.evaluation + grid.spread_l1(1)
        profile = ThresholdedLaplace(total / grid.scale * (1 + 1e-14), updates)
        guarantee = Guarantee(
            profile, unit, public_facts_of_queries(question, unit), quoted_delta=budget.delta
        )
        far = farthest_noise(grid.scale, question.max_answers)
        threshold = self.threshold or 4 * far
        instead = _expected_noise(budget) * moved
        reason = (
            f"{updates} updates, threshold {threshold:.3g}: errors up to {threshold + far:.3g}; "
            f"gaussian_process would have noise of deviation {instead:.2g} or so"
        )
        return BoundedUpdatesPlan(
            question, tolerance, grid, threshold, updates, total, guarantee, reason
        )


def farthest_noise(scale: float, answers: int) -> float:
    """Return what no Laplace noise of so many answers exceeds, but with a small chance."""
    return scale * math.log(max(answers, 2) / FAILURE)


def _expected_noise(budget: Budget) -> float:
    """Return roughly the deviation of Gaussian noise for a sensitivity of one, from zCDP."""
    rare = -math.log(budget.delta)
    return (math.sqrt(rare + budget.epsilon) + math.sqrt(rare)) / (math.sqrt(2) * budget.epsilon)


def _choose_updates(question: KernelQueries, budget: Budget, moved: float) -> int:
    """Return the least number of updates after which no answer can be far from the truth.

    With noises of at most e and a threshold of 4 e, each update brings the square of the distance
    of the models down by 8 (e / R)^2, and it begins at C^2 at most. The scale of the noise grows
    with the root of the number of updates, so the least number that is enough errs least.
    """
    square = (question.norm_bound * question.row_norm) ** 2
    deviation = _expected_noise(budget) * moved
    updates = 1
    while updates < MOST_UPDATES:
        far = farthest_noise(deviation * math.sqrt(2 * updates), question.max_answers)
        if updates * 8 * far**2 >= square:
            break
        updates = max(updates + 1, updates * 21 // 20)
    return updates
