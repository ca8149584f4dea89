"""Predictions with the noise of one sample path of a process; proof in ``gaussian_process.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.blas import dtpsv

from discreet._types import Array, Vector
from discreet.errors import CalibrationError, InputError
from discreet.geometry import limits
from discreet.mechanisms.base import public_facts
from discreet.mechanisms.minimising.linear_term import GaussianTerm
from discreet.mechanisms.private_predictor import (
    FittedQueryMechanism,
    FittedQueryPlan,
    PrivatePredictor,
    PublicTolerance,
)
from discreet.mechanisms.query_answering import (
    ANSWERED,
    FROZEN,
    OracleAnswer,
    QueryPlan,
    Transcript,
    TranscriptEntry,
)
from discreet.noise import Grid, Noise, release_gaussian
from discreet.noise.grid import MOST_UNITS
from discreet.privacy import Budget, Gaussian, Guarantee, NoPrivacy, Unit, gaussian_multiplier
from discreet.privacy.within_distance import within
from discreet.questions import KernelQueries
from discreet.record import Tolerance

LEAST_JITTER, MOST_JITTER = 1e-8, 0.25
"""Shares of the largest K(z, z) that may be added to the diagonal."""

FINEST, COARSEST = 40, 16
"""Halvings of the scale of the noise that are one step of its grid."""

MOST_LOST = 0.5
"""The share of mu that rounding may take, at most."""

REFUSED = (
    "this point cannot be answered beside the others: the kernel is not positive semidefinite on "
    "them. Ask about other points, or use another kernel."
)


@dataclass(frozen=True)
class Precision:
    """Everything that rounding costs, in public; proof in ``gaussian_process.md``."""

    jitter: float
    bits: int
    scale: float
    sensitivity: float


class PathTranscript(Transcript):
    """The points, the factor of their kernel matrix, and what the noise was in its frame.

    The rows of the factor follow one another without gaps, so that solving reads half a square, in
    its order, and copies nothing.
    """

    def __init__(self, question: KernelQueries, jitter: float) -> None:
        super().__init__()
        self._most, self._jitter, self._kernel = question.max_answers, jitter, question.kernel
        width = question.bounds.n_features
        self._points, self._clips = np.empty((0, width)), np.empty(0)
        self._factor = np.empty(0)
        self._secrets, self._values = np.empty(0), np.empty(0)
        self._weights: Vector | None = None

    @property
    def is_open(self) -> bool:
        return self.count < self._most

    def _keep(self, entry: TranscriptEntry) -> None:
        place = self.count - 1
        if place >= len(self._points):
            self._grow(max(16, 2 * place))
        points, clips = self._kernel.scale(entry.point[None, :])
        self._points[place], self._clips[place] = points[0], clips[0]
        start = _size_of(place)
        self._factor[start : start + place + 1] = entry.public
        self._values[place], self._secrets[place] = entry.value, entry.secret
        self._weights = None

    def _drop(self, entry: TranscriptEntry) -> None:
        self._weights = None

    def _grow(self, wanted: int) -> None:
        """Make room for more entries."""
        size = min(wanted, self._most)
        self._points = _lengthen(self._points, size)
        self._clips = _lengthen(self._clips, size)
        self._factor = _lengthen(self._factor, _size_of(size))
        self._secrets = _lengthen(self._secrets, size)
        self._values = _lengthen(self._values, size)

    def entries_at(self, point: Vector) -> Vector:
        """Return the kernel of all points so far with one more."""
        known = slice(0, self.count)
        entries = self._kernel.evaluate_scaled(
            self._points[known], self._clips[known], *self._kernel.scale(point[None, :])
        )
        return np.ascontiguousarray(entries[:, 0])

    def extend(self, point: Vector) -> Vector:
        """Return the next row of the factor C of K + jitter: C^-1 k and the root of the rest."""
        solved = np.empty(0)
        if self.count:
            # Rows of a lower triangle are columns of its transpose, an upper one.
            solved = dtpsv(
                self.count, self._factor, self.entries_at(point), lower=0, trans=1, overwrite_x=1
            )
        rest = (
            float(self._kernel.diagonal(point[None, :])[0]) + self._jitter - float(solved @ solved)
        )
        if not (math.isfinite(rest) and rest > self._jitter / 2):
            raise InputError(REFUSED)
        return np.append(solved, math.sqrt(rest))

    def path(self, row: Vector) -> float:
        """Return what the noise at earlier points says of that at the next, in units of scale."""
        return float(row[:-1] @ self._secrets[: self.count])

    def interpolate(self, point: Vector) -> float:
        """Return the mean of the process at a point given all answers: K(z, Z) K^-1 y."""
        if not self.count:
            return 0.0
        if self._weights is None:
            factor = np.zeros((self.count, self.count))
            factor[np.tril_indices(self.count)] = self._factor[: _size_of(self.count)]
            self._weights = solve_in_order(factor, self._values[: self.count])
        return math.fsum(self.entries_at(point) * self._weights)


def _size_of(count: int) -> int:
    """Return how many entries a lower triangle of so many rows has."""
    return count * (count + 1) // 2


def _lengthen(array: Array, size: int) -> Array:
    """Return a copy with room for more."""
    longer = np.zeros((size, *array.shape[1:]))
    longer[: len(array)] = array
    return longer


def solve_in_order(factor: Array, values: Vector) -> Vector:
    """Return (C C^T)^-1 y by plain substitution, so that it is the same on every machine."""
    found, columns = values.copy(), factor.T.copy()
    for place in range(found.size):
        found[place] /= factor[place, place]
        found[place + 1 :] -= columns[place, place + 1 :] * found[place]
    for place in range(found.size - 1, -1, -1):
        found[place] /= factor[place, place]
        found[:place] -= factor[place, :place] * found[place]
    return found


@dataclass(frozen=True, eq=False)
class GaussianProcessPlan(FittedQueryPlan):
    """The scale of the path, what is added to the diagonal, and the grid of the noise."""

    question: KernelQueries
    tolerance: PublicTolerance
    precision: Precision
    bound: float  # of the mean of an answer
    guarantee: Guarantee
    reason: str = ""

    @property
    def scale(self) -> float:
        """The deviation of the noise of an answer where K(z, z) + jitter is one."""
        return self.precision.scale

    @property
    def sensitivity(self) -> float:
        """How far one record moves the whole path, in the norm of the feature space."""
        return self.precision.sensitivity

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        return (
            Tolerance("distance of the computed from the exact minimiser", self.tolerance.solver),
            Tolerance("error of an evaluation", self.tolerance.evaluation),
            Tolerance("jitter of the kernel's diagonal", self.precision.jitter),
            Tolerance("scale of the noise", self.precision.scale),
            Tolerance("halvings of the noise to a step of its grid", self.precision.bits),
        )

    def start(self) -> PathTranscript:
        return PathTranscript(self.question, self.precision.jitter)

    def prepare(self, transcript: PathTranscript, point: Vector) -> Vector:
        return transcript.extend(point)

    def answer(
        self,
        model: PrivatePredictor,
        transcript: PathTranscript,
        point: Vector,
        prepared: Vector,
        noise: Noise,
    ) -> TranscriptEntry:
        mean = model.predict(point) + self.scale * transcript.path(prepared)
        deviation = self.scale * float(prepared[-1])
        grid = Grid(scale=deviation, bits=self.precision.bits, bound=self.bound)
        value = float(release_gaussian([mean], grid, noise)[0])
        secret = (value - mean) / deviation
        size = self.scale * float(np.linalg.norm(prepared))  # its square is K(z, z) + jitter
        return TranscriptEntry(point, prepared, secret, value, ANSWERED, size)

    def _run_often(self, model: PrivatePredictor, noise: Noise, draws: int) -> Array:
        """Answer the declared points in many runs together: points do not follow answers."""
        transcript, points = self.start(), self._points()
        secrets, answers = np.zeros((draws, len(points))), np.zeros((draws, len(points)))
        for place, point in enumerate(points):
            known = transcript.find(point)
            if known is not None:
                answers[:, place] = answers[:, int(known.value)]
                continue
            if not transcript.is_open:
                return super()._run_often(model, noise, draws)
            row = transcript.extend(point)
            count = transcript.count
            means = model.predict(point) + self.scale * (secrets[:, :count] @ row[:-1])
            deviation = self.scale * float(row[-1])
            grid = Grid(scale=deviation, bits=self.precision.bits, bound=self.bound)
            answers[:, place] = release_gaussian(means, grid, noise)
            secrets[:, count] = (answers[:, place] - means) / deviation
            transcript.append(TranscriptEntry(point, row, 0.0, float(place), ANSWERED, 0.0))
        return answers

    def answer_in_public(self, transcript: PathTranscript, point: Vector) -> OracleAnswer:
        return OracleAnswer(transcript.interpolate(point), FROZEN, self._size(point))

    def _size(self, point: Vector) -> float:
        """Return the deviation of the noise in an answer, whatever was answered before."""
        square = float(self.question.kernel.diagonal(point[None, :])[0])
        return self.scale * math.sqrt(square + self.precision.jitter)


class ExactTranscript(Transcript):
    """The points that were answered without noise."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    @property
    def is_open(self) -> bool:
        return self.count < self._most

    def _keep(self, entry: TranscriptEntry) -> None:
        pass

    def _drop(self, entry: TranscriptEntry) -> None:
        pass


