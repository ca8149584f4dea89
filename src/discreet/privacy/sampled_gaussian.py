"""Gaussian sums over Poisson batches, step after step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputTypeError
from discreet.privacy import accountant, one_batch
from discreet.privacy.concentrated import Renyi
from discreet.privacy.gaussian import HOPELESS
from discreet.privacy.profile import SAFETY, orders_above_one
from discreet.privacy.stepwise import Stepwise
from discreet.privacy.unit import unit_of

MOST_STEPS = 10**8

LEAST_GROWTH = 1e-300
"""What an exponent that underflows is rounded up to."""

WHOLE_ORDERS = (*range(2, 65), *range(72, 257, 8), *range(272, 513, 16))
"""Orders at which the moments of a batch are summed."""


@dataclass(frozen=True)
class SampledGaussian(Stepwise):
    r"""Poisson-subsampled Gaussian: ``steps`` noisy sums, each record in with chance ``rate``.

    Parameters
    ----------
    mu
        The bound on one record's norm over the standard deviation of the noise, in both relations:
        under replace-one the shift is twice that, and this class knows it.
    rate
        The chance with which a batch keeps a record, independently of the others; above zero, at
        most one.
    steps
        How many sums, from 1 to 10**8.
    is_replace
        Whether one record is replaced, and not added or removed.
    of_persons
        Whether persons are drawn and protected, all their rows together, and not records.

    Notes
    -----
    Delta of one step is a closed form (``one_batch.py``), composed by ``tilted_fft.py``. The Renyi
    curve of whole orders is the binomial sum (Mironov, Talwar, Zhang 2019), its terms beyond one
    added up by themselves:
    :math:`\ln(1 + \sum_{k \ge 2} \binom{\alpha}{k} q^k (1-q)^{\alpha-k}
    (e^{\mu^2 k (k-1)/2} - 1))/(\alpha - 1)` a step. Under replace-one it uses joint convexity,
    because the batches agree except with chance ``rate``:
    :math:`\ln(1 - q + q e^{2\alpha(\alpha-1)\mu^2})/(\alpha - 1)` a step.

    Examples
    --------
    >>> SampledGaussian(mu=1.0, rate=0.01, steps=100).epsilon(1e-5) < 1.0
    True
    """

    kind: ClassVar[str] = "sampled_gaussian"
    later: ClassVar[frozenset[str]] = frozenset(["of_persons"])
    mu: float
    rate: float
    steps: int = 1
    is_replace: bool = False
    of_persons: bool = False

    def __post_init__(self) -> None:
        _checks.positive(mu=self.mu, rate=self.rate)
        _checks.fraction(rate=self.rate)
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        if not (isinstance(self.is_replace, bool) and isinstance(self.of_persons, bool)):
            raise InputTypeError("is_replace and of_persons must be True or False.")

    @property
    def units(self) -> frozenset[str]:
        return frozenset(
            [unit_of(is_replace=self.is_replace, protects_persons=self.of_persons).name]
        )

    @property
    def is_two_sided(self) -> bool:
        return not self.is_replace

    def one(self, epsilons: Vector) -> Vector:
        law = one_batch.replaced_deltas if self.is_replace else one_batch.added_deltas
        return law(epsilons, self.mu, self.rate)

    def one_reversed(self, epsilons: Vector) -> Vector:
        law = one_batch.replaced_deltas if self.is_replace else one_batch.removed_deltas
        return law(epsilons, self.mu, self.rate)

    @cached_property
    def _renyi(self) -> Renyi:
        values = [self.steps * _moment(self.mu, self.rate, order) for order in WHOLE_ORDERS]
        return Renyi(tuple(map(float, WHOLE_ORDERS)), tuple(np.array(values) * SAFETY))

    def loss(self, interval: float) -> accountant.PrivacyLoss:
        return accountant.loss_of_sampled_gaussian(
            self.mu, self.rate, self.steps, is_replace=self.is_replace, interval=interval
        )

    def rdp(self, orders: ArrayLike) -> Vector:
        orders = orders_above_one(orders)
        if self.mu > HOPELESS:
            return np.full(orders.shape, math.inf)
        if self.is_replace:
            return self.quick_rdp(orders)
        plain = self.steps * orders * self.mu**2 / 2
        return np.minimum(plain, self._renyi.rdp(orders)) * SAFETY

    def quick_rdp(self, orders: Vector) -> Vector:
        if self.mu > HOPELESS:
            return np.full(orders.shape, math.inf)
        shift = 2 * self.mu if self.is_replace else self.mu
        plain = self.steps * orders * shift**2 / 2
        return np.minimum(plain, self.steps * mixed_moment(orders, shift, self.rate)) * SAFETY


def mixed_moment(orders: Vector, shift: float, rate: float) -> Vector:
    """Bound the Renyi divergence of batches that agree except with chance ``rate``.

    By joint convexity, in both orders and both relations: with a record or without it, too, batches
    agree where it is not drawn.
    """
    exponent = (orders - 1) * orders * shift**2 / 2
    grown = np.minimum(exponent, 700.0)
    mixed: Vector = np.log1p(rate * np.expm1(grown)) + np.maximum(exponent - 700.0, 0.0)
    return mixed / (orders - 1)


def _moment(shift: float, rate: float, order: int) -> float:
    """Return the Renyi divergence of one step at a whole order."""
    from scipy.special import gammaln, logsumexp  # slow to import

    if rate == 1:
        return order * shift**2 / 2
    k = np.arange(2, order + 1)
    grown = np.maximum(shift**2 * k * (k - 1) / 2, LEAST_GROWTH)
    chances = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    chances = chances + k * np.log(rate) + (order - k) * np.log1p(-rate)
    # Logarithms of e**grown - 1, which overflows.
    beyond = float(logsumexp(chances + grown + np.log(-np.expm1(-grown))))
    return float(np.logaddexp(0.0, beyond)) / (order - 1)
