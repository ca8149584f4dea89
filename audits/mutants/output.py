"""Broken output perturbation: noise on the minimiser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audits.mutants.attacks import Nearness
from audits.mutants.base import Mutant
from audits.mutants.runs import Sampled, of_plan, rescale
from discreet._types import Array
from discreet.audit import Pair
from discreet.data import Bounds, LabelSet, OpenRows
from discreet.geometry import L2Ball
from discreet.losses import MarginLogistic
from discreet.mechanisms import OutputPerturbation
from discreet.mechanisms.minimising.linear_term import LinearTerm, RadialTerm
from discreet.noise import Noise
from discreet.noise.radial_noise import draw_radials
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem

BOUNDS = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=2**20)
STEEP = Problem(MarginLogistic(margin=40.0), BOUNDS, ridge=4000.0)
"""Its slope is one wherever coefficients are small, so that worst pairs attain the sensitivity."""

ADD, SWAP = AddRemoveOne(), ReplaceOne()
NOTHING, AXIS = [0.0, 0.0], [1.0, 0.0]
ONE_MORE = Pair((np.array([NOTHING]), np.array([1])), (np.array([NOTHING, AXIS]), np.array([1, 1])),
                ADD)  # fmt: skip
EXCHANGED = Pair((np.array([NOTHING, AXIS]), np.array([1, 1])),
                 (np.array([NOTHING, AXIS]), np.array([1, -1])), SWAP)  # fmt: skip


def moves_once() -> Mutant:
    plan: Any = OutputPerturbation("gaussian").plan(STEEP, Budget(4.0, 1e-3), SWAP)
    return Mutant(
        name="a replaced record moves the minimiser once",
        breaks="The noise is for adding a record; replacing one moves the minimiser twice as far.",
        mechanism="output_perturbation",
        guarantee=plan.guarantee,
        pair=EXCHANGED,
        run=of_plan(replace(plan, grid=rescale(plan.grid, 0.5)), BOUNDS),
        original=of_plan(plan, BOUNDS),
        trials=8000,
    )


def of_radial(plan: Any, term: LinearTerm) -> Sampled:
    """Run radial output perturbation with a term of its own, masked as planned."""

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        point = plan._solve(rows)
        noisy = point + term.draw_many(point.size, count, noise)
        return np.asarray(plan.mask.hide(noisy.ravel(), noise))

    return Sampled(BOUNDS, plan.guarantee.unit, released)


class ShortTerm(RadialTerm):
    """A uniform direction, and a Gamma length of one shape too few."""

    def draw_many(self, width: int, count: int, noise: Noise) -> Array:
        lengths = np.linalg.norm(draw_radials(width - 1, self.scale, count, noise), axis=1)
        directions = draw_radials(width, 1.0, count, noise)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return np.asarray(directions * lengths[:, None])


def wrong_shape() -> Mutant:
    plan: Any = OutputPerturbation("radial").plan(STEEP, Budget(1.0), ADD)
    moved = np.array([1.0, 0.0]) / STEEP.ridge
    return Mutant(
        name="the norm's Gamma law has shape p - 1",
        breaks="The density is unbounded at its centre, which gives the minimiser away.",
        mechanism="output_perturbation",
        guarantee=plan.guarantee,
        pair=ONE_MORE,
        run=of_radial(plan, ShortTerm(plan.term.scale)),
        original=of_radial(plan, plan.term),
        trials=8000,
        scores=(Nearness(moved),),
    )


MUTANTS = (moves_once(), wrong_shape())
