"""The one module that calls dp-accounting.

Its accountants disagree about replace-one: the privacy loss distribution of a Gaussian event wants
the noise over the *one-record norm* and doubles the shift itself, while the Renyi accountant
wants the noise over the *sensitivity*. Here every function takes the one-record norm over the
noise and a flag for the relation, and each accountant gets what it expects. It takes long to
import, and many releases never need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from discreet._types import Vector

PrivacyLoss: TypeAlias = Any
"""A dp-accounting ``PrivacyLossDistribution``; that library ships no types."""

NATURAL_INTERVAL = 1e-4
MOST_CELLS = 500_000
TAIL = 1e-16

ROUND_OFF, ROUND_OFF_A_TIME = 1e-12, 1e-15
"""Added to a delta read off a composed distribution, the second for every part: Fourier
transforms round, and raising one to a power multiplies its relative error."""

_WHOLE_ORDERS = (*range(2, 33), *range(40, 129, 8))


def natural_interval(span: float) -> float:
    """Return a discretisation that resolves ``span`` without too many cells."""
    interval = NATURAL_INTERVAL
    while span / interval < 500:
        interval /= 2
    while 2 * span / interval > MOST_CELLS:
        interval *= 2
    return interval


def loss_of_deltas(
    deltas: Callable[[Vector], Vector], reach: float, interval: float
) -> PrivacyLoss:
    """Turn a profile into a dominating privacy loss distribution, by connecting the dots.

    Beyond ``reach`` the loss counts as infinite.
    """
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    from discreet.privacy.tilted_fft import connect_the_dots  # which knows profiles

    dots = connect_the_dots(deltas, reach, interval)
    masses = dict(enumerate(dots.masses, start=dots.first))
    pmf = pld_pmf.create_pmf(masses, interval, dots.beyond, pessimistic_estimate=True)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def loss_of_sampled_gaussian(
    ratio: float, rate: float, steps: int, *, is_replace: bool, interval: float
) -> PrivacyLoss:
    """Return the loss of Gaussian sums over Poisson batches.

    ``ratio`` is the bound on one record's norm over the noise's standard deviation.
    """
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import privacy_loss_distribution

    relation = NeighboringRelation
    single = privacy_loss_distribution.from_gaussian_mechanism(
        standard_deviation=1 / ratio,
        value_discretization_interval=interval,
        sampling_prob=rate,
        neighboring_relation=relation.REPLACE_ONE if is_replace else relation.ADD_OR_REMOVE_ONE,
    )
    return single if steps == 1 else single.self_compose(steps)


def renyi_of_fixed_batches(
    ratio: float, size: int, population: int, steps: int
) -> tuple[Vector, Vector]:
    """Return orders and the Renyi curve of Gaussian sums over batches of a fixed size.

    Replace-one only; ``ratio`` is the *sensitivity*, twice the bound on one record's norm, over the
    noise's standard deviation, as this accountant wants it.
    """
    import dp_accounting

    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = dp_accounting.rdp.RdpAccountant(_WHOLE_ORDERS, relation)
    event = dp_accounting.SampledWithoutReplacementDpEvent(
        population, size, dp_accounting.GaussianDpEvent(1 / ratio)
    )
    accountant.compose(event, steps)
    return np.asarray(accountant.orders, dtype=np.float64), np.asarray(accountant.rdp)


def compose_losses(losses: Sequence[tuple[PrivacyLoss, int]]) -> PrivacyLoss:
    """Compose distributions on one grid, each so many times."""
    total: PrivacyLoss = None
    for loss, times in losses:
        repeated = loss if times == 1 else loss.self_compose(times)
        total = repeated if total is None else total.compose(repeated)
    return total


def deltas_of_loss(loss: PrivacyLoss, epsilons: Vector, *, parts: int) -> Vector:
    """Read delta off a distribution, with room for the rounding of its convolutions."""
    # One at a time: the vectorised reading of dp-accounting cancels for large epsilons.
    deltas = np.array([float(loss.get_delta_for_epsilon(e)) for e in epsilons.tolist()])
    allowed: Vector = np.maximum(deltas, 0.0) + ROUND_OFF + parts * ROUND_OFF_A_TIME
    return allowed
