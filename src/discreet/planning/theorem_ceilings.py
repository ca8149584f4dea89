"""What theorems say about the same problem, of ``discreet.theory``.

Upper and lower bounds on excess risk.
"""

from __future__ import annotations

import math

from discreet.errors import InputError
from discreet.planning.prediction import Ceiling
from discreet.planning.public_facts import PublicFacts
from discreet.theory import Setting, best_lower, best_upper

THRESHOLD_SHARE = 1 / 8
"""Of the range of targets: where the loss of LinearRegressor turns to a line."""


def ceilings(facts: PublicFacts, epsilon: float, n: int, radius: float) -> tuple[Ceiling, ...]:
    """Return the best bounds with constants; none for three classes, another estimator, persons.

    For two classes the loss is the logistic one, for numbers that of LinearRegressor; coefficients
    lie in a ball of this radius.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> facts = PublicFacts([Numeric(0, 1)] * 2, classes=["no", "yes"])
    >>> [bound.kind for bound in ceilings(facts, 1.0, 10_000, 3.0)]
    ['upper', 'lower']
    """
    if (
        facts.is_of_persons
        or facts.estimator is not None
        or facts.count > 2
        or not math.isfinite(epsilon)
    ):
        return ()
    row = math.hypot(facts.row_norm, 1.0)
    low, high = facts.ends
    slope = 1.0 if facts.is_classification else THRESHOLD_SHARE * (high - low)
    bend = 0.25 if facts.is_classification else 1.0
    setting = Setting(
        n=n,
        p=facts.width + 1,
        epsilon=epsilon,
        delta=facts.delta,
        lipschitz=slope * row,
        diameter=2 * radius,
        smoothness=bend * row**2,
        radius=radius,
        form="generalised_linear",
        unit=facts.unit,
    )
    found = []
    for find in (best_upper, best_lower):
        try:
            best = find(setting)
        except InputError:  # no such bound with a constant
            continue
        found.append(
            Ceiling(
                epsilon,
                n,
                best.kind,
                best.name,
                best.theorem,
                best.mechanism,
                best.mean,
                radius,
            )
        )
    return tuple(found)