@dataclass(frozen=True, eq=False)
class ExactAnswersPlan(FittedQueryPlan):
    """Answers without noise, if nothing is to be hidden."""

    question: KernelQueries
    tolerance: PublicTolerance
    guarantee: Guarantee

    def start(self) -> ExactTranscript:
        return ExactTranscript(self.question.max_answers)

    def prepare(self, transcript: ExactTranscript, point: Vector) -> Vector:
        return np.empty(0)

    def answer(
        self,
        model: PrivatePredictor,
        transcript: ExactTranscript,
        point: Vector,
        prepared: Vector,
        noise: Noise,
    ) -> TranscriptEntry:
        return TranscriptEntry(point, prepared, 0.0, model.predict(point), ANSWERED, 0.0)

    def answer_in_public(self, transcript: ExactTranscript, point: Vector) -> OracleAnswer:
        return OracleAnswer(0.0, FROZEN, self.question.reach)


@dataclass(frozen=True)
class GaussianProcess(FittedQueryMechanism):
    """One fixed sample path of a Gaussian process, added to the predictions of a kernel model.

    Any number of adaptive queries costs as much as one.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]), max_rows=10_000)
    >>> kernel = BoundedKernel(RBF(gamma=2.0), radius=1.0)
    >>> few, many = (
    ...     KernelQueries(Logistic(), bounds, ridge=50.0, kernel=kernel, max_answers=count)
    ...     for count in (1, 1000)
    ... )
    >>> plans = [GaussianProcess().plan(q, Budget(1.0, 1e-6), AddRemoveOne()) for q in (few, many)]
    >>> [round(plan.scale, 3) for plan in plans]
    [0.085, 0.085]
    """

    name: ClassVar[str] = "gaussian_process"

    def _plan(self, question: KernelQueries, budget: Budget, unit: Unit) -> QueryPlan:
        tolerance = PublicTolerance.of(question)
        if not budget.is_private:
            return ExactAnswersPlan(question, tolerance, Guarantee(NoPrivacy(), unit))
        chance = GaussianTerm(1.0).chance(question.max_answers)
        precision = choose_precision(
            question, tolerance, unit, gaussian_multiplier(budget, distance=chance)
        )
        profile = within(Gaussian(precision.sensitivity / precision.scale * (1 + 1e-14)), chance)
        guarantee = Guarantee(
            profile, unit, public_facts_of_queries(question, unit), quoted_delta=budget.delta
        )
        bound = _mean_bound(
            question,
            tolerance,
            precision.jitter,
            precision.scale,
            precision.sensitivity / precision.scale,
        )
        return GaussianProcessPlan(question, tolerance, precision, bound, guarantee)


