"""Whether a plan releases may not depend on its rows: settings, rows and a search that try to.

python tests/support/refusals.py 10000
"""

from __future__ import annotations

import itertools
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, NuclearBall, Product, Simplex
from discreet.kernels import RBF, BoundedKernel, Laplacian, Linear, Polynomial
from discreet.losses import (
    Hinge,
    Huber,
    HuberHinge,
    LogCosh,
    Logistic,
    MarginLogistic,
    Pinball,
    PseudoHuber,
    SmoothedHinge,
    SmoothedPinball,
    Squared,
)
from discreet.mechanisms import (
    REGISTRY,
    AdaptiveRidge,
    AdditiveModel,
    EachAgainstTheRest,
    Experts,
    ExponentialSampling,
    FollowingHistogram,
    FollowTheLeader,
    GaussianSum,
    LaplaceSum,
    Localization,
    MarginalSplits,
    Mechanism,
    NetUpdates,
    NoisyGradient,
    NoisyHistogram,
    ObjectivePerturbation,
    OnlineQuadratic,
    OnlineToBatch,
    OutputPerturbation,
    Plan,
    PrivateCount,
    PrivateOCP,
    PrivateStandardisation,
    ProjectedKernel,
    SimplexSampling,
    SufficientStatistics,
    VectorPerturbation,
    mechanism_named,
)
from discreet.mechanisms.minimising.minimiser import TOO_LARGE, Minimiser
from discreet.mechanisms.minimising.rows_objective import RowsObjective
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.mechanisms.private_ocp import ALGORITHMS
from discreet.mechanisms.streaming.noise_schedule import SCHEDULES
from discreet.noise import RehearsalNoise
from discreet.penalties import L1, L1L2, Indicator, L1Within
from discreet.privacy import Budget, Unit, unit_named
from discreet.questions import (
    AdditiveProblem,
    CellCounts,
    ColumnQuantiles,
    ExpertStream,
    FollowingCounts,
    KernelQueries,
    Marginals,
    Question,
    RowCount,
    SeveralOutputs,
    SpatialMedian,
    Stream,
    VectorMean,
    VectorSum,
)
from discreet.questions.mixture import Mixture
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.solvers import certify, newton, proximal_newton
from support.cases import ALL_CASES
from support.opened import open_rows

Draw = np.random.Generator
REFUSED_IN_PUBLIC = (CalibrationError, InputError, NotAccepted)


@dataclass(frozen=True)
class Setting:
    """Everything public: a mechanism, a question with its plan, a unit, and how many rows."""

    mechanism: Mechanism
    question: Question
    unit: Unit
    budget: Budget
    count: int
    plan: Plan

    @property
    def bounds(self) -> Bounds:
        return self.question.bounds

    def __str__(self) -> str:
        return f"{self.mechanism!r}, {self.question!r}, {self.unit.name}, {self.budget}"


@dataclass(frozen=True)
class Table:
    """Rows and their labels, if they have any."""

    X: np.ndarray
    y: np.ndarray | None

    def __len__(self) -> int:
        return len(self.X)

    def changed(self, place: int, other: Table) -> Table:
        """Put the first row of another table in the place of one."""
        X, y = self.X.copy(), None if self.y is None else self.y.copy()
        X[place] = other.X[0]
        if y is not None:
            y[place] = other.y[0]
        return Table(X, y)

    def without(self, place: int) -> Table:
        y = None if self.y is None else np.delete(self.y, place)
        return Table(np.delete(self.X, place, axis=0), y)

    def with_row(self, other: Table) -> Table:
        y = None if self.y is None else np.append(self.y, other.y[0])
        return Table(np.vstack([self.X, other.X[:1]]), y)


def outcome(setting: Setting, table: Table, seed: int) -> str:
    """Run the plan; say what everyone would see of it besides the released value.

    Coefficients that are refused for their size are refused in public: that is a function of what
    would have been released. Nothing else may keep a plan from releasing.
    """
    try:
        rows = open_rows(table.X, table.y, bounds=setting.bounds, unit=setting.unit)
        value = setting.plan.run(rows, RehearsalNoise(seed))
    except Exception as error:  # whatever it is
        return "too large" if str(error) == TOO_LARGE else f"{type(error).__name__}: {error}"
    return "released" if np.isfinite(np.asarray(value, dtype=np.float64)).all() else "not finite"


# Settings


