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

    Parameters
    ----------
    first, second
        The laws of what is released on two neighbouring data sets.
    guarantee
        What is claimed.
    epsilons
        Where profiles are compared, from 0 to 500; a grid over the whole declared profile if left
        out.

    Returns
    -------
    ExactResult
        ``violated``, ``tightness``, and both profiles.

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
    """Compare the true profile of a pair of laws with declared deltas.

    Parameters
    ----------
    first, second
        The laws of what is released on two neighbouring data sets.
    epsilons
        Where they are compared.
    declared
        The claimed delta at each epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit.exact.laws import FiniteLaw
    >>> pair = FiniteLaw([0.75, 0.25]), FiniteLaw([0.25, 0.75])
    >>> compare(*pair, np.array([0.0]), np.array([0.5])).violated
    False
    """
    cells = cells_of(first, second)
    true, error = profile_of(cells, epsilons)
    return ExactResult(epsilons, true, declared, error, loss_of(cells))
