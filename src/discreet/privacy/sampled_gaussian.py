"""Gaussian sums over Poisson batches, step after step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputTypeError
from discreet.privacy import accountant
from discreet.privacy.concentrated import ORDERS, Renyi, renyi_delta
from discreet.privacy.profile import SAFETY, Profile, orders_above_one

MOST_STEPS = 10**8
MOMENT_ERROR = 1e-13
"""What rounding may take off the logarithm of a moment in one step."""


@dataclass(frozen=True)
class SampledGaussian(Profile):
    r"""``steps`` noisy sums, each over a batch that keeps every record with chance ``rate``.

    ``mu`` is the bound on one record's norm over the standard deviation of the noise, in both
    relations: under replace-one the shift is twice that, and this class knows it.

    Notes
    -----
    The Renyi curve under replace-one uses joint convexity, because the batches agree except with
    chance ``rate``: :math:`\ln(1 - q + q e^{2\alpha(\alpha-1)\mu^2})/(\alpha - 1)` a step.

    Examples
    --------
    >>> SampledGaussian(mu=1.0, rate=0.01, steps=100).epsilon(1e-5) < 1.0
    True
    """

    kind: ClassVar[str] = "sampled_gaussian"
    is_closed_form: ClassVar[bool] = False
    mu: float
    rate: float
    steps: int = 1
    is_replace: bool = False

    def __post_init__(self) -> None:
        _checks.positive(mu=self.mu, rate=self.rate)
        _checks.fraction(rate=self.rate)
        _checks.whole(steps=self.steps, at_least=1, at_most=MOST_STEPS)
        if not isinstance(self.is_replace, bool):
            raise InputTypeError("is_replace must be True or False.")

    @property
    def releases(self) -> int:
        return self.steps

    @property
    def units(self) -> frozenset[str]:
        return frozenset(["replace" if self.is_replace else "add_remove"])

    @cached_property
    def _renyi(self) -> Renyi:
        orders, values = accountant.renyi_of_sampled_gaussian(self.mu, self.rate, self.steps)
        plain = self.steps * orders * self.mu**2 / 2
        values = values + self.steps * MOMENT_ERROR / (orders - 1)
        best = np.where(np.isfinite(values), np.minimum(values, plain), plain)
        return Renyi(tuple(orders), tuple(np.maximum(best, 0.0) * SAFETY))

    @cached_property
    def reach(self) -> float:
        values = self.rdp(ORDERS)
        high = 1e-3
        while renyi_delta(np.array([high]), ORDERS, values)[0] > accountant.TAIL and high < 1e5:
            high *= 1.25
        return high

    @cached_property
    def _loss(self) -> accountant.PrivacyLoss:
        return self.loss(accountant.natural_interval(self.reach))

    def loss(self, interval: float) -> accountant.PrivacyLoss:
        return accountant.loss_of_sampled_gaussian(
            self.mu, self.rate, self.steps, is_replace=self.is_replace, interval=interval
        )

    def bound(self, epsilons: Vector) -> Vector:
        renyi = renyi_delta(epsilons, ORDERS, self.rdp(ORDERS))
        return np.minimum(renyi, accountant.deltas_of_loss(self._loss, epsilons, parts=self.steps))

    def rdp(self, orders: ArrayLike) -> Vector:
        orders = orders_above_one(orders)
        shift = 2 * self.mu if self.is_replace else self.mu
        plain = self.steps * orders * shift**2 / 2
        if self.is_replace:
            exponent = (orders - 1) * orders * shift**2 / 2
            grown = np.minimum(exponent, 700.0)
            mixed = np.log1p(self.rate * np.expm1(grown)) + np.maximum(exponent - 700.0, 0.0)
            sampled = self.steps * mixed / (orders - 1)
        else:
            sampled = self._renyi.rdp(orders)
        return np.minimum(plain, sampled) * SAFETY