def _power(draw: Draw, low: float, high: float) -> float:
    return float(10.0 ** draw.uniform(low, high))


def _choice(draw: Draw, options: Any) -> Any:
    return options[int(draw.integers(len(options)))]


def _loss(draw: Draw) -> Any:
    width = _power(draw, -5, 0.5)
    makers: tuple[Callable[[], Any], ...] = (
        Logistic,
        lambda: MarginLogistic(margin=3.0),
        lambda: HuberHinge(width),
        lambda: SmoothedHinge(width),
        lambda: Huber(width),
        lambda: PseudoHuber(width),
        lambda: LogCosh(width),
        lambda: SmoothedPinball(_choice(draw, (0.5, 0.1)), width),
        lambda: Squared(2.0),
    )
    return _choice(draw, makers)()


def _region(draw: Draw, width: int) -> Any:
    size = _power(draw, -1, 1)
    low = -size * draw.uniform(0, 1, width)
    return _choice(
        draw,
        (
            Box(low, low + size),
            Box([size] * width, [size * 1.5] * width),
            LinfBall(size),
            L2Ball(size),
            L1Ball(size),
            Simplex(size),
        ),
    )


def _penalty(draw: Draw, width: int, is_bounded: bool) -> Any:
    weight = _power(draw, -3, 1)
    options: list[Callable[[], Any]] = [
        lambda: Indicator(_region(draw, width)),
        lambda: L1Within(L1(weight), _region(draw, width)),
    ]
    if not is_bounded:
        options += [lambda: None, lambda: None, lambda: L1(weight), lambda: L1L2(weight, 0.5)]
    return _choice(draw, options)()


def _problem(draw: Draw, count: int, *, loss: Any = None, **options: Any) -> Problem:
    loss = _loss(draw) if loss is None else loss
    width = options.pop("width", int(draw.integers(1, 5)))
    most = count + 1 if draw.random() < 0.7 else 1000 * count
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-2, 2)
    intercept = _choice(draw, (None, None, 0.5))
    features = _choice(draw, (L2Ball(1.0), L2Ball(1.0), L2Ball(0.01), L2Ball(100.0)))
    bounds = Bounds(features, width, labels=labels, intercept=intercept, max_rows=most)
    bounded = options.pop("is_bounded", isinstance(loss, Squared))
    penalty = _penalty(draw, bounds.width, bounded) if options.pop("has_penalty", True) else None
    return Problem(loss, bounds, ridge=_power(draw, -4, 3), penalty=penalty, **options)


def _narrow(draw: Draw, count: int) -> Problem:
    """A loss that bends within a small part of a box, and a ridge that lets it decide."""
    width, size = _power(draw, -5, -1.5), draw.uniform(1, 4)
    loss = _choice(
        draw, (SmoothedPinball(0.5, width), Huber(width), PseudoHuber(width), LogCosh(width),
               HuberHinge(width), SmoothedHinge(width)))  # fmt: skip
    columns = int(draw.integers(1, 4))
    region = _choice(draw, (LinfBall(size), Box([-size] * columns, [size] * columns)))
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-size, size)
    bounds = Bounds(L2Ball(1.0), columns, labels=labels, max_rows=count + 1)
    problem = Problem(loss, bounds, ridge=1.0, penalty=Indicator(region))
    return replace(problem, ridge=_power(draw, -4, -1) * count * problem.lipschitz / size)


def _model(draw: Draw, count: int) -> Problem:
    return _narrow(draw, count) if draw.random() < 0.4 else _problem(draw, count)


def _unlabelled(draw: Draw, count: int, features: Any, width: int) -> Bounds:
    return Bounds(features, width, max_rows=count + 1)


def _several(draw: Draw, count: int) -> Question:
    problem = _problem(draw, count, loss=_choice(draw, (Logistic(), HuberHinge(0.01))))
    return OneVsRest(problem, classes=3)


def _standardised(draw: Draw, count: int) -> Question:
    problem = _problem(draw, count, loss=Logistic(), has_penalty=False, width=2)
    box = Bounds(Box([-1.0, 0.0], [1.0, 3.0]), 2, labels=LabelSet([-1, 1]), intercept=1.0,
                 max_rows=count + 1)  # fmt: skip
    return replace(problem, bounds=box, ridge=max(problem.ridge, 1.0))