def public_facts_of_queries(question: KernelQueries, unit: Unit) -> tuple[str, ...]:
    """Return what a guarantee about answers to queries takes as public."""
    return (
        *public_facts(question.bounds, unit),
        "the points that are asked about",
        "that the kernel is positive semidefinite",
        *question.kernel.assumed,
        *question.assumed,
    )


def move_of_minimiser(question: KernelQueries, tolerance: PublicTolerance, unit: Unit) -> float:
    """Bound the distance of the computed minimisers of neighbours, in the feature space."""
    apart = unit.spread(question.row_lipschitz) / question.ridge
    return limits.round_up(apart + 2 * tolerance.solver)


def least_jitter(question: KernelQueries) -> float:
    """Return the least addition to the diagonal at which the computed factor dominates the kernel.

    Entries of C C^T - K - jitter are at most the error of the kernel and some m roundings; so its
    norm is at most m times that, which has to be below half the jitter.
    """
    answers = question.max_answers
    square = question.row_norm**2 * (1 + 2 * MOST_JITTER)
    entry = question.kernel.error(question.bounds) + (answers + 16) * 1.01 * limits.UNIT * square
    return max(LEAST_JITTER * question.row_norm**2, 2.02 * answers * entry)


def choose_precision(
    question: KernelQueries, tolerance: PublicTolerance, unit: Unit, multiplier: float
) -> Precision:
    """Return the jitter at which an answer has the least noise, and all that follows from it."""
    square = question.row_norm**2
    found, jitter = [], least_jitter(question)
    while jitter <= MOST_JITTER * square:
        one = _precision_at(question, tolerance, unit, multiplier, jitter)
        if one is not None:
            found.append((one.scale * math.sqrt(square + jitter), one))
        jitter *= 4.0
    if not found:
        raise CalibrationError(
            "rounding would cost more than the budget; use fewer answers, a smaller max_rows, or "
            "a smaller epsilon."
        )
    return min(found, key=lambda pair: pair[0])[1]


