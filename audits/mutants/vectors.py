"""Broken objective perturbation of losses that are not of a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.mutants.base import BoundMutant, Mutant
from audits.mutants.runs import of_plan
from discreet.audit import Pair
from discreet.data import Bounds
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.mechanisms import VectorPerturbation
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import SeveralOutputs

ADD = AddRemoveOne()


def _problem(outputs: int, target: float, radius: float, ridge: float) -> SeveralOutputs:
    both = Product([(L2Ball(1.0), 1), (L2Ball(target), outputs)])
    domain = Indicator(NuclearBall(radius, (1, outputs)))
    return SeveralOutputs(Bounds(both, 1 + outputs, max_rows=2**16), ridge, domain)


def targets_not_clipped() -> Mutant:
    problem = _problem(outputs=2, target=1.0, radius=0.05, ridge=400.0)
    wide = _problem(outputs=2, target=1e4, radius=0.05, ridge=400.0)
    plan: Any = VectorPerturbation().plan(problem, Budget(1.0), ADD)
    minimiser = replace(plan.minimiser, problem=replace(problem, bounds=wide.bounds))
    nothing, row = [0.0, 0.0, 0.0], [1.0, 1e4, 0.0]
    return Mutant(
        name="targets of several outputs are not clipped",
        breaks="Features are clipped and targets are not: one of 10,000 tilts the objective by as "
        "much, and the noise is for 1.",
        mechanism="vector_perturbation",
        guarantee=plan.guarantee,
        pair=Pair(np.array([nothing]), np.array([nothing, row]), ADD),
        run=of_plan(replace(plan, minimiser=minimiser), wide.bounds),
        original=of_plan(plan, problem.bounds),
        trials=300,
    )


@dataclass(frozen=True)
class _RankOne(SeveralOutputs):
    """Takes the Hessian of several outputs for one of rank one."""

    @property
    def rank(self) -> int:
        return 1


def rank_forgotten() -> BoundMutant:
    outputs, target, radius, ridge, epsilon = 20, 1.0, 0.1, 30.0, 1.0
    sound = _problem(outputs, target, radius, ridge)
    broken = _RankOne(sound.bounds, sound.ridge, sound.penalty)

    def log_ratio(problem: SeveralOutputs) -> float:
        """Return that of the densities with and without a row (1, y), where its b is zero.

        There W = y/(ridge + 1), within the domain, and without the row b = -ridge W.
        """
        plan: Any = VectorPerturbation().plan(problem, Budget(epsilon), ADD)
        slope = ridge * target / (ridge + 1) / plan.scale
        return slope + outputs * math.log1p(1 / ridge)

    return BoundMutant(
        name="the rank of the Hessian is forgotten",
        breaks="Twenty outputs change the volume element by the twentieth power of what one does.",
        mechanism="vector_perturbation",
        measure="epsilon",
        claimed=epsilon,
        reached=lambda: log_ratio(broken),
        reached_by_original=lambda: log_ratio(sound),
    )


MUTANTS = (targets_not_clipped(), rank_forgotten())