def _mixture(draw: Draw, count: int) -> Question:
    loss = _choice(draw, (Squared(2.0), Huber(_power(draw, -3, 0)), Logistic(), PseudoHuber(0.1)))
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-2, 2)
    width = int(draw.integers(1, 6))
    bounds = Bounds(LinfBall(1.0), width, labels=labels, max_rows=count + 1)
    entropy = None if draw.random() < 0.5 else _power(draw, -2, 2)
    return Mixture(loss, bounds, total=_power(draw, -1, 1), entropy=entropy)


def _vectors(draw: Draw, count: int) -> Question:
    ridge, most = _power(draw, -1, 4), count + 1
    if draw.random() < 0.5:
        bounds = Bounds(L2Ball(_power(draw, -1, 6)), 3, max_rows=most)
        inside = Indicator(_region(draw, 3))
        return SpatialMedian(bounds, ridge, inside, smoothing=_power(draw, -5, 0))
    bounds = Bounds(Product([(L2Ball(1.0), 3), (L2Ball(2.0), 2)]), 5, max_rows=most)
    return SeveralOutputs(bounds, ridge, Indicator(NuclearBall(_power(draw, -1, 1), (3, 2))))


def _sampled(draw: Draw, count: int) -> Question:
    if draw.random() < 0.3:
        return ColumnQuantiles(_unlabelled(draw, count, Box([0.0], [1.0]), 1), steps=2**10)
    return _problem(draw, count, is_bounded=True, width=int(draw.integers(1, 3)))


def _summed_stream(draw: Draw, count: int, problem: Problem) -> Stream:
    return Stream(problem, horizon=count + 1, batch=min(count, _choice(draw, (1, 7, 40))))


def _in_a_ball(draw: Draw, count: int) -> Problem:
    problem = _problem(draw, count, loss=Squared(2.0))
    return replace(problem, penalty=Indicator(L2Ball(_power(draw, -1, 1))))


def _stream(draw: Draw, count: int) -> Stream:
    loss = _loss(draw) if draw.random() < 0.7 else _choice(draw, (Hinge(), Pinball(0.3)))
    problem = _problem(draw, count, loss=loss, has_penalty=False)
    ball = Indicator(L2Ball(_power(draw, -3, 1)))
    if isinstance(loss, Squared) or draw.random() < 0.5:
        problem = replace(problem, penalty=ball)
    return Stream(problem, horizon=count + 1, batch=int(draw.integers(1, min(count, 40) + 1)))


def _experts(draw: Draw, count: int) -> ExpertStream:
    bounds = Bounds(Box([-1.0] * 3, [2.0] * 3), 3)
    return ExpertStream(bounds, horizon=count + 1, batch=int(draw.integers(1, count + 1)))


def _kernel_queries(draw: Draw, count: int) -> KernelQueries:
    """Ask kernels about some points; few rows, since each table is solved with a certificate."""
    if count > 300:
        raise CalibrationError("too many rows for a test.")
    loss = _choice(draw, (Hinge(), Logistic(), Huber(0.3), Pinball(0.3), SmoothedHinge(0.1)))
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-2.0, 2.0)
    bounds = Bounds(L2Ball(1.0), 2, labels=labels, max_rows=count + 1)
    kernel = _choice(draw, (Linear(), Polynomial(3), RBF(_power(draw, -3, 3)), Laplacian(2.0)))
    bounded = BoundedKernel(kernel, _power(draw, -1, 1), constant=float(draw.integers(2)))
    points = tuple(map(tuple, draw.uniform(-1, 1, size=(4, 2)).tolist()))
    return KernelQueries(loss, bounds, _power(draw, -2, 2), bounded, 4, points)


