"""Every registered mechanism with a pair of data sets that it can tell apart well."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.audit.scores import Score
from discreet.audit.statistical.audit_result import AuditResult
from discreet.audit.statistical.pair import Pair
from discreet.audit.statistical.statistical_audit import audit
from discreet.data import Rows
from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, NuclearBall, Product
from discreet.kernels import RBF, BoundedKernel, Linear
from discreet.ledger import NoLedger
from discreet.losses import Hinge, Huber, Logistic, MarginLogistic, Squared
from discreet.mechanisms import (
    REGISTRY,
    AcceleratedGradient,
    AdaptiveRidge,
    BoundedUpdates,
    EachAgainstTheRest,
    Experts,
    ExponentialSampling,
    FollowingHistogram,
    FollowTheLeader,
    FrankWolfe,
    GaussianProcess,
    GaussianSum,
    GradientAscent,
    ImplicitGradient,
    IterativeThresholding,
    LaplaceSum,
    Localization,
    Mechanism,
    NetUpdates,
    NoisyAggregate,
    NoisyGradient,
    NoisyHistogram,
    ObjectivePerturbation,
    OnlineQuadratic,
    OnlineToBatch,
    OutputPerturbation,
    Peeling,
    Plan,
    PrivateCount,
    PrivateOCP,
    PrivateRanges,
    PrivateStandardisation,
    ProjectedKernel,
    ProposeTestRelease,
    RepeatAndSelect,
    SandwichMoments,
    SelectThenFit,
    SimplexSampling,
    StabilityRelease,
    SufficientStatistics,
    TrainAndChoose,
    VectorPerturbation,
    mechanism_named,
)
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.mechanisms.signal_rules import SignalRules
from discreet.mechanisms.simplex_sampling import least_with, widest
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import (
    AddRemoveOne,
    Budget,
    NoPrivacy,
    TrialLaw,
    Unit,
    ZeroOutOne,
    unit_named,
)
from discreet.questions import (
    BlockAverage,
    BlockVote,
    CellCounts,
    ColumnQuantiles,
    ColumnVotes,
    ExpertStream,
    FollowingCounts,
    KernelQueries,
    L1Problem,
    LassoSupport,
    ModelCandidate,
    ModelChoice,
    ProposedMedian,
    Question,
    RowCount,
    SeveralOutputs,
    SparseProblem,
    SpatialMedian,
    Stream,
    StrongestColumns,
    VectorSum,
)
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.mixture import Mixture
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest

NAMES = tuple(mechanism.name for mechanism in REGISTRY)


@dataclass(frozen=True, eq=False)
class MechanismRun:
    """Many releases of a planned mechanism, with seeded noise, from data sets (X, y)."""

    plan: Plan
    bounds: Bounds
    unit: Unit

    def many(self, data: Any, count: int, seed: int) -> Array:
        X, y = data if isinstance(data, tuple) else (data, None)
        rows = Rows(X, y, bounds=self.bounds, unit=self.unit)
        nothing = replace(self.plan.guarantee, profile=NoPrivacy())
        receipt = NoLedger().charge(nothing, purpose="audit")
        released: Array = self.plan.run_many(rows.open(receipt), RehearsalNoise(seed), count)
        return np.asarray(released, dtype=np.float64).reshape(count, -1)


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism, a question, a budget, and two neighbouring data sets.

    ``effort`` is how long a release takes, in units of a fast one; fewer are made of slow ones.
    ``is_tight`` claims that the analysis is tight on this pair, so that a good attack comes near
    it; otherwise ``remark`` says what is loose.
    """

    label: str
    mechanism: Mechanism
    question: Question
    budget: Budget
    pair: Pair
    is_tight: bool = True
    remark: str = ""
    effort: float = 1.0
    scores: tuple[Score, ...] = ()

    @property
    def subject(self) -> str:
        """What is audited, in a line."""
        return f"{self.label}, {self.pair.unit.name}, epsilon {self.budget.epsilon:g}"

    def plan(self) -> Plan:
        return self.mechanism.plan(self.question, self.budget, self.pair.unit)

    def audit(self, **options: Any) -> AuditResult:
        """Audit the mechanism; options are those of :func:`discreet.audit.audit`."""
        plan = self.plan()
        run = MechanismRun(plan, self.question.bounds, self.pair.unit)
        return audit(
            run, self.pair, plan.guarantee, scores=self.scores, subject=self.subject, **options
        )


def units_of(name: str) -> tuple[str, ...]:
    """Return the names of the units in which a registered mechanism is audited.

    Examples
    --------
    >>> units_of("gaussian_sum")
    ('add_remove', 'replace')
    """
    return mechanism_named(name).units


Maker = Callable[[Unit, Budget, Budget], Iterator[Case]]
"""Makes cases for a unit, a budget with delta and a pure one."""


def cases(name: str, unit: str | Unit, epsilon: float, delta: float = 1e-6) -> tuple[Case, ...]:
    """Return what there is to audit about a registered mechanism.

    Examples
    --------
    >>> [case.label for case in cases("output_perturbation", "replace", 1.0)]
    ['output perturbation, gaussian', 'output perturbation, laplace', 'output perturbation, radial']
    """
    _checks.one_of(NAMES, mechanism=name)
    _checks.epsilon(epsilon=epsilon)
    return tuple(_MAKERS[name](unit_named(unit), Budget(epsilon, delta), Budget(epsilon)))


_EDGE, _NOTHING = [[1.0]], [[0.0]]