def _precision_at(
    question: KernelQueries,
    tolerance: PublicTolerance,
    unit: Unit,
    multiplier: float,
    jitter: float,
) -> Precision | None:
    """Solve scale = multiplier * sensitivity(scale); None if rounding leaves no solution."""
    answers, mu = question.max_answers, 1 / multiplier
    reach = math.sqrt(question.row_norm**2 + jitter)
    amplified = 2 * math.sqrt(2 * answers / jitter)  # of errors that are no functions of the space
    moved = move_of_minimiser(question, tolerance, unit) + amplified * tolerance.evaluation
    roundings = (answers + 16) * 1.01 * limits.UNIT
    largest = reach * (GaussianTerm(1.0).bound(answers) + mu + 1)  # |u| |xi|
    reach_of_fit = question.row_norm * (question.norm_bound + tolerance.solver)
    mean = reach_of_fit * limits.UNIT * 8  # adding up a mean, and what is kept of it
    for bits in range(FINEST, COARSEST - 1, -1):
        lost = amplified * roundings * largest + 2 * math.sqrt(answers) * 2.0**-bits
        if lost > MOST_LOST * mu:
            return None
        scale = (moved + amplified * mean) / (mu - lost) * (1 + 1e-13)
        bound = _mean_bound(question, tolerance, jitter, scale, mu)
        if bound * 2.0**bits <= scale * math.sqrt(jitter / 2) * MOST_UNITS / 2:
            sensitivity = moved + amplified * mean + lost * scale
            return Precision(jitter, bits, scale, limits.round_up(sensitivity))
    return None


def _mean_bound(
    question: KernelQueries, tolerance: PublicTolerance, jitter: float, scale: float, mu: float
) -> float:
    """Bound the mean of an answer, whatever the rows, but for noise beyond all chance.

    It must not be clipped: the noise that is kept is what an answer is away from its mean.
    """
    furthest = question.row_norm * (question.norm_bound + tolerance.solver) + tolerance.evaluation
    largest = GaussianTerm(1.0).bound(question.max_answers) + mu + 2
    return 1.01 * (furthest + scale * math.sqrt(question.row_norm**2 + jitter) * largest)
