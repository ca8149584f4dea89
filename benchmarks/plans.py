"""How long a plan takes: CPU of the first one of a process, for every mechanism and budget.

Each plan is made in a fork of a process that has imported everything and planned nothing, so no
cache is warm. Estimators are fitted against a ledger that stops them at the charge: what is timed
is their own choice of a mechanism, and its plan. The quote is the epsilon of the guarantee at its
delta, as ledgers and cards ask for it.

``--numbers FILE`` keeps every number of every plan, and ``--against FILE`` compares with numbers
kept before: bit for bit, and which budgets are refused.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import math
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dp_accounting.pld  # noqa: F401 - so that no fork has to
import numpy as np

from discreet import LinearClassifier, LinearRegressor
from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import DiscreetError
from discreet.geometry import Box, L2Ball, LinfBall, NuclearBall, Product
from discreet.ledger import NoLedger
from discreet.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    LowRankRegressor,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    SimplexRegression,
)
from discreet.location import GeometricMedian, Location, Median, Threshold
from discreet.losses import Hinge, Huber, Logistic, MarginLogistic, PseudoHuber, Squared
from discreet.mechanisms import (
    REGISTRY,
    AdaptiveRidge,
    EachAgainstTheRest,
    ExponentialSampling,
    GaussianSum,
    LaplaceSum,
    Localization,
    Mechanism,
    NoisyGradient,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateCount,
    PrivateStandardisation,
    SimplexSampling,
    SufficientStatistics,
    VectorPerturbation,
)
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, Guarantee, ReplaceOne, Unit
from discreet.questions import (
    BestThreshold,
    ColumnQuantiles,
    Question,
    RowCount,
    SpatialMedian,
    VectorMean,
    VectorSum,
)
from discreet.questions.choices import ColumnLocations
from discreet.questions.mixture import Mixture
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from discreet.questions.vector_problem import SeveralOutputs
from discreet.svm import LinearSVC

UNITS: tuple[Unit, ...] = (AddRemoveOne(), ReplaceOne())
EPSILONS = (0.01, 0.1, 1.0, 8.0, 100.0, 1000.0)
DELTAS = (0.0, 1e-6, 1e-9)
WIDTHS = (3, 100)
ROWS = (2**10, 2**23)
GOAL = 0.3
LONGEST = 120
"""Seconds after which a plan is given up."""


@dataclass(frozen=True)
class Setting:
    """What is declared: columns, rows, budget and unit."""

    width: int
    rows: int
    budget: Budget
    unit: Unit

    def __str__(self) -> str:
        budget = f"epsilon {self.budget.epsilon:g} delta {self.budget.delta:g}"
        return f"{self.width} columns, {self.rows} rows, {budget}, {self.unit.name}"


class Charged(Exception):
    """What a fit would have been charged."""


class Till(NoLedger):
    """Stops a fit when it is charged."""

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Any:
        raise Charged(guarantee)


Case = Callable[[Setting], Callable[[], Any]]
"""Prepares a question; what it returns makes the plan, or fits."""


def planned(mechanism: Mechanism, question: Callable[[Setting], Question]) -> Case:
    def prepare(setting: Setting) -> Callable[[], Any]:
        asked = question(setting)
        return lambda: mechanism.plan(asked, setting.budget, setting.unit)

    return prepare


def fitted(model: Any, target: Callable[[np.ndarray], Any] | None, **options: Any) -> Case:
    def prepare(setting: Setting) -> Callable[[], Any]:
        table = np.random.default_rng(0).uniform(-1, 1, (2**10, setting.width)) / setting.width
        budget = setting.budget
        made = model(epsilon=budget.epsilon, delta=budget.delta, unit=setting.unit,
                     max_rows=setting.rows, ledger=Till(), **options)  # fmt: skip

        def fit() -> Guarantee:
            try:
                made.fit(table) if target is None else made.fit(table, target(table[:, 0]))
            except Charged as charged:
                return charged.args[0]
            raise AssertionError("a fit was not charged")

        return fit

    return prepare


def mechanisms() -> Iterator[tuple[str, Case]]:
    def labelled(s: Setting, intercept: float | None = None) -> Bounds:
        return Bounds(L2Ball(1.0), s.width, labels=LabelSet([-1, 1]), intercept=intercept,
                      max_rows=s.rows)  # fmt: skip

    def ranged(s: Setting) -> Bounds:
        return Bounds(L2Ball(1.0), s.width, labels=Interval(-1, 1), max_rows=s.rows)

    def plain(s: Setting) -> Bounds:
        return Bounds(L2Ball(1.0), s.width, max_rows=s.rows)

    def box(s: Setting) -> Bounds:
        return Bounds(Box([0.0] * s.width, [1.0] * s.width), s.width, max_rows=s.rows)

    def marked(s: Setting) -> Bounds:
        return dataclasses.replace(box(s), labels=LabelSet([-1, 1]))

    def pair(s: Setting) -> Bounds:
        both = Product([(L2Ball(1.0), s.width), (L2Ball(1.0), 2)])
        return Bounds(both, s.width + 2, max_rows=s.rows)

    def bend(s: Setting) -> float:
        return max(0.25 / math.expm1(0.4 * min(s.budget.epsilon, 700.0)), 0.05)

    def logistic(s: Setting) -> Problem:
        return Problem(Logistic(), labelled(s), ridge=bend(s))

    def two_sided(s: Setting) -> Problem:
        return Problem(PseudoHuber(0.5), ranged(s), ridge=4 * bend(s))

    def steep(s: Setting) -> Problem:
        return Problem(MarginLogistic(), labelled(s, 1.0), ridge=4 * bend(s))

    def hinge(s: Setting) -> Problem:
        return Problem(Hinge(), labelled(s), ridge=1.0)

    def kept(s: Setting) -> Problem:
        return Problem(Hinge(), labelled(s), ridge=1.0, penalty=Indicator(L2Ball(5.0)))

    def squares(s: Setting) -> Problem:
        return Problem(Squared(1.0), ranged(s), ridge=1.0)

    def ball(s: Setting) -> Problem:
        inside = Indicator(L2Ball(2.0))
        return Problem(Squared(1.0), ranged(s), ridge=8 * bend(s), penalty=inside)

    def classes(problem: Callable[[Setting], Problem]) -> Callable[[Setting], OneVsRest]:
        return lambda s: OneVsRest(
            dataclasses.replace(problem(s), ridge=3 * problem(s).ridge), classes=3
        )

    def mixture(s: Setting) -> Mixture:
        bounds = Bounds(LinfBall(1.0), s.width, labels=Interval(-1, 1), max_rows=s.rows)
        return Mixture(Squared(1.0), bounds)

    def median(smoothing: float) -> Callable[[Setting], SpatialMedian]:
        return lambda s: SpatialMedian(
            plain(s), 1000 * bend(s), Indicator(L2Ball(1.0)), smoothing=smoothing
        )

    def outputs(s: Setting) -> SeveralOutputs:
        return SeveralOutputs(pair(s), 100 * bend(s), Indicator(NuclearBall(1.0, (s.width, 2))))

    yield "gaussian_sum: sum", planned(GaussianSum(), lambda s: VectorSum(plain(s)))
    yield "gaussian_sum: mean", planned(GaussianSum(), lambda s: VectorMean(box(s)))
    yield "laplace_sum: sum", planned(LaplaceSum(), lambda s: VectorSum(plain(s)))
    yield "private_count: label", planned(PrivateCount(), lambda s: RowCount(labelled(s), 1))
    for law in (None, "gaussian", "laplace", "radial"):
        yield f"output_perturbation: {law}", planned(OutputPerturbation(law), logistic)
    for law in (None, "gaussian", "laplace", "radial"):
        yield f"objective_perturbation: {law}", planned(ObjectivePerturbation(law), logistic)
    yield "objective_perturbation: two-sided", planned(ObjectivePerturbation(), two_sided)
    yield "objective_perturbation: in a ball", planned(ObjectivePerturbation("gaussian"), ball)
    yield "one_vs_rest: objective", planned(EachAgainstTheRest(), classes(logistic))
    yield (
        "one_vs_rest: output",
        planned(EachAgainstTheRest(OutputPerturbation()), classes(logistic)),
    )
    yield "one_vs_rest: drawn", planned(EachAgainstTheRest(ExponentialSampling()), classes(kept))
    yield "private_standardisation: two classes", planned(PrivateStandardisation(), steep)
    yield (
        "private_standardisation: output",
        planned(PrivateStandardisation(OutputPerturbation()), steep),
    )
    yield (
        "private_standardisation: one-vs-rest",
        planned(PrivateStandardisation(EachAgainstTheRest()), classes(steep)),
    )
    yield (
        "private_standardisation: softmax",
        planned(PrivateStandardisation(NoisyGradient()), classes(steep)),
    )
    yield "adaptive_ridge: in a ball", planned(AdaptiveRidge(), ball)
    yield "sufficient_statistics: squares", planned(SufficientStatistics(), squares)
    drawn = ExponentialSampling()
    yield "exponential_sampling: quantiles", planned(drawn, lambda s: ColumnQuantiles(box(s)))
    yield (
        "exponential_sampling: locations",
        planned(drawn, lambda s: ColumnLocations(box(s), Huber(0.1))),
    )
    yield "exponential_sampling: thresholds", planned(drawn, lambda s: BestThreshold(marked(s)))
    yield "exponential_sampling: model", planned(drawn, kept)
    yield "noisy_gradient: as it chooses", planned(NoisyGradient(), hinge)
    yield "noisy_gradient: softmax", planned(NoisyGradient(), classes(logistic))
    yield "noisy_gradient: rate 0.01", planned(NoisyGradient(1000, 0.01), hinge)
    yield "noisy_gradient: rate 0.25", planned(NoisyGradient(100, 0.25), hinge)
    yield "noisy_gradient: batch 64", planned(NoisyGradient(300, batch=64), hinge)
    yield "noisy_gradient: distances", planned(NoisyGradient(), median(0.0))
    yield "simplex_sampling: squares", planned(SimplexSampling(), mixture)
    yield "vector_perturbation: distances", planned(VectorPerturbation(), median(0.05))
    yield "vector_perturbation: outputs", planned(VectorPerturbation(), outputs)
    yield "localization: logistic", planned(Localization(), logistic)


def estimators() -> Iterator[tuple[str, Case]]:
    def two(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, 1, 0)

    def three(x: np.ndarray) -> np.ndarray:
        return np.digitize(x, np.quantile(x, [0.3, 0.7]))

    def counts(x: np.ndarray) -> np.ndarray:
        return np.rint(np.exp(x))

    def itself(x: np.ndarray) -> np.ndarray:
        return x

    two_classes: dict[str, Any] = {"classes": [0, 1]}
    three_classes: dict[str, Any] = {"classes": [0, 1, 2]}
    domain: dict[str, Any] = {"domain": L2Ball(2.0)}
    yield "LinearClassifier", fitted(LinearClassifier, two, **two_classes)
    yield "LinearClassifier: softmax", fitted(LinearClassifier, three, **three_classes)
    yield "LinearClassifier: C = 1", fitted(LinearClassifier, two, C=1.0, **two_classes)
    yield "LogisticRegression", fitted(LogisticRegression, two, **two_classes)
    yield "LogisticRegression: one-vs-rest", fitted(LogisticRegression, three, **three_classes)
    yield "LogisticRegression: domain", fitted(LogisticRegression, two, **two_classes, **domain)
    for loss in ("huber_hinge", "smoothed_hinge", "hinge"):
        yield f"LinearSVC: {loss}", fitted(LinearSVC, two, loss=loss, **two_classes)
    yield "LinearSVC: one-vs-rest", fitted(LinearSVC, three, **three_classes)
    yield "HuberRegressor", fitted(HuberRegressor, itself)
    yield "QuantileRegressor", fitted(QuantileRegressor, itself)
    yield "PoissonRegressor", fitted(PoissonRegressor, counts)
    yield "LinearRegressor", fitted(LinearRegressor, itself)
    yield "Ridge", fitted(Ridge, itself)
    yield "Ridge: domain", fitted(Ridge, itself, **domain)
    yield "Lasso", fitted(Lasso, itself)
    yield "Lasso: domain", fitted(Lasso, itself, **domain)
    yield "ElasticNet: domain", fitted(ElasticNet, itself, **domain)
    yield "SimplexRegression", fitted(SimplexRegression, itself)
    yield "LowRankRegressor", fitted(LowRankRegressor, lambda x: np.column_stack([x, -x]))
    yield "GeometricMedian", fitted(GeometricMedian, None)
    yield "Median", fitted(Median, None)
    yield "Location: huber", fitted(Location, None, loss=Huber(0.1))
    yield "Threshold", fitted(Threshold, two, **two_classes)


def numbers(value: Any) -> Iterator[str]:
    """Yield every number in a plan, exactly."""
    if isinstance(value, float | int | np.number):
        yield value.hex() if isinstance(value, float) else str(int(value))
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(map(numbers, value.values()))
    elif isinstance(value, tuple | list):
        yield from itertools.chain.from_iterable(map(numbers, value))
    elif isinstance(value, Guarantee):
        yield from numbers(json.loads(value.to_json()))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name))


def timed(case: Case, setting: Setting) -> dict[str, Any]:
    """Plan in this process, which has planned nothing so far."""
    found: dict[str, Any] = {"refused": None, "numbers": [], "quote": 0.0}
    try:
        make = case(setting)
        start = time.process_time()
        try:
            plan = make()
        finally:
            found["plan"] = time.process_time() - start
        guarantee = plan if isinstance(plan, Guarantee) else plan.guarantee
        found["numbers"] = list(numbers(plan))
        start = time.process_time()
        guarantee.epsilon()
        found["quote"] = time.process_time() - start
    except DiscreetError as refusal:
        found["refused"] = f"{type(refusal).__name__}: {refusal}"
    return found


def in_a_fork(case: Case, setting: Setting) -> dict[str, Any]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)
        os.close(read)
        with os.fdopen(write, "w") as pipe:
            json.dump(timed(case, setting), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    given_up = {"plan": math.inf, "quote": math.inf, "refused": "given up", "numbers": []}
    return json.loads(told) if told else given_up


def settings(options: argparse.Namespace) -> Iterator[Setting]:
    for width, rows in itertools.product(options.widths, options.rows):
        for unit, delta, epsilon in itertools.product(UNITS, options.deltas, options.epsilons):
            yield Setting(width, rows, Budget(epsilon, delta), unit)


def compare(found: dict[str, Any], before: dict[str, Any]) -> None:
    """Print which plans changed, and by how much at most."""
    changed = 0
    for key, one in found.items():
        other = before.get(key)
        if other is None or all(one[part] == other[part] for part in ("numbers", "refused")):
            continue
        changed += 1
        if one["refused"] != other["refused"]:
            print(f"{key}\n  was {other['refused']!r}\n  is  {one['refused']!r}")
            continue
        pairs = zip(map(_read, one["numbers"]), map(_read, other["numbers"]), strict=False)
        most = max((abs(a / b - 1) for a, b in pairs if a != b and b and a), default=math.nan)
        print(f"{key}\n  numbers change by up to {most:.2g}")
    print(f"{changed} of {len(found)} plans changed")


def _read(number: str) -> float:
    return float.fromhex(number) if "x" in number or "n" in number else float(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--deltas", type=float, nargs="+", default=DELTAS)
    parser.add_argument("--numbers", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    cases = [*mechanisms(), *estimators()]
    if missing := {m.name for m in REGISTRY} - {name.partition(":")[0] for name, _ in cases}:
        raise SystemExit(f"no plans of {', '.join(sorted(missing))}")
    every: dict[str, Any] = {}
    print(f"{'CPU in ms':<42} {'median':>7} {'worst':>7} {'quote':>7}  refused  the worst")
    for name, case in cases:
        if options.only not in name:
            continue
        found = {s: in_a_fork(case, s) for s in settings(options)}
        every |= {f"{name}; {setting}": one for setting, one in found.items()}
        slowest = max(found, key=lambda s: found[s]["plan"])
        plans = [one["plan"] for one in found.values()]
        quote = max(one["quote"] for one in found.values())
        refused = sum(one["refused"] is not None for one in found.values())
        median, worst = 1e3 * statistics.median(plans), 1e3 * max(plans)
        print(f"{name:<42} {median:>7.1f} {worst:>7.0f} {1e3 * quote:>7.0f}  "
              f"{refused:>3}/{len(found):<3}  {slowest}", flush=True)  # fmt: skip
    slow = sum(one["plan"] > GOAL for one in every.values())
    print(f"{slow} of {len(every)} plans take more than {GOAL} s of CPU")
    if options.numbers:
        options.numbers.write_text(json.dumps(every))
    if options.against:
        compare(every, json.loads(options.against.read_text()))


if __name__ == "__main__":
    main()
