"""Adversaries who choose every record of a stream after they have seen the last answer.

One record is there or not, or turned round; all later ones push against the last answer. What these
add is known to whoever has chosen them, if a mechanism keeps its word that they see public points
only; what is left of an answer is the one record and noise, of which the adversary takes the most
telling sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Vector
from discreet.audit import AuditResult, Pair, audit
from discreet.data import Bounds, LabelSet
from discreet.geometry import Box, L2Ball
from discreet.losses import Hinge
from discreet.mechanisms import Experts, FollowTheLeader, InteractivePlan, PrivateOCP, Session
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget, ReplaceOne, Unit, ZeroOutOne
from discreet.questions import ExpertStream, Problem, Stream

BUDGET = Budget(4.0, 1e-3)

ROUNDS = 50
"""Coefficients stay small, so that margins are on the side of the kink where the slope is one."""


@dataclass(frozen=True, eq=False)
class Adversary:
    """Plays a stream against a session; of the one record that differs, only its sign is data.

    Parameters
    ----------
    plan
        Of the mechanism that is attacked.
    record
        Makes a row and a label of a sign: the record that pushes this way.
    push
        Makes the sign of the next record of an answer.
    residual
        Makes of an answer, its number and all signs chosen so far what they do not explain.
    weights
        How much each answer counts.
    """

    plan: InteractivePlan
    record: Callable[[float], tuple[Array, Vector | None]]
    push: Callable[[Any], float]
    residual: Callable[[Any, int, float], float]
    weights: Vector

    def play(self, sign: float, seed: int) -> float:
        """Return the statistic of one stream, whose first record has this sign; 0 for none."""
        session: Session = self.plan.start(RehearsalNoise(seed))
        found, pushed = 0.0, 0.0
        for step, weight in enumerate(self.weights, start=1):
            if step == 1 and not sign:
                session.skip()
            else:
                own = sign if step == 1 else self.push(session.answer())
                pushed += 0.0 if step == 1 else own
                session.learn(*self.record(own))
            found += weight * self.residual(session.answer(), step, pushed)
        return found

    def many(self, data: Any, count: int, seed: int) -> Array:
        """Play so many streams; the data set is the sign of the first record."""
        (sign,) = np.ravel(data)
        seeds = np.random.SeedSequence(seed).generate_state(count, np.uint64)
        return np.array([[self.play(float(sign), int(each))] for each in seeds])


def pair_of(unit: Unit) -> Pair:
    """Return a record that is there or not, or that is turned round."""
    return Pair(np.array([1.0]), np.array([0.0 if unit.has_empty_rounds else -1.0]), unit)


def _straight(ridge: float, width: int = 1) -> Stream:
    bounds = Bounds(L2Ball(1.0), width, labels=LabelSet([-1, 1]))
    return Stream(Problem(Hinge(), bounds, ridge=ridge), ROUNDS)


def _one_column(sign: float) -> tuple[Array, Vector]:
    return np.array([[1.0]]), np.array([sign])


def _against(answer: Any) -> float:
    return -1.0 if answer[0] > 0 else 1.0


def leader_of_steps(budget: Budget, unit: Unit) -> Adversary:
    """``private_ocp``: noise of its own for every answer."""
    plan: Any = PrivateOCP().plan(_straight(4000.0), budget, unit)
    stiff = [plan.algorithm.stiffness(step) for step in range(1, ROUNDS + 1)]
    scales = [plan.schedule.grid(step).scale for step in range(1, ROUNDS + 1)]
    deviations = np.array(scales) * stiff

    def residual(answer: Any, step: int, pushed: float) -> float:
        return float(answer[0] * stiff[step - 1] - pushed)

    return Adversary(plan, _one_column, _against, residual, deviations**-2.0)


def leader_of_sums(budget: Budget, unit: Unit) -> Adversary:
    """``follow_the_leader``: noise that is correlated over the answers."""
    mechanism = FollowTheLeader("square_root", learning_rate=1e-4)
    plan: Any = mechanism.plan(_straight(1.0), budget, unit)
    stiff = [plan.leader.pull + step / ROUNDS for step in range(1, ROUNDS + 1)]
    strategy = np.array([_padded(plan.release.factor.row(step)) for step in range(ROUNDS)])
    decoder = np.tril(np.ones((ROUNDS, ROUNDS))) @ np.linalg.inv(strategy)
    weights = np.linalg.solve(decoder @ decoder.T, np.ones(ROUNDS))

    def residual(answer: Any, step: int, pushed: float) -> float:
        return float(answer[0] * stiff[step - 1] - pushed)

    return Adversary(plan, _one_column, _against, residual, weights)


def _padded(row: Vector) -> Vector:
    """Return a row of the matrix that the Gaussian mechanism sees sums through."""
    return np.concatenate([row[::-1], np.zeros(ROUNDS - row.size)])


def followed_expert(budget: Budget, unit: Unit) -> Adversary:
    """``experts``: two of them; whoever was drawn loses next."""
    box = Bounds(Box([0.0, 0.0], [1.0, 1.0]), 2)
    plan: Any = Experts().plan(ExpertStream(box, ROUNDS), budget, unit)
    cold = float(plan.rate) * 2**20

    def record(sign: float) -> tuple[Array, None]:
        return np.array([[1.0, 0.0] if sign > 0 else [0.0, 1.0]]), None

    def residual(answer: Any, step: int, pushed: float) -> float:
        # Losses of the first expert above those of the second, as chosen: how odd is this draw?
        likely = 1 / (1 + math.exp(-cold * pushed))  # of the second
        return float(answer) - likely

    return Adversary(
        plan, record, lambda drawn: 1.0 if drawn == 0 else -1.0, residual, np.ones(ROUNDS)
    )


ADVERSARIES: dict[str, Callable[[Budget, Unit], Adversary]] = {
    "private_ocp": leader_of_steps,
    "follow_the_leader": leader_of_sums,
    "experts": followed_expert,
}


def attack(name: str, budget: Budget, unit: Unit, *, trials: int, seed: int = 0) -> AuditResult:
    """Play an adversary of fifty rounds against a mechanism, and certify what it proves.

    Parameters
    ----------
    name
        One of ``ADVERSARIES``.
    budget, unit
        What is promised.
    trials
        Streams in each of the two worlds.
    seed
        Of the rehearsals.
    """
    return certify(ADVERSARIES[name](budget, unit), unit, trials=trials, seed=seed, subject=name)


def certify(
    adversary: Adversary, unit: Unit, *, trials: int, seed: int = 0, subject: str = ""
) -> AuditResult:
    """Return what an adversary proves about the guarantee of its plan.

    Parameters
    ----------
    adversary
        Who plays.
    unit
        What may differ.
    trials
        Streams in each of the two worlds.
    seed
        Of the rehearsals.
    subject
        What is attacked, in words.
    """
    return audit(
        adversary,
        pair_of(unit),
        adversary.plan.guarantee,
        trials=trials,
        seed=seed,
        subject=f"{subject}, an adaptive stream of {ROUNDS} records",
    )


def attack_all(names: Iterable[str], *, trials: int = 4000, seed: int = 0) -> list[AuditResult]:
    """Play every adversary of these mechanisms, in both units.

    Parameters
    ----------
    names
        Of mechanisms; those without an adversary are passed over.
    trials
        Streams in each of the two worlds.
    seed
        Of the rehearsals.
    """
    return [
        attack(name, BUDGET, unit, trials=trials, seed=seed)
        for name in ADVERSARIES
        if name in names
        for unit in (ReplaceOne(), ZeroOutOne())
    ]
