"""Compare the true profile of a pair with a guarantee."""

from __future__ import annotations

from numpy.typing import ArrayLike

from discreet._types import Vector
from discreet.audit.exact.declared_profile import declared_deltas
from discreet.audit.exact.exact_result import ExactResult
from discreet.audit.exact.laws.base import OutputLaw
from discreet.audit.exact.true_profile import cells_of, loss_of, profile_of
from discreet.privacy import Guarantee


def exact_audit(
    first: OutputLaw, second: OutputLaw, guarantee: Guarantee, *, epsilons: ArrayLike | None = None
) -> ExactResult:
    """Compare the true profile of a pair of laws with a guarantee, on a grid of epsilons.

    Examples
    --------
    The standard deviation of Laplace noise taken for its scale:

    >>> import math
    >>> from discreet.audit.exact.laws import MovedNoise
    >>> from discreet.privacy import AddRemoveOne, Laplace
    >>> scale = 1 / math.sqrt(2)
    >>> pair = MovedNoise(0, scale, "laplace"), MovedNoise(1, scale, "laplace")
    >>> promise = Guarantee(Laplace(1.0), AddRemoveOne())
    >>> print(exact_audit(*pair, promise, epsilons=[1.0]).sentence())
    VIOLATION: at epsilon = 1 the true delta of this pair is 0.187, and the declared one 0.
    """
    return compare(first, second, *declared_deltas(guarantee, epsilons))


def compare(first: OutputLaw, second: OutputLaw, epsilons: Vector, declared: Vector) -> ExactResult:
    """Compare the true profile of a pair of laws with declared deltas."""
    cells = cells_of(first, second)
    true, error = profile_of(cells, epsilons)
    return ExactResult(epsilons, true, declared, error, loss_of(cells))
