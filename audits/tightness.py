"""How near the true profile of Gaussian objective perturbation comes to the declared one.

Counting releases cannot show a delta of one in a million; quadrature of the exact law can.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from audits.mechanisms import DELTA, EPSILONS, UNITS
from discreet.audit.cases.perturbation import LogisticPair
from discreet.audit.exact import exact_audit
from discreet.audit.exact.laws import PlanarMinimiser, Record, ScalarMinimiser
from discreet.privacy import Budget, Gaussian, unit_named

COSINES = {"add_remove": 1.0, "replace": 0.2}
REACH = 8.0
"""Standard deviations: an event of chance one in a million lies five away."""


@dataclass(frozen=True)
class Tightness:
    """The true delta of a pair at the epsilon asked, and what it says of mu."""

    unit: str
    epsilon: float
    true: float
    declared: float
    violated: bool

    @property
    def share_of_mu(self) -> float:
        """The mu of a Gaussian with the true delta over that of one with the declared delta."""
        return mu_of(self.epsilon, self.true) / mu_of(self.epsilon, self.declared)


def logistic(unit: str, epsilon: float, cells: int = 400) -> Tightness:
    """Compare the exact laws of a worst pair with the claim, at the epsilon asked."""
    worst = LogisticPair(unit_named(unit), Budget(epsilon, DELTA), COSINES[unit], REACH)
    plan, (weak, count) = worst.plan(), worst.common()
    one, *other = worst.differing()
    data = [[one], other]
    if unit == "add_remove":  # every row lies on the first axis; the other coefficient sees none
        bounds = replace(worst.problem.bounds, n_features=1)
        problem = replace(worst.problem, bounds=bounds)
        common = Record((weak,), 1.0, count)
        laws = [
            ScalarMinimiser(problem, plan.term, [common, *(Record(r[:1], 1.0) for r in rows)])
            for rows in data
        ]
    else:
        common = Record((weak, 0.0), 1.0, count)
        laws = [
            PlanarMinimiser(
                worst.problem, plan.term, [common, *(Record(r, 1.0) for r in rows)], cells=cells
            )
            for rows in data
        ]
    found = exact_audit(*laws, plan.guarantee, epsilons=[epsilon])
    return Tightness(unit, epsilon, float(found.true[0]), float(found.declared[0]), found.violated)


def all_cells() -> list[Tightness]:
    """Return every unit and epsilon of the table."""
    return [logistic(unit, epsilon) for unit in UNITS for epsilon in EPSILONS]


def mu_of(epsilon: float, delta: float) -> float:
    """Return the mu of the Gaussian with this delta at this epsilon.

    Examples
    --------
    >>> round(mu_of(1.0, Gaussian(0.25).delta(1.0)), 6)
    0.25
    """
    low, high = 0.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if Gaussian(middle).delta(epsilon) < delta else (low, middle)
    return high
