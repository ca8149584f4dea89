"""How long the noise of sampled gradients takes to calibrate, and how much memory.

For several rates, steps and budgets under both units, and batches of a fixed size; each against
the epsilon that dp-accounting finds for the noise. The goal is 10 s of one core and 2 GB for 10 000
steps.
"""

from __future__ import annotations

import resource
import time

import dp_accounting
from dp_accounting.pld import PLDAccountant

from discreet import Budget
from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Hinge
from discreet.mechanisms import NoisyGradient
from discreet.privacy import AddRemoveOne, ReplaceOne, SampledGaussian
from discreet.questions.problem import Problem

SETTINGS = ((0.01, 10_000), (0.001, 10_000), (0.1, 1000), (0.25, 100), (0.5, 30))
BUDGETS = (Budget(1.0, 1e-6), Budget(3.0, 1e-9), Budget(0.1, 1e-6))
UNITS = {
    AddRemoveOne(): dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    ReplaceOne(): dp_accounting.NeighboringRelation.REPLACE_ONE,
}


def theirs(profile: SampledGaussian, relation: object, budget: Budget) -> float:
    """Return dp-accounting's epsilon, on a grid fine enough not to show in four digits."""
    event = dp_accounting.PoissonSampledDpEvent(
        profile.rate, dp_accounting.GaussianDpEvent(1 / profile.mu)
    )
    accountant = PLDAccountant(relation, value_discretization_interval=1e-5 * budget.epsilon)
    return accountant.compose(event, profile.steps).get_epsilon(budget.delta)


def main() -> None:
    bounds = Bounds(L2Ball(1.0), 10, labels=LabelSet([-1, 1]), max_rows=10**6)
    problem = Problem(Hinge(), bounds, ridge=1.0)
    for unit, relation in UNITS.items():
        for rate, steps in SETTINGS:
            for budget in BUDGETS:
                start = time.process_time()
                plan = NoisyGradient(steps, rate).plan(problem, budget, unit)
                took = time.process_time() - start
                found = theirs(plan.guarantee.profile.ideal, relation, budget)
                print(f"{unit.name:<10} rate {rate} steps {steps:<5} epsilon {budget.epsilon:<4g}"
                      f" noise {plan.grid.scale:8.3f}  {took:5.2f} s  dp-accounting {found:.4f}",
                      flush=True)  # fmt: skip
    for size, steps in ((10_000, 10_000), (1, 10**6)):
        start = time.process_time()
        NoisyGradient(steps, batch=size).plan(problem, BUDGETS[0], ReplaceOne())
        took = time.process_time() - start
        print(f"{size:,} of {bounds.max_rows:,} rows, {steps:,} steps: {took:.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"largest resident memory {peak:.2f} GB, dp-accounting's included")


if __name__ == "__main__":
    main()
