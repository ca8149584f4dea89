"""Which online mechanism answers a stream: the one asked for, or the least predicted regret."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.errors import DiscreetError
from discreet.geometry import ConvexSet
from discreet.losses import Loss, Squared
from discreet.mechanisms import InteractiveMechanism, Mechanism, PrivateOCP, mechanism_named
from discreet.penalties import Indicator
from discreet.policy.task import Asked
from discreet.privacy import Budget, Unit
from discreet.questions import Bounds, Problem, Stream

BY_STEPS = {
    "private_ocp": "leader",
    "implicit_gradient": "proximal",
    "gradient_ascent": "gradient",
}
"""Algorithms whose ridge is that of one record; those of running sums have one for the stream."""

USUAL_ANSWERS = 1024

BY_SUMS = ("online_quadratic", "follow_the_leader")

MECHANISMS = ("auto", *BY_SUMS, *BY_STEPS)


@dataclass(frozen=True)
class StreamTask:
    """Everything public about a stream that is learnt from."""

    loss: Loss
    bounds: Bounds
    horizon: int
    batch: int | None
    ridge: float | None
    domain: ConvexSet | None
    mechanism: str | InteractiveMechanism
    assumed: tuple[str, ...] = ()

    @property
    def usual_ridge(self) -> float:
        """A trace of ridge: what one record can bend."""
        return self.bounds.row_norm() ** 2

    def state(self, name: str) -> Stream:
        """Return the stream as a mechanism of this name takes it."""
        ridge = self.usual_ridge if self.ridge is None else self.ridge
        if name in BY_STEPS:
            ridge = self._ridge_of_a_record() if self.ridge is None else ridge / self.horizon
        problem = Problem(
            self.loss,
            self.bounds,
            ridge,
            penalty=None if self.domain is None else Indicator(self.domain),
            assumed=self.assumed,
        )
        return Stream(problem, self.horizon, self.batch or count_usual_batch(self.horizon))

    def _ridge_of_a_record(self) -> float:
        """Return the ridge that balances bias and noise for a convex loss: (p / T)^(1/4)."""
        return self.usual_ridge * math.sqrt(math.sqrt(self.bounds.width / self.horizon))


def count_usual_batch(horizon: int) -> int:
    """Return so many records to an answer that there are about a thousand answers.

    More answers need more noise, a quarter more for fifty thousand, and hardly follow the stream
    more closely.
    """
    return -(-horizon // USUAL_ANSWERS)


def choose_for_stream(task: StreamTask, budget: Budget, unit: Unit) -> Asked:
    """Return the stream, who answers it, and why."""
    if isinstance(task.mechanism, InteractiveMechanism):
        return Asked(task.state(task.mechanism.name), task.mechanism)
    if task.mechanism != "auto":
        return Asked(task.state(task.mechanism), _find_mechanism(task.mechanism))
    if isinstance(task.loss, Squared) and math.isfinite(
        _predict_regret(task, "online_quadratic", budget, unit)
    ):
        why = (
            "least squares are known from running sums: regret grows with the logarithm of records"
        )
        return Asked(
            task.state("online_quadratic"), mechanism_named("online_quadratic"), reasons=(why,)
        )
    names = BY_SUMS if task.ridge is None else (*BY_SUMS, *BY_STEPS)
    found = {name: _predict_regret(task, name, budget, unit) for name in names}
    best = min(found, key=found.__getitem__)
    if not math.isfinite(found[best]):
        best = "follow_the_leader"  # it says itself what it cannot do
    mechanism = _find_mechanism(best)
    compared = [name for name in names if math.isfinite(found[name])]
    reasons = (
        (f"{best} has the least predicted regret of {', '.join(compared)}",)
        if len(compared) > 1
        else ()
    )
    return Asked(task.state(best), mechanism, reasons=reasons)


def _find_mechanism(name: str) -> Mechanism:
    """Return who answers under a name: that of a mechanism, or of an algorithm by steps."""
    return PrivateOCP(algorithm=BY_STEPS[name]) if name in BY_STEPS else mechanism_named(name)


def _predict_regret(task: StreamTask, name: str, budget: Budget, unit: Unit) -> float:
    """Return the bound on regret of a mechanism; infinite if it has no proof or no bound."""
    try:
        plan = _find_mechanism(name).plan(task.state(name), budget, unit)
    except DiscreetError:
        return math.inf
    return float(getattr(plan, "regret", math.inf))
