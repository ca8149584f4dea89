"""The best of a random number of trials: what selection costs, by Papernot and Steinke."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.privacy.concentrated import ORDERS, renyi_delta
from discreet.privacy.profile import SAFETY, Profile, orders_above_one
from discreet.privacy.pure import Pure
from discreet.privacy.trial_law import TrialLaw


@dataclass(frozen=True)
class SelectedTrial(Profile):
    r"""Private selection: the best of K independent runs, by an order of what they release.

    K is drawn from a public law, and is never told.

    Parameters
    ----------
    of
        The profile of one run, its score with it; without a distance.
    rate, shape
        Of the :class:`~discreet.privacy.trial_law.TrialLaw`.

    Notes
    -----
    With :math:`\epsilon(\lambda)` the Renyi curve of one run and a negative binomial K,

    .. math:: \epsilon'(\lambda) = \epsilon(\lambda) + (1 + \eta) \min_{\hat\lambda}
              \Bigl[(1 - 1/\hat\lambda) \epsilon(\hat\lambda) + \ln(1/\gamma)/\hat\lambda\Bigr]
              + \frac{\ln E[K]}{\lambda - 1};

    a pure :math:`\epsilon` becomes :math:`(2 + \eta)\epsilon`. With K of Poisson's law and a run
    that is :math:`(\ln(1 + 1/(\lambda - 1)), \hat\delta)`-DP, :math:`\epsilon'(\lambda) =
    \epsilon(\lambda) + \mu \hat\delta + \ln \mu / (\lambda - 1)`. A bound of a higher order is one
    of every lower order.

    If the curve of a run may be disregarded with probability f, that of the whole may be with
    :math:`f E[K]`: given that no run failed, K has a law of the same family with a smaller mean and
    a larger gamma, on both sides.

    References
    ----------
    Papernot, Steinke (2022), theorems 2 and 6; Liu, Talwar (2019).

    Examples
    --------
    >>> law = TrialLaw.with_mean(10)
    >>> SelectedTrial(Pure(0.1), law.rate, law.shape).epsilon(0.0)
    0.30000000000000004
    >>> from discreet.privacy import Gaussian
    >>> round(SelectedTrial(Gaussian(0.1), law.rate, law.shape).epsilon(1e-6), 2)
    0.9
    """

    kind: ClassVar[str] = "selected_trial"
    is_closed_form: ClassVar[bool] = False
    of: Profile
    rate: float
    shape: float | None

    def __post_init__(self) -> None:
        _checks.instance(Profile, of=self.of)
        if self.of.distance:
            raise InputError("state the best of ideal trials, then its distance.")
        self.law  # noqa: B018 - refuses a law that is none

    @cached_property
    def law(self) -> TrialLaw:
        """The law of the number of runs."""
        return TrialLaw(self.rate, self.shape)

    @property
    def is_private(self) -> bool:
        return self.of.is_private

    @property
    def units(self) -> frozenset[str]:
        return self.of.units

    @property
    def failure(self) -> float:
        return min(1.0, self.of.failure * self.law.mean * SAFETY)

    @property
    def core(self) -> Profile:
        return SelectedTrial(self.of.core, self.rate, self.shape)

    @property
    def pure_epsilon(self) -> float:
        return math.inf if self.shape is None else (2 + self.shape) * self.of.pure_epsilon

    def guess(self, delta: float) -> float:
        return max(3 * self.of.epsilon(delta), 1e-9)

    @cached_property
    def _curve(self) -> Vector:
        """The Renyi curve at ``ORDERS``, of runs that do not fail."""
        one = self.of.core.rdp(ORDERS)
        law, above = self.law, ORDERS - 1
        if self.shape is None:
            rare = self.of.core.deltas(np.log1p(1 / above))
            curve = one + law.mean * rare + math.log(law.mean) / above
        else:
            beside = one * (1 - 1 / ORDERS) + law.log_inverse_gamma / ORDERS
            curve = one + (1 + self.shape) * beside.min() + math.log(law.mean) / above
        curve = np.minimum(np.maximum(curve, 0.0) * SAFETY, self._pure_of_core)
        least: Vector = np.minimum.accumulate(curve[::-1])[::-1]
        return least

    @property
    def _pure_of_core(self) -> float:
        return math.inf if self.shape is None else (2 + self.shape) * self.of.core.pure_epsilon

    def bound(self, epsilons: Vector) -> Vector:
        failure = self.failure
        chance = renyi_delta(epsilons, ORDERS, self._curve)
        pure = self._pure_of_core
        if math.isfinite(pure):
            chance = np.minimum(chance, Pure(pure).bound(epsilons))
        total: Vector = failure + (1 - failure) * chance if failure else chance
        return total

    def rdp(self, orders: ArrayLike) -> Vector:
        wanted = orders_above_one(orders)
        if self.failure:
            return np.full(wanted.shape, math.inf)
        place = np.searchsorted(ORDERS, wanted, side="left")  # of the next order that is known
        values = np.append(self._curve, math.inf)
        return values[place]
