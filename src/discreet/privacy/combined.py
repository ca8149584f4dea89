"""Profiles made of profiles: the better of several bounds, and several releases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError, InputTypeError
from discreet.privacy import accountant
from discreet.privacy.concentrated import ORDERS, renyi_delta
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.hull import Hull, lower_hull
from discreet.privacy.profile import LARGEST_EPSILON, SAFETY, Profile, orders_above_one
from discreet.privacy.stepwise import (
    BEYOND_GRIDS,
    Stepwise,
    composed_both_ways,
    largest_delta,
)
from discreet.privacy.tilted_fft import ComposedLoss, GridLoss, connect_the_dots
from discreet.privacy.within_distance import within

_POINTS = 800

_CELLS = 2000
"""Steps of the grid from zero to where one release becomes negligible; fewer for many releases."""

LARGEST = np.array([LARGEST_EPSILON])


@cache
def _normal_cells() -> tuple[Vector, Vector, float]:
    """Return upper ends of cells of the standard normal line, their chances, and that of the rest.

    The first cell reaches from minus infinity.
    """
    from scipy.special import ndtr  # slow to import

    ends: Vector = np.arange(-500, 1851) / 50.0
    above, below = ndtr(0.02 - ends) - ndtr(-ends), ndtr(ends) - ndtr(ends - 0.02)
    chances: Vector = np.where(ends > 0, above, below) * (1 + 1e-10)
    chances[0] = 1e-22
    return ends, chances, float(ndtr(-ends[-1]))


@dataclass(frozen=True, init=False)
class Minimum(Profile):
    """Several bounds that hold for one and the same release: the convex hull of their minimum.

    Parameters
    ----------
    bounds
        Profiles of the release, at least one, each without a distance.

    Examples
    --------
    >>> from discreet.privacy import Pure, ZeroConcentrated
    >>> both = Minimum([Pure(0.5), ZeroConcentrated(0.01)])
    >>> both.epsilon(0.0), both.epsilon(1e-3) < 0.5
    (0.5, True)
    """

    kind: ClassVar[str] = "minimum"
    bounds: tuple[Profile, ...]

    def __init__(self, bounds: Iterable[Profile]) -> None:
        object.__setattr__(self, "bounds", tuple(bounds))
        self.__post_init__()

    def __post_init__(self) -> None:
        _check_profiles(self.bounds)
        if any(profile.distance for profile in self.bounds):
            raise InputError("state the minimum of ideal profiles, then its distance.")

    @property
    def is_private(self) -> bool:
        return any(profile.is_private for profile in self.bounds)

    @property
    def releases(self) -> int:
        return max(profile.releases for profile in self.bounds)

    @property
    def units(self) -> frozenset[str]:
        return frozenset().union(*(profile.units for profile in self.bounds))

    @property
    def pure_epsilon(self) -> float:
        return min(profile.pure_epsilon for profile in self.bounds)

    def _pointwise(self, epsilons: Vector) -> Vector:
        best: Vector = np.min([profile.bound(epsilons) for profile in self.bounds], axis=0)
        return best

    @cached_property
    def _hull(self) -> Hull:
        spans = [profile.reach for profile in self.bounds]
        grid = np.unique(np.concatenate([np.linspace(0, span, _POINTS) for span in spans]))
        return lower_hull(grid, np.minimum(1.0, self._pointwise(grid) * SAFETY))

    def bound(self, epsilons: Vector) -> Vector:
        return self._hull.below(epsilons, self._pointwise(epsilons))

    def rdp(self, orders: ArrayLike) -> Vector:
        best: Vector = np.min([profile.rdp(orders) for profile in self.bounds], axis=0)
        return best


@dataclass(frozen=True, init=False)
class Maximum(Profile):
    """Parallel composition: releases of which one record enters one only, so the worst of them.

    Parameters
    ----------
    cases
        The profile of each release, at least one, each without a distance.

    Examples
    --------
    >>> from discreet.privacy import Pure
    >>> either = Maximum([Pure(0.5), Gaussian(0.2)])
    >>> either.delta(0.6) == Gaussian(0.2).delta(0.6), either.delta(0.0) == Pure(0.5).delta(0.0)
    (True, True)
    """

    kind: ClassVar[str] = "maximum"
    is_closed_form: ClassVar[bool] = False
    cases: tuple[Profile, ...]

    def __init__(self, cases: Iterable[Profile]) -> None:
        object.__setattr__(self, "cases", tuple(cases))
        self.__post_init__()

    def __post_init__(self) -> None:
        _check_profiles(self.cases)
        if any(profile.distance for profile in self.cases):
            raise InputError("state the maximum of ideal profiles, then its distance.")

    @property
    def is_private(self) -> bool:
        return all(profile.is_private for profile in self.cases)

    @property
    def releases(self) -> int:
        return max(profile.releases for profile in self.cases)

    @property
    def units(self) -> frozenset[str]:
        return frozenset().union(*(profile.units for profile in self.cases))

    @property
    def failure(self) -> float:
        return max(profile.failure for profile in self.cases)

    @property
    def core(self) -> Profile:
        return Maximum(profile.core for profile in self.cases)

    @property
    def precision(self) -> float:
        return max(profile.precision for profile in self.cases)

    @property
    def pure_epsilon(self) -> float:
        return max(profile.pure_epsilon for profile in self.cases)

    def bound(self, epsilons: Vector) -> Vector:
        worst: Vector = np.max([profile.bound(epsilons) for profile in self.cases], axis=0)
        return worst

    def rdp(self, orders: ArrayLike) -> Vector:
        worst: Vector = np.max([profile.rdp(orders) for profile in self.cases], axis=0)
        return worst


@dataclass(frozen=True, init=False)
class Composition(Profile):
    """Composition of several releases from the same data, their parameters fixed in advance.

    Gaussians compose exactly; everything else through privacy loss distributions (our own on a
    grid fitted to the parts where all have a closed form, otherwise those of dp-accounting), the
    sum of Renyi curves, or the sum of pure epsilons, whichever is best at each epsilon. There may
    be many parts: what is said of all of them is worked out once.

    Parameters
    ----------
    parts
        The profile of each release, at least one, each without a distance; :func:`compose` takes
        profiles with distances.

    Examples
    --------
    >>> round(Composition([Gaussian(3.0), Gaussian(4.0)]).delta(1.0) / Gaussian(5.0).delta(1.0), 9)
    1.0
    >>> from discreet.privacy import Pure
    >>> Composition([Pure(0.1)] * 10).epsilon(1e-6) < 1.0
    True
    """

    kind: ClassVar[str] = "composition"
    is_closed_form: ClassVar[bool] = False
    parts: tuple[Profile, ...]

    def __init__(self, parts: Iterable[Profile]) -> None:
        object.__setattr__(self, "parts", tuple(parts))
        self.__post_init__()

    def __post_init__(self) -> None:
        _check_profiles(self.parts)
        if any(profile.distance for profile in self.parts):
            raise InputError("compose with the function compose(), which keeps distances apart.")

    @cached_property
    def is_private(self) -> bool:
        return all(profile.is_private for profile in self.parts)

    @cached_property
    def releases(self) -> int:
        return sum(profile.releases for profile in self.parts)

    @cached_property
    def units(self) -> frozenset[str]:
        return frozenset().union(*(profile.units for profile in self.parts))

    @cached_property
    def failure(self) -> float:
        return math.fsum(profile.failure for profile in self.parts)

    @property
    def core(self) -> Profile:
        return Composition(profile.core for profile in self.parts)

    @cached_property
    def precision(self) -> float:
        return max(profile.precision for profile in self.parts)

    def guess(self, delta: float) -> float:
        return max(profile.guess(delta) for profile in self.parts)

    @cached_property
    def pure_epsilon(self) -> float:
        total = math.fsum(profile.pure_epsilon for profile in self.parts)
        return math.nextafter(total, math.inf)

    @cached_property
    def _merged(self) -> tuple[tuple[Profile, int], ...]:
        """The distinct parts with their number, all Gaussians made one."""
        mus = [profile.mu for profile in self.parts if isinstance(profile, Gaussian)]
        others = Counter(p for p in self.parts if not isinstance(p, Gaussian))
        merged: list[tuple[Profile, int]] = [*others.items()]
        if mus:
            merged.append((Gaussian(math.hypot(*mus) * (1 + 1e-15 * len(mus))), 1))
        return tuple(merged)

    @cached_property
    def _loss(self) -> accountant.PrivacyLoss | None:
        return self.loss(self._interval)

    @cached_property
    def _interval(self) -> float:
        """The finest grid that a part asks for, unless the total would have too many cells."""
        reaches = [profile.reach for profile, _ in self._merged]
        span = 1e-3
        while self._renyi(np.array([span]))[0] > accountant.TAIL + self.failure and span < 1e4:
            span *= 1.25
        return max(
            accountant.natural_interval(min(reaches)),
            accountant.natural_interval(max(span, *reaches)) / 4,
        )

    def loss(self, interval: float) -> accountant.PrivacyLoss:
        return accountant.compose_losses(
            [(profile.loss(interval), times) for profile, times in self._merged]
        )

    def _renyi(self, epsilons: Vector) -> Vector:
        return self._delta_of(self._curve, epsilons)

    def _delta_of(self, curve: Vector, epsilons: Vector) -> Vector:
        return np.minimum(1.0, renyi_delta(epsilons, ORDERS, curve) + self.failure)

    @cached_property
    def _curve(self) -> Vector:
        """The sum of all Renyi curves."""
        curves = [times * p.core.rdp(ORDERS) for p, times in self._merged]
        return np.asarray(np.sum(curves, axis=0))

    @cached_property
    def _quick_curve(self) -> Vector:
        """The same with closed forms in place of curves that take long."""
        curves = [
            times * (p.quick_rdp(ORDERS) if isinstance(p, Stepwise) else p.core.rdp(ORDERS))
            for p, times in self._merged
        ]
        return np.asarray(np.sum(curves, axis=0))

    def bound(self, epsilons: Vector) -> Vector:
        if self._has_hopeless_part:
            return np.ones(epsilons.shape)
        if not self.is_private:
            return np.ones(epsilons.shape)
        if len(self._merged) == 1 and self._merged[0][1] == 1:
            return self._merged[0][0].bound(epsilons)
        if self._is_one_with_gaussian:
            return self._smeared_deltas(epsilons)
        if self._stepwise:
            return self._steps_together(epsilons)
        composed = self._fitted_deltas(epsilons) if self._has_closed_parts else self._read(epsilons)
        best = np.minimum(self._renyi(epsilons), composed)
        return np.where(epsilons >= self.pure_epsilon, 0.0, best)

    def _steps_together(self, epsilons: Vector) -> Vector:
        best = np.minimum(
            self._delta_of(self._quick_curve, epsilons), largest_delta(self._step_by_step, epsilons)
        )
        is_far = best < BEYOND_GRIDS + self.failure
        if is_far.any():
            best[is_far] = np.minimum(best[is_far], self._renyi(epsilons[is_far]))
        return best

    def _read(self, epsilons: Vector) -> Vector:
        return accountant.deltas_of_loss(self._loss, epsilons, parts=self.releases)

    @cached_property
    def _stepwise(self) -> tuple[tuple[Stepwise, int], ...]:
        """The parts made of steps, if all others have a closed form."""
        steps, others = [], []
        for profile, times in self._merged:
            if isinstance(profile, Stepwise):
                steps.append((profile, times))
            else:
                others.append(profile)
        return tuple(steps) if all(p.is_closed_form for p in others) else ()

    @cached_property
    def _step_by_step(self) -> tuple[ComposedLoss, ...]:
        closed = [(p, times) for p, times in self._merged if p.is_closed_form]
        mu = math.fsum(p.mu for p, _ in closed if isinstance(p, Gaussian))
        others = [(p, times) for p, times in closed if not isinstance(p, Gaussian)]
        return composed_both_ways(self._stepwise, others, mu)

    @cached_property
    def _has_hopeless_part(self) -> bool:
        """Whether a part hides nothing up to the largest epsilon; no grid reaches there."""
        return any(
            profile._has_hopeless_part
            if isinstance(profile, Composition)
            else profile.is_closed_form and profile.deltas(LARGEST)[0] >= 1
            for profile, _ in self._merged
        )

    @property
    def _has_closed_parts(self) -> bool:
        return all(profile.is_closed_form for profile, _ in self._merged)

    @cached_property
    def _grids(self) -> tuple[tuple[GridLoss, int], ...]:
        """Everything but the Gaussians, as losses on one grid.

        Connecting dots adds to the variance of a loss at most a quarter of the step squared.
        """
        others = [(p, times, p.reach) for p, times in self._merged if not isinstance(p, Gaussian)]
        releases = sum(times for _, times, _ in others)
        reach = math.sqrt(sum(times * reach**2 for _, times, reach in others) / releases)
        step = reach * releases**0.25 / _CELLS
        return tuple((connect_the_dots(p.deltas, r, step), times) for p, times, r in others)

    @cached_property
    def _composed(self) -> ComposedLoss:
        mu = math.fsum(p.mu for p, _ in self._merged if isinstance(p, Gaussian))
        return ComposedLoss(self._grids, mu)

    def _fitted_deltas(self, epsilons: Vector) -> Vector:
        return np.array([self._composed.delta(epsilon) for epsilon in epsilons.tolist()])

    @property
    def _is_one_with_gaussian(self) -> bool:
        return (
            [times for _, times in self._merged] == [1, 1]
            and self._merged[0][0].is_closed_form
            and isinstance(self._merged[1][0], Gaussian)
        )

    def _smeared_deltas(self, epsilons: Vector) -> Vector:
        """Compose one profile with a Gaussian: the mean of the profile over the Gaussian's loss.

        The loss is N(mu^2/2, mu^2) in both orders. The mean is an upper sum: in each cell the
        profile is read at the cell's upper end.
        """
        (profile, _), (gaussian, _) = self._merged
        mu = gaussian.mu  # type: ignore[attr-defined]
        ends, chances, beyond = _normal_cells()
        losses = mu**2 / 2 + mu * ends
        rows = [chances @ profile.deltas(epsilon - losses) for epsilon in epsilons.tolist()]
        return np.minimum(1.0, np.array(rows) + beyond)

    def rdp(self, orders: ArrayLike) -> Vector:
        orders = orders_above_one(orders)
        total: Vector = np.sum([profile.rdp(orders) for profile in self.parts], axis=0)
        return total


def compose(profiles: Iterable[Profile]) -> Profile:
    """Compose profiles; nested compositions are flattened and distances add.

    Examples
    --------
    >>> compose([within(Gaussian(3.0), 1e-30), Gaussian(4.0)]).distance
    1e-30
    """
    listed = tuple(profiles)
    _check_profiles(listed)
    parts: list[Profile] = []
    for profile in listed:
        ideal = profile.ideal
        parts.extend(ideal.parts if isinstance(ideal, Composition) else (ideal,))
    whole = parts[0] if len(parts) == 1 else Composition(parts)
    return within(whole, math.fsum(profile.distance for profile in listed))


def worst_of(profiles: Iterable[Profile]) -> Profile:
    """Return the profile of releases of which a record enters one only; distances add.

    Examples
    --------
    >>> worst_of([within(Gaussian(3.0), 1e-30), Gaussian(4.0)])
    WithinDistance(of=Gaussian(mu=4.0), tau=1e-30)
    """
    listed = tuple(profiles)
    _check_profiles(listed)
    ideals = dict.fromkeys(profile.ideal for profile in listed)
    gaussians = [profile for profile in ideals if isinstance(profile, Gaussian)]
    kept = [profile for profile in ideals if not isinstance(profile, Gaussian)]
    if gaussians:
        kept.append(max(gaussians, key=lambda profile: profile.mu))
    whole = kept[0] if len(kept) == 1 else Maximum(kept)
    return within(whole, math.fsum(profile.distance for profile in listed))


def _check_profiles(profiles: object) -> None:
    if not isinstance(profiles, tuple):
        raise InputTypeError("profiles must come as a list.")
    if not profiles:
        raise InputError("at least one profile is needed.")
    for profile in profiles:
        _checks.instance(Profile, profile=profile)
