r"""The delta of many composed losses, to a fixed share of itself however small it is.

A loss on a grid is a vector of masses; composing convolves them. Fourier transforms round to a
share of the *largest* mass, so a small delta would drown. Here every mass is first multiplied by
:math:`e^{\theta\ell - \kappa(\theta)}`, with :math:`\kappa` the logarithm of the moment generating
function: at the right tilt :math:`\theta` the composed masses are largest around epsilon, where
delta is read. With G a Gaussian release composed on top (its delta is exact at every loss),

.. math:: \delta(\epsilon) = e^{\kappa(\theta) - \theta\epsilon}
    \sum_\ell q_\theta(\ell) \, e^{\theta(\epsilon - \ell)} \delta_G(\epsilon - \ell).

Any tilt is sound. What Fourier transforms can round and what lies outside their window is bounded
and added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet._types import Vector
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.hull import lower_hull
from discreet.privacy.profile import SMALLEST

Spectrum: TypeAlias = npt.NDArray[np.complex128]

_ROUNDING = 2.0**-50
"""A Fourier transform of length n errs by at most this times log2(n) of its Euclidean norm."""

_LOG_OUTSIDE = math.log(1e-15)
"""The tilted mass that each side of the window may leave out."""

_EXPONENT_ROUNDING = 1e-15
"""The error of an exponent, as a share of its terms; a logarithm of a mass is below 1000."""

_STEEPEST, _OCTAVE = 20.0, 16
"""The largest tilt over one step of the grid, and how many tilts there are from one to two."""

_FAR = 60.0
"""Weights below exp(-60) are bounded by that."""

_BLOCKS = 500
"""Points on each side of zero on which tilts are tried first, at most."""

_KEPT = 8
"""How many transforms of one composition are kept."""


@dataclass(frozen=True, eq=False)
class GridLoss:
    """A privacy loss on the multiples of ``step``, or infinite.

    ``masses`` start at ``first`` times the step; ``beyond`` is the mass at infinity.
    """

    step: float
    first: int
    masses: Vector
    beyond: float
    _means: dict[float, float] = field(default_factory=dict, repr=False)
    _rough_means: dict[float, float] = field(default_factory=dict, repr=False)

    @cached_property
    def losses(self) -> Vector:
        losses: Vector = self.step * (self.first + np.arange(self.masses.size, dtype=np.float64))
        return losses

    @cached_property
    def _logs(self) -> Vector:
        with np.errstate(divide="ignore"):
            logs: Vector = np.log(self.masses)
        return logs

    def tilt_by(self, tilt: float) -> tuple[Vector, float]:
        """Return the masses times exp(tilt * loss) over their sum, and the log of that sum."""
        masses, total, most = self._multiply_out(tilt)
        masses /= total
        return masses, most + math.log(total)

    def log_sum(self, tilt: float) -> float:
        """Return the logarithm of the sum of masses times exp(tilt * loss)."""
        _, total, most = self._multiply_out(tilt)
        return most + math.log(total)

    def mean(self, tilt: float) -> float:
        """Return the mean of the tilted loss."""
        if tilt not in self._means:
            masses, _ = self.tilt_by(tilt)
            self._means[tilt] = float(masses @ self.losses)
        return self._means[tilt]

    def _multiply_out(self, tilt: float) -> tuple[Vector, float, float]:
        exponents = tilt * self.losses
        exponents += self._logs
        most = float(exponents.max())
        exponents -= most
        masses: Vector = np.exp(exponents, out=exponents)
        return masses, float(masses.sum()), most

    def rough_mean(self, tilt: float) -> float:
        """Return nearly the mean of the tilted loss, from few points."""
        if tilt not in self._rough_means:
            losses, masses = self._blocks
            exponents = tilt * losses
            weights = masses * np.exp(exponents - exponents.max())
            total = float(weights.sum())
            self._rough_means[tilt] = float(weights @ losses) / total if total else 0.0
        return self._rough_means[tilt]

    @cached_property
    def _blocks(self) -> tuple[Vector, Vector]:
        """The means and masses of blocks of cells, shorter near zero, where most losses are."""
        away = np.geomspace(1, self.masses.size, _BLOCKS).astype(np.int64)
        starts = np.unique(np.concatenate([-away, [0], away]) - self.first)
        starts = np.unique(np.clip(starts, 0, self.masses.size - 1))
        masses = np.add.reduceat(self.masses, starts)
        sums = np.add.reduceat(self.masses * self.losses, starts)
        is_filled = masses > 0
        return sums[is_filled] / masses[is_filled], masses[is_filled]


def connect_the_dots(
    deltas: Callable[[Vector], Vector],
    reach: float,
    step: float,
    reverse: Callable[[Vector], Vector] | None = None,
) -> GridLoss:
    """Return the loss whose delta is that of ``deltas`` on the grid, and straight in between.

    Straight means in e**epsilon, and the dots are those of the convex hull, so the loss dominates
    every pair that ``deltas`` bounds in both orders, or in this one if ``reverse`` bounds it in the
    other. Beyond ``reach`` it counts as infinite.

    Examples
    --------
    >>> loss = connect_the_dots(Gaussian(1.0).deltas, 10.0, 0.1)
    >>> above = np.maximum(-np.expm1(1.0 - loss.losses), 0.0)
    >>> round(float(above @ loss.masses), 6), round(Gaussian(1.0).delta(1.0), 6)
    (0.126937, 0.126937)
    """
    cells = max(1, math.ceil(reach / step))
    epsilons = step * np.arange(-cells, cells + 1, dtype=np.float64)
    ahead = epsilons[cells:]
    behind = None if reverse is None else np.minimum.accumulate(reverse(ahead))
    hull = lower_hull(ahead, np.minimum.accumulate(deltas(ahead)), behind)
    dots = np.minimum.accumulate(hull(epsilons))
    falls = -np.diff(dots)
    here = np.append(1 - dots[0], falls / -math.expm1(-step))
    there = np.append(falls / math.expm1(min(step, 700.0)), 0.0)
    return GridLoss(step, -cells, np.maximum(here - there, 0.0), float(dots[-1]))


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """Losses on one grid, each so many times, and a Gaussian release of ``mu`` on top.

    A ``mu`` of zero stands for no Gaussian release. Near epsilons share a tilt, and the
    transform made for it.

    Examples
    --------
    >>> loss = connect_the_dots(Gaussian(0.3).deltas, 4.0, 0.002)
    >>> both = ComposedLoss(((loss, 16),), 0.5)
    >>> both.delta(9.0) / Gaussian(1.3).delta(9.0) < 1.001
    True
    """

    parts: tuple[tuple[GridLoss, int], ...]
    mu: float
    _known: dict[float, Composed] = field(default_factory=dict, repr=False)

    def delta(self, epsilon: float) -> float:
        """Return delta at one epsilon, never below the truth."""
        if any(loss.beyond >= 1 for loss, _ in self.parts):
            return 1.0
        infinite = -math.expm1(sum(times * math.log1p(-loss.beyond) for loss, times in self.parts))
        tilt = _best_tilt(self.parts, self.mu, epsilon)
        composed = self._compose_at(tilt)
        # Chernoff: exp(tilt * e) times the Gaussian's delta at e is at most exp(most).
        most = self.mu**2 * tilt * (1 + tilt) / 2
        near = composed.between(*self._window_felt(tilt, epsilon))
        weights = self._weights(tilt, epsilon - composed.losses[near], most)
        total = float(composed.masses[near] @ weights) + 2 * math.exp(_LOG_OUTSIDE)
        total += math.exp(-_FAR) * composed.mass
        logarithms = 1000 * sum(times for _, times in self.parts)
        span = epsilon + composed.span
        exponent = composed.log_sum - tilt * epsilon + most
        exponent += _EXPONENT_ROUNDING * (logarithms + tilt * span + most)
        return math.exp(min(exponent, 700.0)) * total + infinite + SMALLEST

    def _window_felt(self, tilt: float, epsilon: float) -> tuple[float, float]:
        """Return the losses between which weights are not negligible.

        With d the epsilon minus the loss, a weight is at most exp(tilt * d); and, by Chernoff with
        the best exponent for a Gaussian, exp(-(d - m)**2 / (2 mu**2)) for d above
        m = mu**2 (1/2 + tilt). Without a Gaussian, losses below epsilon add nothing.
        """
        above = self.mu**2 * (0.5 + tilt) + math.sqrt(2 * _FAR) * self.mu
        return epsilon - above, epsilon + (_FAR / tilt if tilt else math.inf)

    def _weights(self, tilt: float, distances: Vector, most: float) -> Vector:
        """Return exp(tilt * e) times the delta of the Gaussian at each distance e, over exp(most).

        Without a Gaussian distances are at most zero, and delta is one minus their exponential.
        """
        if not self.mu:
            return -np.expm1(distances) * np.exp(tilt * distances)
        with np.errstate(divide="ignore"):
            rest = np.log(Gaussian(self.mu).deltas(distances))
        weights: Vector = np.exp(np.minimum(rest + tilt * distances - most, 0.0))
        return weights

    def _compose_at(self, tilt: float) -> Composed:
        if tilt not in self._known:
            if len(self._known) == _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[tilt] = _convolve(self.parts, tilt)
        return self._known[tilt]


@dataclass(frozen=True, eq=False)
class Composed:
    """Tilted masses of a composition, rounded up; ``log_sum`` is what they were divided by."""

    losses: Vector
    masses: Vector
    log_sum: float
    span: float

    @cached_property
    def mass(self) -> float:
        """All of the tilted masses, which is hardly more than one."""
        return float(self.masses.sum()) * (1 + 1e-9)

    def between(self, low: float, high: float) -> slice:
        """Return the cells with losses from ``low`` to ``high``."""
        first, last = np.searchsorted(self.losses, [low, high])
        return slice(int(first), int(last))


def _convolve(parts: Sequence[tuple[GridLoss, int]], tilt: float) -> Composed:
    from scipy import fft  # slow to import

    tilted = [loss.tilt_by(tilt) for loss, _ in parts]
    lowest, size = _window(parts, tilt, tilted)
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    log_total, roughness, span, start = 0.0, 1.0, 0.0, 0
    for (loss, times), (masses, log_sum) in zip(parts, tilted, strict=True):
        folded = _wrap_around(masses, size)
        transform = transform * _power(fft.rfft(folded), times)
        log_total += times * log_sum
        roughness += times * float(np.linalg.norm(folded))
        span += times * float(np.abs(loss.losses).max())
        start += times * loss.first
    composed = np.roll(fft.irfft(transform, size), start - lowest)
    composed = np.maximum(composed, 0.0) + _ROUNDING * math.log2(size) * roughness
    losses = parts[0][0].step * (lowest + np.arange(size, dtype=np.float64))
    return Composed(losses, composed, log_total, span)


def composed_delta(parts: Sequence[tuple[GridLoss, int]], mu: float, epsilon: float) -> float:
    """Return delta of losses on one grid, each so many times, and a Gaussian release of ``mu``."""
    return ComposedLoss(tuple(parts), mu).delta(epsilon)


def _best_tilt(parts: Sequence[tuple[GridLoss, int]], mu: float, epsilon: float) -> float:
    """Return roughly the tilt whose mean loss is epsilon, or zero if that would be negative.

    Tilts are a sixteenth of an octave apart. They are tried on few points first: of a mean that
    grows, two neighbours are enough to tell.
    """

    def is_too_much(tilt: float) -> bool:
        losses = (times * loss.mean(tilt) for loss, times in parts)
        return mu**2 * (0.5 + tilt) + sum(losses) > epsilon

    def is_roughly_too_much(tilt: float) -> bool:
        losses = (times * loss.rough_mean(tilt) for loss, times in parts)
        return mu**2 * (0.5 + tilt) + sum(losses) > epsilon

    steepest = _STEEPEST / parts[0][0].step
    low, high = _octave_search(is_roughly_too_much, steepest)
    if (high >= steepest or is_too_much(high)) and not is_too_much(low):
        return low
    return _octave_search(is_too_much, steepest)[0]


def _octave_search(is_too_much: Callable[[float], bool], steepest: float) -> tuple[float, float]:
    """Return neighbouring tilts, the second too much and the first not, or zero twice."""
    if is_too_much(0.0):
        return 0.0, 0.0
    low, high = 0, _OCTAVE
    if is_too_much(math.exp2(low / _OCTAVE)):
        low, high = -10 * _OCTAVE, 0
        if is_too_much(math.exp2(low / _OCTAVE)):
            return 0.0, math.exp2(low / _OCTAVE)
    while math.exp2(high / _OCTAVE) < steepest and not is_too_much(math.exp2(high / _OCTAVE)):
        low, high = high, high + _OCTAVE
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_too_much(math.exp2(middle / _OCTAVE)) else (middle, high)
    return math.exp2(low / _OCTAVE), math.exp2(high / _OCTAVE)


def _window(
    parts: Sequence[tuple[GridLoss, int]], tilt: float, tilted: Sequence[tuple[Vector, float]]
) -> tuple[int, int]:
    """Return the lowest multiple of the step to keep, and how many, by Chernoff's bound."""
    from scipy import fft  # slow to import

    step = parts[0][0].step
    lowest = sum(times * loss.first for loss, times in parts)
    highest = sum(times * (loss.first + loss.masses.size - 1) for loss, times in parts)
    variance, now = 0.0, 0.0
    for (loss, times), (masses, log_sum) in zip(parts, tilted, strict=True):
        variance += times * float(masses @ (loss.losses - masses @ loss.losses) ** 2)
        now += times * log_sum
    # The best exponent for a Gaussian; rare and large losses need a smaller one.
    best = 2 * math.sqrt(-2 * _LOG_OUTSIDE / max(variance, step**2))
    for sign in (1, -1):
        edges: list[float] = []
        while len(edges) < 3 or edges[-1] < edges[-2]:
            further = sign * best / 2 ** len(edges)
            there = sum(times * loss.log_sum(tilt + further) for loss, times in parts)
            edges.append(sign * (there - now - _LOG_OUTSIDE) / (further * step))
        if sign > 0:
            highest = min(highest, math.ceil(min(edges)))
        else:
            lowest = max(lowest, math.floor(-min(edges)))
    return lowest, fft.next_fast_len(max(highest - lowest + 1, 2), real=True)


def _wrap_around(masses: Vector, size: int) -> Vector:
    """Add up the masses whose positions agree modulo ``size``."""
    rows = -(-masses.size // size)
    padded: Vector = np.pad(masses, (0, rows * size - masses.size))
    folded: Vector = padded.reshape(rows, size).sum(axis=0)
    return folded


def _power(base: Spectrum, times: int) -> Spectrum:
    """Multiply ``base`` with itself by repeated squaring: complex powers of numpy are slow."""
    result = np.ones_like(base)
    while times:
        if times % 2:
            result = result * base
        base, times = base * base, times // 2
    return result
