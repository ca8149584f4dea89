"""Whether one row's gradient is bounded, as every sensitivity needs."""

from __future__ import annotations

import math

from discreet.mechanisms.base import YES, Verdict
from discreet.questions.problem import Problem


def finite_slopes(problem: Problem) -> Verdict:
    """Say whether one row's gradient is bounded, as every sensitivity needs."""
    if math.isfinite(problem.radius):
        return Verdict(False, "state a constraint as penalty=Indicator(...), not as a radius.")
    if math.isfinite(problem.row_lipschitz) and math.isfinite(problem.row_smoothness):
        return YES
    return Verdict(
        False,
        f"{problem.loss!r} has no bounded slope without a domain; declare one, or use a robust "
        "loss such as PseudoHuber.",
    )