_MAKERS: dict[str, Callable[[Draw, int], tuple[Mechanism, Question]]] = {
    "gaussian_sum": lambda draw, count: (
        GaussianSum(),
        _choice(draw, (VectorSum, VectorMean))(_unlabelled(draw, count, L2Ball(1.0), 3)),
    ),
    "laplace_sum": lambda draw, count: (
        LaplaceSum(),
        VectorSum(_unlabelled(draw, count, L1Ball(1.0), 3)),
    ),
    "private_count": lambda draw, count: (
        PrivateCount(),
        RowCount(_unlabelled(draw, count, L2Ball(1.0), 2)),
    ),
    "noisy_histogram": lambda draw, count: (NoisyHistogram(), CellCounts((3, 5), max_rows=count)),
    "following_histogram": lambda draw, count: (
        FollowingHistogram(),
        FollowingCounts(8, max_rows=count),
    ),
    "marginal_splits": lambda draw, count: (
        MarginalSplits(),
        Marginals((None, 3), max_rows=count),
    ),
    "additive_model": lambda draw, count: (
        AdditiveModel(),
        AdditiveProblem(Marginals((None, 3), LabelSet([-1, 1]), max_rows=count), ridge=3.0),
    ),
    "output_perturbation": lambda draw, count: (OutputPerturbation(), _model(draw, count)),
    "objective_perturbation": lambda draw, count: (ObjectivePerturbation(), _model(draw, count)),
    "one_vs_rest": lambda draw, count: (EachAgainstTheRest(), _several(draw, count)),
    "private_standardisation": lambda draw, count: (
        PrivateStandardisation(),
        _standardised(draw, count),
    ),
    "adaptive_ridge": lambda draw, count: (
        AdaptiveRidge(),
        _problem(draw, count, loss=Squared(2.0)),
    ),
    "sufficient_statistics": lambda draw, count: (
        SufficientStatistics(),
        _problem(draw, count, loss=Squared(2.0), has_penalty=bool(draw.random() < 0.5)),
    ),
    "exponential_sampling": lambda draw, count: (ExponentialSampling(), _sampled(draw, count)),
    "noisy_gradient": lambda draw, count: (
        NoisyGradient(4, rule="strongly_convex"),
        _problem(draw, count, loss=_choice(draw, (Hinge(), Logistic())), is_bounded=True),
    ),
    "simplex_sampling": lambda draw, count: (SimplexSampling(), _mixture(draw, count)),
    "vector_perturbation": lambda draw, count: (VectorPerturbation(), _vectors(draw, count)),
    "localization": lambda draw, count: (
        Localization(),
        _problem(draw, count, width=1, is_bounded=bool(draw.random() < 0.5)),
    ),
    "follow_the_leader": lambda draw, count: (
        FollowTheLeader(_choice(draw, ("square_root", "tree", "band"))),
        _summed_stream(
            draw, count, _problem(draw, count, loss=_choice(draw, (Hinge(), Logistic())))
        ),
    ),
    "online_quadratic": lambda draw, count: (
        OnlineQuadratic(),
        _summed_stream(draw, count, _in_a_ball(draw, count)),
    ),
    "private_ocp": lambda draw, count: (
        PrivateOCP(_choice(draw, SCHEDULES), _choice(draw, tuple(ALGORITHMS))),
        _stream(draw, count),
    ),
    "online_to_batch": lambda draw, count: (OnlineToBatch(), _stream(draw, count)),
    "experts": lambda draw, count: (Experts(), _experts(draw, count)),
    "projected_kernel": lambda draw, count: (ProjectedKernel(), _kernel_queries(draw, count)),
    "net_updates": lambda draw, count: (NetUpdates(), _kernel_queries(draw, count)),
}
NAMES = tuple(mechanism.name for mechanism in REGISTRY)


def _first_case(name: str, draw: Draw, count: int) -> tuple[Mechanism, Question]:
    """Return what the universal checks ask a mechanism, where nothing is drawn for it here."""
    case = next(case for case in ALL_CASES if case.mechanism.name == name)
    return case.mechanism, case.question


def a_setting(name: str, draw: Draw) -> Setting | None:
    """Draw a setting in which the mechanism has a plan; None if it refuses, from public facts.

    A ridge that is too weak is made stronger, so that what is drawn is near the limit.
    """
    count = int(_choice(draw, (1, 2, 8, 30, 300, 2000)))
    unit = _choice(draw, [unit_named(unit) for unit in mechanism_named(name).units])
    budget = _choice(draw, (Budget(1.0, 1e-6), Budget(1.0), Budget(10.0, 1e-6), Budget(math.inf)))
    try:
        mechanism, question = _MAKERS.get(name, partial(_first_case, name))(draw, count)
    except REFUSED_IN_PUBLIC:
        return None
    for _ in range(8):
        try:
            plan = mechanism.plan(question, budget, unit)
        except REFUSED_IN_PUBLIC:
            holds_problem = isinstance(question, OneVsRest | Stream)
            inner = question.problem if holds_problem else question
            if not hasattr(inner, "ridge"):
                return None
            inner = replace(inner, ridge=10 * inner.ridge)
            question = replace(question, problem=inner) if holds_problem else inner
            continue
        return Setting(mechanism, question, unit, budget, count, plan)
    return None