def _edge_pair(unit: Unit) -> Pair:
    """One row as far out as it may be: there or not, or on one side or the other."""
    if isinstance(unit, AddRemoveOne):
        return Pair(np.array(_NOTHING), np.array(_NOTHING + _EDGE), unit)
    return Pair(np.array(_EDGE), -np.array(_EDGE), unit)


def _gaussian_sum(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = VectorSum(Bounds(L2Ball(1.0), 1))
    yield Case("gaussian sum", GaussianSum(), question, budget, _edge_pair(unit))


def _laplace_sum(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = VectorSum(Bounds(L1Ball(1.0), 1))
    yield Case("laplace sum", LaplaceSum(), question, pure, _edge_pair(unit))


def _private_count(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    # Far from zero, where the count is cut off.
    X, y = np.zeros((400, 1)), np.ones(400)
    if isinstance(unit, AddRemoveOne):
        pair = Pair((X, y), (X[1:], y[1:]), unit)
    else:
        pair = Pair((X, y), (X, np.where(np.arange(400) == 0, -1.0, y)), unit)
    yield Case("private count", PrivateCount(), RowCount(bounds, 1), pure, pair)


def _noisy_histogram(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = CellCounts((3,))
    first, second, third = np.array([[0.0]]), np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]])
    pair = Pair(first if isinstance(unit, AddRemoveOne) else third, second, unit)
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"noisy histogram, {law}", NoisyHistogram(law), question, spent, pair)


def _following_histogram(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = FollowingCounts(4, (), most_bins=2)
    low, high, other = [1.0, -3.0, 0.9], [2.0, 3.0, 0.1], [1.0, 3.0, 0.9]
    first = [low] if isinstance(unit, AddRemoveOne) else [low, other]
    pair = Pair(np.array(first), np.array([low, high]), unit)
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"following histogram, {law}", FollowingHistogram(law), question, spent, pair,
                   is_tight=False, effort=10.0,
                   remark="of the first release only edges are seen")  # fmt: skip


def _steep(width: int = 1, ridge: float = 4000.0) -> Problem:
    """A loss whose slope is at its bound wherever the coefficients can be."""
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]), max_rows=2**20)
    return Problem(MarginLogistic(margin=40.0), bounds, ridge=ridge)


def _class_pair(unit: Unit, row: list[float]) -> Pair:
    """A row of one class: there or not, or of one class or the other."""
    nothing = [0.0] * len(row)
    if isinstance(unit, AddRemoveOne):
        return Pair((np.array([nothing]), np.ones(1)), (np.array([nothing, row]), np.ones(2)), unit)
    return Pair((np.array([row]), np.ones(1)), (np.array([row]), -np.ones(1)), unit)


_LAWS = ("gaussian", "laplace", "radial")


def _output_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for law in _LAWS:
        spent = budget if law == "gaussian" else pure
        yield Case(f"output perturbation, {law}", OutputPerturbation(law), _steep(), spent,
                   _class_pair(unit, [1.0]))  # fmt: skip


def _objective_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for law in _LAWS:
        spent = budget if law == "gaussian" else pure
        yield Case(f"objective perturbation, {law}", ObjectivePerturbation(law), _steep(), spent,
                   _class_pair(unit, [1.0]))  # fmt: skip
    yield _logistic(unit, budget)


@dataclass(frozen=True)
class LogisticPair:
    """Logistic loss where its slope is near one: many weak rows hold the coefficients far away.

    With coefficients near (far, 0), rows (-c, s) and (-c, -s) of class one are misclassified by
    far times c, and their gradients are nearly 2 s apart. ``reach`` is how many standard
    deviations of the coefficients this lasts.
    """

    unit: Unit
    budget: Budget
    cosine: float
    reach: float

    @property
    def problem(self) -> Problem:
        bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**20)
        return Problem(Logistic(), bounds, ridge=2.0 / self.budget.epsilon)

    def plan(self) -> ObjectivePerturbationPlan:
        plan = ObjectivePerturbation("gaussian").plan(self.problem, self.budget, self.unit)
        _checks.instance(ObjectivePerturbationPlan, plan=plan)
        return cast(ObjectivePerturbationPlan, plan)

    def common(self) -> tuple[float, int]:
        """Return the length of the weak rows, which lie on the first axis, and how many."""
        ridge = self.problem.ridge
        far = (3.0 + self.reach * self.plan().scale / ridge) / self.cosine
        return 1 / far, math.ceil(ridge * far**2 * (1 + math.e))

    def differing(self) -> list[tuple[float, float]]:
        """Return the rows that differ: there or not, or the one for the other."""
        sine = math.sqrt(1 - self.cosine**2)
        rows = [(-self.cosine, sine), (-self.cosine, -sine)]
        return rows[:1] if isinstance(self.unit, AddRemoveOne) else rows

    def pair(self) -> Pair:
        weak, count = self.common()
        rows, (one, *other) = np.tile([[weak, 0.0]], (count, 1)), self.differing()
        first = np.vstack([rows, [one]])
        second = np.vstack([rows, *([row] for row in other)])
        return Pair((first, np.ones(len(first))), (second, np.ones(len(second))), self.unit)


def _logistic(unit: Unit, budget: Budget) -> Case:
    cosine = 1.0 if isinstance(unit, AddRemoveOne) else 0.5
    worst = LogisticPair(unit, budget, cosine, reach=2.0)
    effort = 3.0 + worst.common()[1] / 125
    return Case("objective perturbation, gaussian, logistic", ObjectivePerturbation("gaussian"),
                worst.problem, budget, worst.pair(), effort=effort,
                remark="many rows make releases slow; quadrature shows the rest")  # fmt: skip


