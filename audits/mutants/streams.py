"""Broken mechanisms for streams: as printed, or with a step of the proof left out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binom

from audits.mutants.attacks import SeenBefore
from audits.mutants.base import BoundMutant, Mutant
from audits.mutants.runs import Sampled, of_plan, rescale
from audits.printed_noise import printed_beta
from discreet._types import Array, Vector
from discreet.audit import Pair
from discreet.data import Bounds, LabelSet, OpenRows
from discreet.geometry import Box, L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import (
    Experts,
    GradientAscent,
    ImplicitGradient,
    OnlineToBatch,
    PrivateOCP,
)
from discreet.mechanisms.sampling.choice import LOSS_STEPS
from discreet.mechanisms.streaming.gradient_steps import GradientSteps
from discreet.mechanisms.streaming.proximal_steps import ProximalSteps
from discreet.noise import Noise
from discreet.privacy import (
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    ReplaceOne,
    ZeroOutOne,
    unit_named,
)
from discreet.questions import ExpertStream, Problem, Stream

SWAP, ZERO = ReplaceOne(), ZeroOutOne()
LINE = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
BUDGET = Budget(4.0, 1e-3)


def _stream(horizon: int, batch: int = 1, ridge: float = 4000.0) -> Stream:
    """Rounds whose slope is at its bound wherever iterates can be."""
    return Stream(Problem(MarginLogistic(margin=40.0), LINE, ridge=ridge), horizon, batch)


def _turned(rounds: int, place: int) -> Pair:
    """Empty records, but one, of one class or the other."""
    X, y = np.zeros((rounds, 1)), np.ones(rounds)
    X[place] = 1.0
    return Pair((X, y), (X, np.where(np.arange(rounds) == place, -1.0, y)), SWAP)


class PrintedSteps(GradientSteps):
    """Gradient steps of size 2/(Psi t)."""

    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        if seen < self.first:
            return total
        slope = self.problem.loss.slope(label, float(total @ row) / self.stiffness(seen - 1))  # type: ignore[arg-type]
        return np.asarray((seen - 2) / (seen - 1) * total - 2 * float(slope) * row)


def printed_step() -> Mutant:
    stream = _stream(2, batch=2)
    plan: Any = GradientAscent().plan(stream, BUDGET, SWAP)
    broken = replace(plan, algorithm=PrintedSteps(stream.problem, stream.horizon))
    return Mutant(
        name="Algorithm 5.3 of Thakurta (2013): steps 2/(Psi t)",
        breaks="Lemma 5.12 says 2G/(Psi t), and a step of this size jumps twice as far.",
        mechanism="private_ocp",
        guarantee=plan.guarantee,
        pair=_turned(2, place=1),
        run=of_plan(broken, stream.bounds),
        original=of_plan(plan, stream.bounds),
        trials=2000,
    )


def without_ridge() -> Mutant:
    stream = _stream(20, ridge=0.05)
    plan: Any = OnlineToBatch().plan(stream, BUDGET, SWAP)
    return Mutant(
        name="Algorithm 5.4 of Thakurta (2013): no 1/Psi",
        breaks="The sensitivity of the mean is divided by the ridge, which (5.23) leaves out: at a "
        "ridge of 0.05 there is a twentieth of the noise.",
        mechanism="online_to_batch",
        guarantee=plan.guarantee,
        pair=_turned(20, place=0),
        run=of_plan(replace(plan, grid=rescale(plan.grid, 0.05)), stream.bounds),
        original=of_plan(plan, stream.bounds),
        trials=2000,
    )


def exponent_as_product() -> Mutant:
    epsilon, delta, rounds = 1.0, 1e-6, 5
    claim = Guarantee(Approximate(3 * epsilon, 2 * delta), SWAP, quoted_delta=2 * delta)
    stream = _stream(rounds - 1)
    plan: Any = PrivateOCP("even", algorithm="proximal").plan(
        stream, Budget(3 * epsilon, 2 * delta), SWAP
    )
    printed = printed_beta(epsilon, delta, rounds, as_product=True)
    mu = math.sqrt(stream.updates) / printed  # each answer costs one over beta
    return Mutant(
        name="Algorithm 5.1 of Thakurta (2013): the exponent as a product",
        breaks="The boxes print c = log(1/2eps) log(2/delta)/(2 log T); the logarithm of the "
        "product is meant. As printed there is next to no noise for eps above one half.",
        mechanism="private_ocp",
        guarantee=claim,
        pair=_turned(rounds - 1, place=0),
        run=of_plan(replace(plan, schedule=replace(plan.schedule, mu=mu)), stream.bounds),
        original=of_plan(plan, stream.bounds),
        trials=2000,
    )


def exponent_as_product_exactly() -> BoundMutant:
    epsilon, delta, rounds = 1.0, 5e-7, 10_000

    def reached(as_product: bool) -> float:
        beta = printed_beta(epsilon, delta, rounds, as_product=as_product)
        return Gaussian(math.sqrt(rounds - 1) / beta).delta(3 * epsilon)

    return BoundMutant(
        name="Algorithm 5.1 of Thakurta (2013): the product, 10,000 rounds",
        breaks="With the exponent as a product delta is near one where 1e-6 is promised; as the "
        "logarithm of a product the noise is more than enough.",
        mechanism="private_ocp",
        measure="delta",
        claimed=2 * delta,
        reached=lambda: reached(as_product=True),
        reached_by_original=lambda: reached(as_product=False),
    )


class Careless(ProximalSteps):
    """Steps that stop anywhere within a quarter of a slope: away from the origin, if they may."""

    def step(self, total: Vector, seen: int, row: Vector, label: float, played: Vector) -> Vector:
        there = super().step(total, seen, row, label, played)
        return np.asarray(there + 0.25 * np.sign(there))


def unpaid_tolerance() -> Mutant:
    stream = _stream(8, batch=4)
    plan: Any = ImplicitGradient().plan(stream, BUDGET, SWAP)
    broken = replace(plan, algorithm=Careless(stream.problem, stream.horizon))
    return Mutant(
        name="proximal steps whose error is not in the sensitivity",
        breaks="Each step may end a quarter of a slope off, in opposite directions for neighbours, "
        "and errors add up; the noise is for exact steps.",
        mechanism="private_ocp",
        guarantee=plan.guarantee,
        pair=_turned(8, place=0),
        run=of_plan(broken, stream.bounds),
        original=of_plan(plan, stream.bounds),
        trials=2000,
    )


def replaced_as_zeroed() -> Mutant:
    stream = _stream(4)
    plan: Any = ImplicitGradient().plan(stream, BUDGET, SWAP)
    zeroed: Any = ImplicitGradient().plan(stream, BUDGET, ZERO)
    return Mutant(
        name="a replaced record of a stream counts as zeroed out",
        breaks="A record that is replaced takes one slope away and brings another.",
        mechanism="private_ocp",
        guarantee=plan.guarantee,
        pair=_turned(4, place=0),
        run=of_plan(replace(zeroed, guarantee=plan.guarantee), stream.bounds),
        original=of_plan(plan, stream.bounds),
        trials=2000,
    )


COLUMNS = Bounds(Box([0.0, 0.0], [1.0, 1.0]), 2)


def _losses(rounds: int) -> Pair:
    """Two experts alike, but in the first round."""
    first, second = np.full((rounds, 2), 0.5), np.full((rounds, 2), 0.5)
    first[0], second[0] = [1.0, 0.0], [0.0, 1.0]
    return Pair(first, second, SWAP)


def half_the_range() -> Mutant:
    stream = ExpertStream(COLUMNS, 20)
    plan: Any = Experts().plan(stream, BUDGET, SWAP)
    return Mutant(
        name="experts drawn by half the range of their losses",
        breaks="A replaced record moves one expert up and another down: the range of the change is "
        "twice the largest change.",
        mechanism="experts",
        guarantee=plan.guarantee,
        pair=_losses(20),
        run=of_plan(replace(plan, rate=2 * plan.rate), stream.bounds),
        original=of_plan(plan, stream.bounds),
        trials=8000,
    )


def weights_released() -> Mutant:
    stream = ExpertStream(COLUMNS, 4)
    plan: Any = Experts().plan(stream, BUDGET, SWAP)

    def weights(rows: OpenRows, noise: Noise, count: int) -> Array:
        scores = plan.score(rows.gather()[0]).cumsum(axis=0)
        ahead = (scores[:, 1] - scores[:, 0]) * float(plan.rate)
        return np.tile(1 / (1 + np.exp(-ahead)), (count, 1))

    return Mutant(
        name="the weights of experts are released, not a draw",
        breaks="Weights are a function of the sums of losses, without any noise.",
        mechanism="experts",
        guarantee=plan.guarantee,
        pair=_losses(4),
        run=Sampled(stream.bounds, unit_named("replace"), weights),
        original=of_plan(plan, stream.bounds),
        trials=2000,
        scores=(SeenBefore(),),
        original_scores=(),
    )


def printed_temperature() -> BoundMutant:
    epsilon, delta, rounds = 10.0, 1e-6, 4000

    def true_delta(temperature: float) -> float:
        """Of equal odds that one record tilts for good, for losses within one of zero."""
        tilt = 2 / temperature
        firsts = np.arange(rounds + 1)
        losses = (2 * firsts - rounds) * tilt
        weights = binom.pmf(firsts, rounds, 1 / (1 + math.exp(-tilt)))
        return float((weights * -np.expm1(np.minimum(epsilon - losses, 0.0))).sum())

    def planned() -> float:
        stream = ExpertStream(Bounds(Box([-1.0, -1.0], [1.0, 1.0]), 2), rounds)
        plan: Any = Experts().plan(stream, Budget(epsilon, delta), SWAP)
        return true_delta(2 / float(plan.rate * LOSS_STEPS))

    return BoundMutant(
        name="the temperature of Jain and Thakurta (2014), epsilon 10",
        breaks="R sqrt(8 T ln(1/delta))/epsilon is too cold for a large epsilon: the worst pair "
        "has delta = 2.4e-6 where 1e-6 is promised.",
        mechanism="experts",
        measure="delta",
        claimed=delta,
        reached=lambda: true_delta(math.sqrt(8 * rounds * math.log(1 / delta)) / epsilon),
        reached_by_original=planned,
    )


MUTANTS = (
    printed_step(),
    without_ridge(),
    exponent_as_product(),
    exponent_as_product_exactly(),
    unpaid_tolerance(),
    replaced_as_zeroed(),
    half_the_range(),
    weights_released(),
    printed_temperature(),
)