# Rows


def _odd_number(draw: Draw) -> float:
    return float(
        _choice(draw, (np.nan, np.inf, -np.inf, 1e308, -1e300, 5e-324, -1e-310, 1e-160, 0.0, -0.0))
    )


def a_table(setting: Setting, draw: Draw, count: int | None = None) -> Table:
    """Draw rows that are duplicates, cancel each other, are separable, odd, or at the border."""
    bounds, count = setting.bounds, setting.count if count is None else count
    if isinstance(setting.question, Problem) and draw.random() < 0.5:
        return _meeting(setting.question, draw, count)
    width, kind = bounds.n_features, int(draw.integers(6))
    X = draw.standard_normal((count, width)) * _power(draw, -2, 2)
    if kind == 0:
        X[:] = X[0]
    elif kind == 1:
        X *= draw.integers(0, 2, (count, 1))
    elif kind == 2:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    for place in np.flatnonzero(draw.random(count) < (0.3 if kind == 3 else 0.02)):
        X[place, int(draw.integers(width))] = _odd_number(draw)
    return Table(X, _labels(setting, draw, X))


def _labels(setting: Setting, draw: Draw, X: np.ndarray) -> np.ndarray | None:
    labels, count, kind = setting.bounds.labels, len(X), int(draw.integers(4))
    if labels is None:
        return None
    values = [labels.low, 0.0, labels.high] if isinstance(labels, Interval) else [-1.0, 1.0]
    if isinstance(setting.question, OneVsRest):
        values = [0.0, 1.0, 2.0]
    if kind == 0:  # rows that cancel each other, if they are alike
        y = np.resize(values, count)
    elif kind == 1:
        y = np.full(count, _choice(draw, values))
    elif kind == 2:  # a line between them
        y = np.where(np.nan_to_num(X[:, 0]) > 0, values[0], values[-1])
    else:
        y = draw.choice(values, count)
    for place in np.flatnonzero(draw.random(count) < 0.03):
        y[place] = _odd_number(draw)
    return y


def _meeting(problem: Problem, draw: Draw, count: int) -> Table:
    """Rows whose losses all bend at one point of the domain, where curvatures jump by floats."""
    bounds, loss = problem.bounds, problem.loss
    X = draw.standard_normal((count, bounds.n_features))
    if draw.random() < 0.7:
        X[:] = X[0]
    X *= bounds.row_norm() / np.linalg.norm(X, axis=1, keepdims=True) * draw.uniform(0.5, 1)
    size = min(problem.domain_radius, _power(draw, -1, 2)) * draw.uniform(0, 1)
    point = size * draw.standard_normal(bounds.width)
    point = point if problem.penalty is None else problem.penalty.nearest(point)
    constant = 0.0 if bounds.intercept is None else bounds.intercept * point[-1]
    margins = X @ point[: bounds.n_features] + constant
    if loss.is_classifier:
        y = draw.choice([-1.0, 1.0], count)
        with np.errstate(all="ignore"):
            factor = (y - constant) / (margins - constant)  # so that margins are what labels are
        return Table(X * np.where(np.abs(factor) < 1, factor, 1.0)[:, None], y)
    width = float(getattr(loss, "width", getattr(loss, "threshold", 0.0)))
    y = margins + width * draw.choice(_choice(draw, ([0.0], [-0.5, 0.5], [-1.0, 0.0, 1.0])), count)
    shrunk = min(1.0, bounds.labels.magnitude / max(float(np.abs(y).max()), 1e-300))
    return Table(X * shrunk, y * shrunk)


def neighbours(setting: Setting, table: Table, draw: Draw) -> Iterator[Table]:
    """Yield neighbouring tables: a row that is another one, is left out, or comes in."""
    place, other = int(draw.integers(len(table))), a_table(setting, draw, 1)
    if setting.unit.rows_are_public:
        yield table.changed(place, other)
    else:
        if len(table) > 1:
            yield table.without(place)
        yield table.with_row(other)


# The search