def _one_vs_rest(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question, pair = OneVsRest(_steep(), classes=3), _turned_pair(unit)
    for law, spent in (("gaussian", budget), ("radial", pure)):
        yield Case(f"one-vs-rest, {law}", EachAgainstTheRest(ObjectivePerturbation(law)),
                   question, spent, pair, effort=6.0)  # fmt: skip


def _private_standardisation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for spent in (budget, pure):
        bounds = Bounds(
            Box([-1.0], [1.0]), 1, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=2**16
        )
        problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)
        law, pair = "gaussian" if spent.delta > 0 else "pure", _class_pair(unit, [1.0])
        yield Case(f"private standardisation, {law}", PrivateStandardisation(), problem, spent,
                   pair, is_tight=False, effort=300.0,
                   remark="only coefficients are released, and the frame is seen through them"
                   )  # fmt: skip
        if spent.delta > 0:
            settled = PrivateStandardisation(
                ObjectivePerturbation(settles_later=True),
                share=0.06,
                rules=SignalRules(settles_margin=False),
            )
            yield Case("private standardisation that settles ridge and length", settled, problem,
                       spent, pair, is_tight=False, effort=300.0,
                       remark="as above; and what is settled is seen itself")  # fmt: skip
        yield Case(f"private standardisation with counts of scores, {law}",
                   PrivateStandardisation(counts_scores=True), problem, spent, pair,
                   is_tight=False, effort=300.0,
                   remark="as above; and counts have the smallest part of the budget"
                   )  # fmt: skip


def _private_ranges(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """A crowd near the upper bound; one record more at the lower, or one brought there.

    The lowest quantile then moves by as many ranks as it can.
    """
    bounds = Bounds(Box([-1.0], [1.0]), 1, labels=LabelSet([-1, 1]), intercept=1.0, max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0)
    crowd = np.full((60, 1), 0.499)
    first = crowd if isinstance(unit, AddRemoveOne) else np.vstack([crowd, [[0.5]]])
    second = np.vstack([crowd, [[-0.5]]])
    pair = Pair((first, np.ones(len(first))), (second, np.ones(len(second))), unit)
    for spent in (budget, pure):
        law = "gaussian" if spent.delta > 0 else "laplace"
        learner = ObjectivePerturbation(law)
        yield Case(f"private ranges, {law}", PrivateRanges(learner, columns=(0,)), problem, spent,
                   pair, is_tight=False, effort=300.0,
                   remark="ranges have the smallest part of the budget")  # fmt: skip


def _sandwich_moments(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # At the edge of its straight part a loss is steep and bent at once.
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1), max_rows=2**16)
    problem = Problem(Huber(0.5), bounds, ridge=4000.0 / budget.epsilon)
    pair = _number_pair(unit, [1.0, 0.0], 0.5 * (1 - 1e-6))
    yield Case("sandwich moments", SandwichMoments(), problem, budget, pair, is_tight=False,
               effort=150.0, remark=NOT_AT_ONCE)  # fmt: skip
    yield Case("sandwich moments, least squares", SandwichMoments(SufficientStatistics()),
               _squares(), budget, _number_pair(unit), is_tight=False, effort=150.0,
               remark=NOT_AT_ONCE)  # fmt: skip


NOT_AT_ONCE = "many numbers are released, each shows a little, and not all are worst at once"


def _squares(domain: float | None = None, ridge: float = 20.0) -> Problem:
    bounds = Bounds(L2Ball(1.0), 1, labels=Interval(-1, 1), max_rows=2**16)
    penalty = None if domain is None else Indicator(L2Ball(domain))
    return Problem(Squared(1.0), bounds, ridge=ridge, penalty=penalty)


def _number_pair(unit: Unit, row: Sequence[float] = (1.0,), label: float = 1.0) -> Pair:
    """A row with the largest label: there or not, or with the opposite one."""
    edge, nothing = np.array([row]), np.zeros((1, len(row)))
    if isinstance(unit, AddRemoveOne):
        both = np.vstack([nothing, edge])
        return Pair((nothing, np.zeros(1)), (both, np.array([0.0, label])), unit)
    return Pair((edge, np.full(1, label)), (edge, np.full(1, -label)), unit)


def _adaptive_ridge(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("adaptive ridge", AdaptiveRidge(), _squares(domain=1.0, ridge=40.0 / budget.epsilon),
               budget, _number_pair(unit), is_tight=False, effort=260.0,
               remark="the bound on slopes holds at the edge of the domain, and a tenth of the "
               "budget buys an eigenvalue that shows little")  # fmt: skip


def _sufficient_statistics(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for spent in (budget, pure):
        law = "gaussian" if spent.delta > 0 else "laplace"
        yield Case(f"sufficient statistics, {law}", SufficientStatistics(), _squares(), spent,
                   _number_pair(unit), is_tight=False, effort=60.0,
                   remark="moments are not released themselves, and this pair moves only some"
                   )  # fmt: skip


def _exponential_sampling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Nearly all grid points become worse by a rank's worth, and a few better.

    The few are drawn one time in five where they are better: the rarer they are, the nearer the
    log ratio is to epsilon, and the harder to count.
    """
    is_added = isinstance(unit, AddRemoveOne)
    odds = 0.25 * math.exp(-pure.epsilon if is_added else -pure.epsilon / 2)
    edge = 1 / (1 + odds)
    if is_added:
        pair = Pair(np.array([[1.0]]), np.array([[1.0], [edge]]), unit)
    else:
        pair = Pair(np.array([[0.0], [edge], [edge]]), np.array([[1.0], [edge], [edge]]), unit)
    question = ColumnQuantiles(Bounds(Box([0.0], [1.0]), 1), steps=2**16)
    yield Case("exponential sampling, median", ExponentialSampling(), question, pure, pair,
               effort=0.1, remark="log ratios near epsilon belong to rare draws")  # fmt: skip
    yield Case("exponential sampling, coefficient", ExponentialSampling(), _straight(), pure,
               _class_pair(unit, [1.0]), is_tight=False, effort=8.0, remark=RARE)  # fmt: skip


RARE = "log ratios near epsilon belong to rare draws; the exact law shows them"


def _straight(domain: float = 1.0, ridge: float = 0.01) -> Problem:
    """A loss whose slope is at its bound in all of the domain."""
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    return Problem(MarginLogistic(40.0), bounds, ridge=ridge, penalty=Indicator(L2Ball(domain)))


def _localization(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("localization", Localization(), _straight(100.0, ridge=40.0 / pure.epsilon), pure,
               _class_pair(unit, [1.0]), is_tight=False, effort=3000.0,
               remark="the draft is not released, and of two stages each shows a half")  # fmt: skip


BATCHES = "of a sampled sum the loss is not Gaussian, and mu undersells it"


def _noisy_gradient(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # So much ridge that slopes stay at their bound; of one step, the last point says everything.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    problem = Problem(Hinge(), bounds, ridge=4000.0 / budget.epsilon)
    for steps, rate, average in ((1, 1.0, "last"), (4, 1.0, "uniform"), (1, 0.25, "last")):
        of = "all rows" if rate == 1 else "batches"
        remark = "" if rate == 1 else BATCHES
        if steps > 1:
            remark = "an average of the path tells less than all of it"
        mechanism = NoisyGradient(steps, rate, rule="strongly_convex", average=average)
        yield Case(f"noisy gradient, {of}, {steps} step{'s' * (steps > 1)}", mechanism, problem,
                   budget, _class_pair(unit, [1.0]), is_tight=steps == 1,
                   effort=20.0 + 20.0 * steps, remark=remark)  # fmt: skip
    yield _noisy_directions(unit, budget)
    yield _noisy_softmax(unit, budget)
    if isinstance(unit, AddRemoveOne):
        return  # the number of rows is private, and so is a batch of so many
    # All others are alike, and opposite to one of the two that are exchanged.
    few = Problem(Hinge(), replace(bounds, max_rows=4), ridge=4000.0 / budget.epsilon)
    X, y = np.ones((4, 1)), np.ones(4)
    pair = Pair((X, y), (X, np.array([1.0, 1.0, 1.0, -1.0])), unit)
    mechanism = NoisyGradient(1, batch=1, rule="strongly_convex", average="last")
    yield Case("noisy gradient, 1 row of 4, 1 step", mechanism, few, budget, pair, effort=40.0,
               remark=BATCHES)  # fmt: skip


def _noisy_directions(unit: Unit, budget: Budget) -> Case:
    # A row far away pulls with all its might, wherever the point is.
    bounds = Bounds(L2Ball(1e6), 1, max_rows=2**16)
    problem = SpatialMedian(bounds, 4000.0 / budget.epsilon, Indicator(L2Ball(1.0)))
    mechanism = NoisyGradient(1, 1.0, rule="strongly_convex", average="last")
    return Case("noisy gradient, directions", mechanism, problem, budget, _far_pair(unit),
                effort=40.0)  # fmt: skip


def _noisy_softmax(unit: Unit, budget: Budget) -> Case:
    # A margin out of reach: at the origin a row is sure not to be of its class.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0 / budget.epsilon)
    mechanism = NoisyGradient(1, 1.0, rule="strongly_convex", average="last")
    return Case("noisy gradient, softmax", mechanism, OneVsRest(problem, classes=3), budget,
                _turned_pair(unit), is_tight=False, effort=60.0, remark=EVEN)  # fmt: skip


EVEN = "at the origin the other classes are as likely as each other; slopes are longest if one is"


def _accelerated_gradient(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # As softmax above; the norm is in units of a record, and one of few records matters to it.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), bounds, ridge=4000.0 / budget.epsilon)
    yield Case("accelerated gradient", AcceleratedGradient(1), OneVsRest(problem, classes=3),
               budget, _turned_pair(unit), is_tight=False, effort=60.0, remark=EVEN)  # fmt: skip
    # Hardly any ridge, so that the norm decides how far the step goes.
    wide = replace(problem, bounds=replace(bounds, n_features=2), ridge=0.01)
    yield Case("accelerated gradient, steps", AcceleratedGradient(1), OneVsRest(wide, classes=3),
               budget, _leaning_pair(unit), is_tight=False, effort=80.0,
               remark="the norm has a small part of the budget")  # fmt: skip


def _leaning_pair(unit: Unit) -> Pair:
    """Rows along two axes, many and few, and one between them: there or not, or along the first."""
    many, few = np.tile([[1.0, 0.0]], (400, 1)), np.tile([[0.0, 1.0]], (5, 1))
    first = np.vstack([many, few])
    second = np.vstack([first, [[math.sqrt(0.5), math.sqrt(0.5)]]])
    if not isinstance(unit, AddRemoveOne):
        first = np.vstack([first, many[:1]])
    return Pair((first, np.zeros(len(first))), (second, np.zeros(len(second))), unit)


def _turned_pair(unit: Unit) -> Pair:
    """A row of the first of several classes: there or not, or turned about."""
    nothing, row = [0.0], [1.0]
    if isinstance(unit, AddRemoveOne):
        return Pair(
            (np.array([nothing]), np.zeros(1)), (np.array([nothing, row]), np.zeros(2)), unit
        )
    return Pair((np.array([row]), np.zeros(1)), (-np.array([row]), np.zeros(1)), unit)


def _far_pair(unit: Unit) -> Pair:
    """A row far out: there or not, or on one side or the other."""
    if isinstance(unit, AddRemoveOne):
        return Pair(np.array([[0.0]]), np.array([[0.0], [1e6]]), unit)
    return Pair(np.array([[1e6]]), np.array([[-1e6]]), unit)


def _vector_perturbation(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    far = Bounds(L2Ball(1e6), 1, max_rows=2**16)
    distances = SpatialMedian(far, 400.0 / pure.epsilon, Indicator(L2Ball(1.0)), smoothing=1.0)
    yield Case("vector perturbation, distances", VectorPerturbation(), distances, pure,
               _far_pair(unit), effort=100.0)  # fmt: skip
    bounds = Bounds(Product([(L2Ball(1.0), 1), (L2Ball(1.0), 2)]), 3, max_rows=2**16)
    domain = Indicator(NuclearBall(0.05, (1, 2)))
    outputs = SeveralOutputs(bounds, 400.0 / pure.epsilon, domain)
    nothing, row = [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]
    if isinstance(unit, AddRemoveOne):
        pair = Pair(np.array([nothing]), np.array([nothing, row]), unit)
    else:
        pair = Pair(np.array([row]), np.array([[1.0, -1.0, 0.0]]), unit)
    yield Case("vector perturbation, several outputs", VectorPerturbation(), outputs, pure, pair,
               effort=150.0, is_tight=False,
               remark="the bound on slopes holds at the edge of the domain")  # fmt: skip


def _simplex_sampling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Two columns and slopes at their bound; rows so short that those in common hardly bend.

    One record moves the odds of the columns by the whole range. A single draw is worst where one
    column is rare, so common rows make it so; of many draws even odds are worst.
    """
    for spent, draws, behind in ((pure, 1, 1.5), (budget, 40, 0.0)):
        bounds = Bounds(LinfBall(0.01), 2, labels=LabelSet([-1, 1]), max_rows=64)
        free = Mixture(MarginLogistic(margin=40.0), bounds)
        entropy = least_with(free, unit, widest(spent, draws))
        common = min(round(behind * entropy / 0.02), bounds.max_rows - 2)
        ahead = np.tile([[0.01, -0.01]], (common, 1))
        one = np.array([[0.01, -0.01]])
        if isinstance(unit, AddRemoveOne):
            first, second = np.vstack([ahead, 0 * one]), np.vstack([ahead, 0 * one, -one])
        else:
            first, second = np.vstack([ahead, one]), np.vstack([ahead, -one])
        pair = Pair((first, np.ones(len(first))), (second, np.ones(len(second))), unit)
        of = "one draw" if draws == 1 else f"{draws} draws"
        yield Case(f"simplex sampling, {of}", SimplexSampling(), replace(free, entropy=entropy),
                   spent, pair, effort=0.1 * draws,
                   remark="log ratios near epsilon belong to rare draws" if draws == 1 else ""
                   )  # fmt: skip


def _stream_pair(row: list[float], other: list[float], labels: tuple[float, float], unit: Unit,
                 rounds: int) -> Pair:  # fmt: skip
    """The first record of a stream there or not, or another; later ones say nothing."""
    if isinstance(unit, ZeroOutOne):
        other = [0.0] * len(row)
    X, Z = np.zeros((rounds, len(row))), np.zeros((rounds, len(row)))
    X[0], Z[0] = row, other
    y = np.ones(rounds)
    return Pair((X, y * [labels[0], *y[1:]]), (Z, y * [labels[1], *y[1:]]), unit)


def _follow_the_leader(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # The first record is steep; of 50 answers each is the last one of another running sum.
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
    stream = Stream(Problem(Hinge(), bounds, ridge=1.0), horizon=50)
    # The zeroed-out record must keep a declared label.
    labels = (1.0, 1.0) if isinstance(unit, ZeroOutOne) else (1.0, -1.0)
    pair = _stream_pair([1.0], [1.0], labels, unit, 50)
    for factor in ("square_root", "tree", "band"):
        yield Case(f"follow the leader, {factor.replace('_', ' ')}", FollowTheLeader(factor),
                   stream, budget, pair, effort=30.0, is_tight=False,
                   remark=SPREAD_OUT)  # fmt: skip


SPREAD_OUT = "what shows is spread over all answers, and scores take the answers one by one"


def _online_quadratic(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    bounds = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1))
    problem = Problem(Squared(1.0), bounds, ridge=20.0, penalty=Indicator(L2Ball(10.0)))
    pair = _stream_pair([1.0, 0.0], [0.5, math.sqrt(0.75)], (1.0, -1.0), unit, 4)
    yield Case("online quadratic", OnlineQuadratic("square_root"), Stream(problem, horizon=4),
               budget, pair, effort=20.0, is_tight=False,
               remark="moments are not released themselves, only what is solved from them"
               )  # fmt: skip


def _steep_stream(rounds: int) -> Stream:
    """Rounds of a loss whose slope is at its bound wherever iterates can be."""
    return Stream(_steep(), horizon=rounds)


def _early_pair(unit: Unit, rounds: int, place: int = 0) -> Pair:
    """Empty records but an early one: there or not, or of one class or the other."""
    X, y = np.zeros((rounds, 1)), np.ones(rounds)
    X[place] = 1.0
    if isinstance(unit, ZeroOutOne):
        return Pair((np.zeros((rounds, 1)), y), (X, y), unit)
    return Pair((X, y), (X, np.where(np.arange(rounds) == place, -1.0, y)), unit)


def _private_ocp(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    for schedule in ("regret", "even"):
        yield Case(f"private online convex programming, {schedule}", PrivateOCP(schedule),
                   _steep_stream(4), budget, _early_pair(unit, 4), effort=20.0)  # fmt: skip
    yield Case("implicit gradient", ImplicitGradient(), _steep_stream(4), budget,
               _early_pair(unit, 4), effort=6.0)  # fmt: skip
    # The first record is passed over: of a straight loss that is all of the warm-up.
    yield Case("gradient ascent", GradientAscent(), _steep_stream(4), budget,
               _early_pair(unit, 4, place=1), effort=6.0)  # fmt: skip


def _online_to_batch(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("online to batch", OnlineToBatch(), _steep_stream(20), budget,
               _early_pair(unit, 20))  # fmt: skip


def _experts(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    # Draws in a row from equal odds, which one record tilts for good.
    rounds = 20
    question = ExpertStream(Bounds(Box([0.0, 0.0], [1.0, 1.0]), 2), horizon=rounds)
    first, second = np.full((rounds, 2), 0.5), np.full((rounds, 2), 0.5)
    first[0] = [1.0, 0.0]
    if not isinstance(unit, ZeroOutOne):
        second[0] = [0.0, 1.0]
    yield Case("experts", Experts(), question, budget, Pair(first, second, unit), effort=2.0,
               remark="zCDP accounts a little more than the law of the draws")  # fmt: skip


def straight_queries(points: tuple[tuple[float, ...], ...], rounds: int = 1) -> KernelQueries:
    """Ask about a linear kernel on a line, with a hinge whose slope is one near zero."""
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=1000)
    kernel = BoundedKernel(Linear(), 1.0)
    return KernelQueries(Hinge(), bounds, 40.0, kernel, max_answers=rounds, points=points)


def _projected_kernel(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    yield Case("projected kernel, one landmark", ProjectedKernel(), straight_queries(((1.0,),)),
               budget, _class_pair(unit, [1.0]))  # fmt: skip


def _net_updates(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """The account is of zCDP; the law of a draw and an answer is a little better."""
    question = straight_queries(((1.0,), (0.25,)), rounds=2)
    yield Case("net updates, two points", NetUpdates(patience=0.0), question, budget,
               _class_pair(unit, [1.0]), is_tight=False, effort=20.0,
               remark="zCDP accounts a little more than the law of a release")  # fmt: skip


def _peeling(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """One record that half of the columns gain from, and the others lose by, as much as they can.

    Sums without means attain the range; the columns that gain are behind before.
    """
    for size in (1, 2):
        bounds = Bounds(LinfBall(1.0), 2 * size, labels=LabelSet([-1, 1]), max_rows=2**16)
        X, y = np.array([[0.0] * size + [-1.0] * size] * 3), np.ones(3)
        more, turned = np.vstack([X, np.ones((1, 2 * size))]), np.append(y, -1.0)
        first = (X, y) if isinstance(unit, AddRemoveOne) else (more, turned)
        pair = Pair(first, (more, np.append(y, 1.0)), unit)
        question = StrongestColumns(bounds, size, is_centred=False)
        yield Case(f"peeling, {size} of {2 * size} columns", Peeling(), question, pure, pair,
                   is_tight=False, effort=float(size), remark=RARE)  # fmt: skip
    yield Case("peeling, votes of blocks", Peeling(), ColumnVotes(vote_on_sign(1), 1), pure,
               sign_pair(1, unit), is_tight=False, effort=6.0, remark=RARE)  # fmt: skip


def first_if_negative(X: Any, y: Any) -> list[int]:
    """Choose the first of two columns if an entry is below zero, and otherwise the second."""
    return [0 if X.min() < 0 else 1]


def vote_on_sign(blocks: int) -> BlockVote:
    """Ask blocks whether an entry is below zero: one record decides for its block."""
    return BlockVote(Bounds(LinfBall(1.0), 2, max_rows=2**16), first_if_negative, blocks)


def sign_pair(blocks: int, unit: Unit) -> Pair:
    """Enough rows that no block is empty, and one that turns the vote of its block, or not."""
    rows = np.ones((12 * blocks, 2))
    more = np.vstack([rows, [[-1.0, -1.0]]])
    kept = rows if isinstance(unit, AddRemoveOne) else np.vstack([rows, [[1.0, 1.0]]])
    return Pair(kept, more, unit)


def lasso_of_few(ceiling: float) -> LassoSupport:
    """Ask which columns a LASSO uses, on tables where it uses none for sure."""
    bounds = Bounds(LinfBall(1.0), 2, labels=Interval(-1.0, 1.0), max_rows=2**16)
    return LassoSupport(bounds, 1, 1e4, 1.0, ceiling, has_constant=False)


def widest_pair(rows: int, unit: Unit) -> Pair:
    """Entries at their bound, and one more of them: all that a LASSO of zeros has to withstand."""
    X, more = np.ones((rows, 2)), np.ones((rows + 1, 2))
    if not isinstance(unit, AddRemoveOne):
        X = np.vstack([X, np.zeros((1, 2))])
    return Pair((X, np.zeros(len(X))), (more, np.zeros(rows + 1)), unit)


def _stability_release(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """All blocks but one agree, and are just ahead enough: one record turns a vote.

    A LASSO's columns are just narrow enough: one record makes them wider.
    """
    test: Any = StabilityRelease().plan(vote_on_sign(1), budget, unit)
    blocks = test.test.level + test.test.margin
    yield Case("stability release, votes of blocks", StabilityRelease(), vote_on_sign(blocks),
               budget, sign_pair(blocks, unit), effort=6.0)  # fmt: skip
    lasso: Any = StabilityRelease().plan(lasso_of_few(9.0), budget, unit)
    withstood = lasso.test.margin * (1 if isinstance(unit, AddRemoveOne) else 2)
    yield Case("stability release, a LASSO", StabilityRelease(), lasso_of_few(withstood + 20.5),
               budget, widest_pair(20, unit))  # fmt: skip


def least_entry(X: Any, y: Any) -> float:
    """Return the least entry of a block, which one record decides."""
    return float(X.min())


def first_entry(X: Any, y: Any) -> float:
    """Return the first entry of the first row of a block."""
    return float(X[0, 0])


def sign_of_first_row(X: Any, y: Any) -> list[int]:
    """Choose a column by the sign of the first row of a block."""
    return [0 if X[0, 0] < 0 else 1]


def least_on_an_axis(X: Any, y: Any) -> Array:
    """Return the least entry of a block as the first of several numbers, the others zero."""
    return np.append(X.min(), np.zeros(MANY_NUMBERS - 1))


MANY_NUMBERS = 40
"""So many that Gaussian noise is smaller than Laplace noise."""


def average_of_least(blocks: int, aggregate: str = "mean") -> BlockAverage:
    """Ask for the average, over blocks, of their least entry."""
    bounds = Bounds(LinfBall(1.0), 2, max_rows=2**16)
    return BlockAverage(bounds, least_entry, blocks, Box([-1.0], [1.0]), aggregate=aggregate)


def _noisy_aggregate(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """One record moves the numbers of its block from one end of the region to the other."""
    yield Case("noisy aggregate, Laplace mean", NoisyAggregate(), average_of_least(1), pure,
               sign_pair(1, unit), effort=6.0)  # fmt: skip
    many = BlockAverage(Bounds(LinfBall(1.0), 2, max_rows=2**16), least_on_an_axis, 1, L2Ball(1.0),
                        MANY_NUMBERS)  # fmt: skip
    yield Case("noisy aggregate, Gaussian mean", NoisyAggregate(), many, budget,
               sign_pair(1, unit), effort=12.0)  # fmt: skip
    yield Case("noisy aggregate, winsorised mean", NoisyAggregate(),
               average_of_least(1, "winsorised"), pure, sign_pair(1, unit), is_tight=False,
               effort=12.0, remark="two draws and a mean, each of which shows a part")  # fmt: skip


PROPOSED = ProposedMedian(Bounds(Box([0.0], [1000.0]), 1, max_rows=2**16), 10.0, steps=1000)
"""A proposal of ten steps of a grid of a thousand."""


def proposed_pair(unit: Unit, records: int) -> Pair:
    """Medians ten steps apart; of the first so many records have to change, one fewer or more."""
    if isinstance(unit, AddRemoveOne):  # two crowds; with one record more the second has the median
        half = records // 2
        crowds = np.repeat([500.0, 510.0], [half, half])[:, None]
        return Pair(crowds, np.vstack([crowds, [[510.0]]]), unit)
    crowds = np.repeat([0.0, 10.0], [records, records])[:, None]
    moved = np.vstack([crowds[1:], [[1000.0]]])
    return Pair(crowds, moved, unit)


def _propose_test_release(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Just as many records as the test asks for: one moves both its chance and the median."""
    plan: Any = ProposeTestRelease().plan(PROPOSED, budget, unit)
    pair = proposed_pair(unit, plan.noises[0].test.margin)
    yield Case("propose, test, release", ProposeTestRelease(), PROPOSED, budget, pair,
               effort=3.0)  # fmt: skip


def choice_of_columns(ridge: float = 4000.0) -> ModelChoice:
    """Ask which of two columns predicts the class better, a model of each by itself."""
    bounds = Bounds(LinfBall(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**20)
    one = _steep(ridge=ridge)
    return ModelChoice(bounds, (ModelCandidate(one), ModelCandidate(one, start=1)))


SECRET_PART = "the record is in one part of several, and nobody knows in which"


def _train_and_choose(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """A row as far out as it may be, which is in the part of a model, or decides among them."""
    pair, learners = _class_pair(unit, [1.0, 1.0]), (OutputPerturbation("laplace"),) * 2
    for is_shared, refits in ((False, False), (False, True), (True, False)):
        how = "shared" if is_shared else "fitted again" if refits else "split"
        yield Case(f"train and choose, {how}", TrainAndChoose(learners, is_shared, refits),
                   choice_of_columns(), pure, pair, is_tight=False, effort=20.0,
                   remark=SECRET_PART)  # fmt: skip


def _repeat_and_select(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """The same row; it moves all models that were fitted, or all scores."""
    pair = _class_pair(unit, [1.0, 1.0])
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        mechanism = RepeatAndSelect((OutputPerturbation(law),) * 2, TrialLaw.with_mean(3))
        yield Case(f"repeat and select, {law}", mechanism, choice_of_columns(), spent, pair,
                   is_tight=False, effort=30.0, remark=SECRET_PART)  # fmt: skip


def steep_rows(columns: int) -> Bounds:
    """Return bounds of rows whose slopes are all at their bound, for Huber's loss of a half."""
    return Bounds(LinfBall(1.0), columns, labels=Interval(-1, 1), max_rows=2**16)


def steep_pair(columns: int, unit: Unit) -> Pair:
    """A record that pulls one way, and one more that pulls the other, as steeply as it can."""
    X, y = -np.ones((1, columns)), np.ones(1)
    more, turned = np.vstack([X, np.ones((1, columns))]), np.append(y, -1.0)
    first = (X, y) if isinstance(unit, AddRemoveOne) else (more, turned)
    return Pair(first, (more, np.append(y, 1.0)), unit)


def _frank_wolfe(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """A ball so small that slopes stay at their bound in every step."""
    for steps in (1, 2):
        problem = L1Problem(Huber(0.5), steep_rows(1), radius=0.1)
        yield Case(f"Frank-Wolfe, steps: {steps}", FrankWolfe(steps), problem, pure,
                   steep_pair(1, unit), is_tight=False, effort=4.0 * steps,
                   remark=RARE)  # fmt: skip


def _iterative_thresholding(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    problem = SparseProblem(Huber(0.5), steep_rows(2), size=2, radius=1e3)
    yield Case("iterative thresholding", IterativeThresholding(1, rows=1), problem, budget,
               steep_pair(2, unit), is_tight=False, effort=3.0,
               remark="half of the budget draws two of two columns, which says little")  # fmt: skip


def _select_then_fit(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Two columns that go with the labels alike, and a record by which one of them is ahead."""
    labels = LabelSet([-1, 1])
    wide = Bounds(LinfBall(1.0), 2, labels=labels, max_rows=2**16)
    inside = Bounds(L2Ball(1.0), 1, labels=labels, intercept=1.0, max_rows=2**16)
    problem = Problem(MarginLogistic(margin=40.0), wide, ridge=4000.0)
    X, more = np.ones((6, 2)), np.vstack([np.ones((6, 2)), [[1.0, -1.0]]])
    kept = X if isinstance(unit, AddRemoveOne) else np.vstack([X, [[-1.0, 1.0]]])
    pair = Pair((kept, np.ones(len(kept))), (more, np.ones(7)), unit)
    mechanism = SelectThenFit(StrongestColumns(wide, 1, is_centred=False), ObjectivePerturbation(),
                              inside, share=0.5)  # fmt: skip
    yield Case("select, then fit", mechanism, problem, budget, pair, is_tight=False, effort=100.0,
               remark="two stages, neither of which has its own worst-case pair here")  # fmt: skip


PLACE, AROUND = (0.6,), ((0.6001,), (0.6,), (0.59999,))
"""Where the record is that differs, and points around it that are asked about."""


def queries_of(points: tuple[tuple[float, ...], ...], ridge: float = 200.0) -> KernelQueries:
    """Ask a kernel model about points, where its loss is straight as far as minimisers go."""
    bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=1000)
    kernel = BoundedKernel(RBF(2.0), 1.0)
    return KernelQueries(Hinge(), bounds, ridge, kernel, len(points), points)


def query_pair(unit: Unit) -> Pair:
    """One record where nobody else is: there or not, or of the one class or the other."""
    others, both = np.array([[-0.5]]), np.array([[-0.5], PLACE])
    if isinstance(unit, AddRemoveOne):
        return Pair((others, np.ones(1)), (both, np.ones(2)), unit)
    return Pair((both, np.array([1.0, -1.0])), (both, np.ones(2)), unit)


def _gaussian_process(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    """Asked where the record is, once or again and again around it."""
    yield Case("gaussian process", GaussianProcess(), queries_of((PLACE,)), budget,
               query_pair(unit))  # fmt: skip
    yield Case("gaussian process, near duplicates", GaussianProcess(), queries_of(AROUND), budget,
               query_pair(unit), effort=2.0)  # fmt: skip


def _bounded_updates(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    mechanism = BoundedUpdates(updates=2, threshold=0.02)
    yield Case("bounded updates", mechanism, queries_of(AROUND), budget,
               query_pair(unit), is_tight=False, effort=2.0,
               remark="the bound holds for any number of queries, and few are asked")  # fmt: skip


_MAKERS: dict[str, Maker] = {
    "gaussian_sum": _gaussian_sum,
    "laplace_sum": _laplace_sum,
    "private_count": _private_count,
    "noisy_histogram": _noisy_histogram,
    "following_histogram": _following_histogram,
    "output_perturbation": _output_perturbation,
    "objective_perturbation": _objective_perturbation,
    "one_vs_rest": _one_vs_rest,
    "private_standardisation": _private_standardisation,
    "private_ranges": _private_ranges,
    "sandwich_moments": _sandwich_moments,
    "adaptive_ridge": _adaptive_ridge,
    "sufficient_statistics": _sufficient_statistics,
    "exponential_sampling": _exponential_sampling,
    "noisy_gradient": _noisy_gradient,
    "accelerated_gradient": _accelerated_gradient,
    "simplex_sampling": _simplex_sampling,
    "vector_perturbation": _vector_perturbation,
    "localization": _localization,
    "follow_the_leader": _follow_the_leader,
    "online_quadratic": _online_quadratic,
    "private_ocp": _private_ocp,
    "online_to_batch": _online_to_batch,
    "experts": _experts,
    "peeling": _peeling,
    "stability_release": _stability_release,
    "noisy_aggregate": _noisy_aggregate,
    "propose_test_release": _propose_test_release,
    "train_and_choose": _train_and_choose,
    "repeat_and_select": _repeat_and_select,
    "frank_wolfe": _frank_wolfe,
    "iterative_thresholding": _iterative_thresholding,
    "select_then_fit": _select_then_fit,
    "gaussian_process": _gaussian_process,
    "bounded_updates": _bounded_updates,
    "projected_kernel": _projected_kernel,
    "net_updates": _net_updates,
}