def difficulty(setting: Setting, table: Table, seed: int) -> float:
    """Return the least residual that Newton's method comes to, as a share of the tolerance.

    Zero for plans without a certificate.
    """
    minimiser = getattr(setting.plan, "minimiser", None)
    if minimiser is None:
        return 0.0
    rows = open_rows(table.X, table.y, bounds=setting.bounds, unit=setting.unit)
    linear = _linear(setting.plan, minimiser, seed)
    start = np.zeros(linear.size)
    if isinstance(minimiser, Minimiser):
        objective = RowsObjective(minimiser.problem, rows, linear)
        point = newton(objective, start, tolerance=0.0, most_steps=40).point
        return float(np.linalg.norm(objective.careful_gradient(point))) / minimiser.tolerance
    if not hasattr(minimiser, "plain"):
        return 0.0
    search = minimiser.search(RowsObjective(minimiser.problem, rows, linear))
    point = proximal_newton(search.objective, search.penalty, start, smoothness=search.at_hand,
                            tolerance=0.0, most_steps=40).point  # fmt: skip
    _, residual = certify(search.near(point), search.penalty, point, 1 / search.smoothness)
    return residual / minimiser.tolerance


def _linear(plan: Plan, minimiser: Any, seed: int) -> np.ndarray:
    width = minimiser.problem.width
    if not isinstance(plan, ObjectivePerturbationPlan):
        return np.zeros(width)
    return plan.term.draw(width, RehearsalNoise(seed))


def hardened(
    setting: Setting, table: Table, draw: Draw, seed: int, steps: int
) -> tuple[Table, float]:
    """Change one thing after another, by much or by a few floats, as long as it gets harder."""
    best, share = table, difficulty(setting, table, seed)
    for _ in range(steps):
        X, y = best.X.copy(), None if best.y is None else best.y.copy()
        size = _power(draw, -16, 0)
        kind = int(draw.integers(4))
        if kind == 0 or y is None or isinstance(setting.bounds.labels, LabelSet):
            X = X * (1 + size * draw.standard_normal())
        elif kind == 1:
            y = y + size * draw.standard_normal()
        elif kind == 2:
            y[int(draw.integers(len(y)))] += size * draw.standard_normal()
        else:
            X[int(draw.integers(len(X)))] *= 1 + size * draw.standard_normal()
        trial = Table(X, y)
        harder = difficulty(setting, trial, seed)
        if harder > share:
            best, share = trial, harder
    return best, share


@dataclass(frozen=True)
class Finding:
    """What came of one setting: how many pairs were tried, what went wrong, what was hardest."""

    pairs: int
    wrong: tuple[str, ...]
    seen: Counter[str]
    hardest: float


def attack(
    seed: int, *, name: str | None = None, tables: int = 1, steps: int = 0
) -> Finding | None:
    """Try neighbours of tables in one setting, made harder first; None if it has no plan."""
    draw = np.random.default_rng(seed)
    name = NAMES[seed % len(NAMES)] if name is None else name
    setting = a_setting(name, draw)
    if setting is None:
        return None
    pairs, wrong, hardest, seen = 0, [], 0.0, Counter[str]()
    for number in range(tables):
        table = a_table(setting, draw)
        if steps:
            table, share = hardened(setting, table, draw, seed, steps)
            hardest = max(hardest, share)
        for one in (table, *neighbours(setting, table, draw)):
            what = outcome(setting, one, seed + number)
            seen[what] += 1
            pairs += one is not table
            if what not in ("released", "too large"):
                wrong.append(f"seed {seed}, table {number}: {what}; {setting}")
    return Finding(pairs, tuple(wrong), seen, hardest)


def main(times: int) -> int:
    """Try so many pairs, a few of them after a search; return how many gave something away."""
    warnings.simplefilter("ignore")
    pairs, wrong, hardest, seen, slowest = 0, 0, 0.0, Counter[str](), (0.0, -1)
    for seed in itertools.count():
        if pairs >= times:
            break
        start = time.perf_counter()
        is_searched = seed % 3 == 0
        found = attack(seed, tables=5 if is_searched else 40, steps=20 if is_searched else 0)
        slowest = max(slowest, (time.perf_counter() - start, seed))
        if found is None:
            continue
        pairs += found.pairs
        wrong += len(found.wrong)
        seen += found.seen
        hardest = max(hardest, found.hardest)
        for line in found.wrong:
            print(line, flush=True)
    print(
        f"{pairs} neighbouring pairs ({dict(seen)}): {wrong} refused for their rows; Newton's "
        f"method alone came within {hardest:.2g} of a tolerance; slowest {slowest}."
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
