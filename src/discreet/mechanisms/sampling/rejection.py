r"""Exact draws from a law on a lattice, by rejection from tangents of its energy.

Rejection sampling below a piecewise exponential envelope that is refined where it is loose.

The law gives a lattice point chance proportional to :math:`e^{-U}`, U convex. Lattice points are
cut into cells, boxes in the skew coordinates of a ``Guide``. In a cell a tangent of U, less all
that rounding can do, is a function :math:`b + \sum_j t_j k_j` below U, k the point's steps from a
corner of the cell. Its exponential is easy to sum up and to draw from, exactly
(``Noise.truncated_geometric``). So

1. propose a cell with chance proportional to an integer w, at least
   :math:`Z e^{-b}` on a common scale, Z the sum of :math:`e^{-tk}` over the cell;
2. propose k with chance :math:`e^{-tk}/Z`; refuse it if it is outside of the region;
3. keep it with chance :math:`\frac{Z}{w} e^{-U + tk}` on that scale, an exact coin; or else begin
   anew.

What is kept has chance proportional to :math:`e^{-U}`, whatever the cells, the tangents and the
guide are; they may depend on the data and on what was refused. Cells with refusals are cut in two.

*What is not exact:* computed energies are within a public error of U, and logarithms of Z and w
and the sum of all in the coin are rounded, to 2**-40 or in proportion to the largest energy:
``rounding``. Every kept point so has chance :math:`e^{-U}`, times a factor within
:math:`e^{\pm \zeta}`. A mechanism pays four times that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Booleans, Integers, Vector
from discreet.errors import PrivacyError
from discreet.mechanisms.sampling.energy import POINTS_AT_ONCE, Energy, Scale
from discreet.mechanisms.sampling.guide import Guide, find_guide
from discreet.mechanisms.sampling.lattice import Region
from discreet.noise import Noise

RATE_BITS = 40
"""Tilts and exponents of coins are multiples of two to minus this."""

TILT_BITS = 57
"""The largest exponent within a cell is below 2**(57 - 40); eight of them fit 64 bits."""

WEIGHT_BITS = 40
MOST_CELLS = 2**20
NEVER = 1 << 62
"""Coins of larger exponents show tails in any case."""

MOST_AT_ONCE = 2**14
CUTS_AT_ONCE = 32

_MARGIN = 2.0**-20
GOOD_RATE = 0.2
"""Cells are not cut further once so many proposals are kept."""


def rounding(scale: Scale, rate: float) -> float:
    """Bound what rounding, beside that of energies, does to the exponent of a coin."""
    return 2.0**-36 + 2.0**-48 * rate * scale.size


@dataclass(frozen=True, eq=False)
class EnvelopeCells:
    """Boxes of offsets, and an exponential above the law in each."""

    low: Integers  # the least offsets
    bits: Integers  # the sides, as powers of two
    rates: Integers  # how fast the envelope falls along each axis, in units of 2**-40
    falls: Booleans  # whether it falls with the offset or against it
    bases: Vector  # the tangent at the corner where it is highest
    sums: Vector  # the logarithm of the sum of the envelope's exponential

    def select(self, kept: Booleans | Integers) -> EnvelopeCells:
        return EnvelopeCells(
            self.low[kept],
            self.bits[kept],
            self.rates[kept],
            self.falls[kept],
            self.bases[kept],
            self.sums[kept],
        )

    def restrict(self, low: Integers, bits: Integers) -> EnvelopeCells:
        """Return the same envelopes over parts of the cells."""
        high, old_high = (start + (np.int64(1) << size) - 1 for start, size in
                          ((low, bits), (self.low, self.bits)))  # fmt: skip
        moved = np.where(self.falls, low - self.low, old_high - high)
        descents = (self.rates * moved * 2.0**-RATE_BITS).sum(axis=1)
        bases = self.bases + descents - 2.0**-44 * np.abs(descents) - 2.0**-44 * np.abs(self.bases)
        return EnvelopeCells(low, bits, self.rates, self.falls, bases, _log_sums(self.rates, bits))

    def take_lower(self, other: EnvelopeCells) -> EnvelopeCells:
        """Return the same cells, each with the envelope that has the smaller sum."""
        better = other.sums - other.bases < self.sums - self.bases
        return EnvelopeCells(
            self.low,
            self.bits,
            np.where(better[:, None], other.rates, self.rates),
            np.where(better[:, None], other.falls, self.falls),
            np.where(better, other.bases, self.bases),
            np.where(better, other.sums, self.sums),
        )

    def join(self, other: EnvelopeCells) -> EnvelopeCells:
        return EnvelopeCells(
            np.concatenate([self.low, other.low]),
            np.concatenate([self.bits, other.bits]),
            np.concatenate([self.rates, other.rates]),
            np.concatenate([self.falls, other.falls]),
            np.concatenate([self.bases, other.bases]),
            np.concatenate([self.sums, other.sums]),
        )


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws points of a region with chance proportional to the exponential of minus energy."""

    energy: Energy
    region: Region
    scale: Scale
    guide: Guide

    @classmethod
    def of(cls, energy: Energy, region: Region, scale: Scale) -> Sampler:
        return cls(energy, region, scale, find_guide(energy, region))

    def draw(self, noise: Noise, draws: int) -> Array:
        """Return independent points, one a row."""
        cells, found, at_once = self._first_cells(), np.empty((0, self.region.width), np.int64), 64
        while len(found) < draws:
            proposals = self._propose(cells, noise, at_once)
            kept = self._keep(proposals, noise, draws - len(found))
            found = np.concatenate([found, proposals.places[kept]])
            rate = kept.size / at_once
            if rate < GOOD_RATE and len(cells.low) < MOST_CELLS:
                cells = self._cut(cells, self._loose_cells(proposals, kept))
            wanted = (draws - len(found)) / rate if rate else 1.2 * at_once
            at_once = int(np.clip(wanted, 64, MOST_AT_ONCE))
        return self.region.points(found)

    def _loose_cells(self, proposals: Proposals, kept: Integers) -> Integers:
        """Return cells with many refusals."""
        refused = np.ones(proposals.cells.size, dtype=np.bool_)
        refused[kept] = False
        which, counts = np.unique(proposals.cells[refused], return_counts=True)
        return which[np.argsort(-counts, kind="stable")[:CUTS_AT_ONCE]]

    def _first_cells(self) -> EnvelopeCells:
        """Return a cell for each orthant around the guide's place: together they hold all."""
        region, guide = self.region, self.guide
        reach = self._reach[guide.order]
        far = reach + np.abs(guide.leans) @ reach + region.width + 2
        bits = np.ceil(np.log2(far)).astype(np.int64)
        corners = np.indices((2,) * region.width).reshape(region.width, -1).T
        low = np.where(corners == 1, 0, -(np.int64(1) << bits))
        return self._measure(low, np.broadcast_to(bits, low.shape).copy())[0]

    @property
    def _reach(self) -> Vector:
        """How many steps any point of the region can be away from the guide's place."""
        place = self.guide.place
        return np.maximum(np.abs(place), np.abs(self.region.steps - place)) + 1.0

    def _measure(self, low: Integers, bits: Integers) -> tuple[EnvelopeCells, Integers]:
        """Return cells with their tangents, and which ones they are: some hold no point."""
        cells, kept = self._fit_tangents(low[:POINTS_AT_ONCE], bits[:POINTS_AT_ONCE])
        for start in range(POINTS_AT_ONCE, len(low), POINTS_AT_ONCE):
            some = slice(start, start + POINTS_AT_ONCE)
            more, which = self._fit_tangents(low[some], bits[some])
            cells, kept = cells.join(more), np.concatenate([kept, start + which])
        return cells, kept

    def _fit_tangents(self, low: Integers, bits: Integers) -> tuple[EnvelopeCells, Integers]:
        region, guide = self.region, self.guide
        high = low + (np.int64(1) << bits) - 1
        middle = low + (high - low) / 2
        touching = np.where(
            low >= 0,
            np.minimum(middle, low + guide.spread),
            np.maximum(middle, high - guide.spread),
        )
        start, spacing = self._start, region.spacing
        wanted = start + guide.moves(touching) * spacing
        points = region.project(wanted)
        outward = _unit_rows(wanted - points)
        limit = region.support(outward)
        full = ~self._is_beyond(outward, limit, low, high)
        low, high, bits, points = low[full], high[full], bits[full], points[full]
        outward, limit = outward[full], limit[full]
        values, slopes = self.energy.tangents(points)
        # Of points beyond the limit there are none: the tangent need not fall towards them.
        pull = np.maximum(-(slopes * outward).sum(axis=1), 0.0)
        values = values + pull * ((outward * points).sum(axis=1) - limit)
        slopes = (slopes + pull[:, None] * outward) * spacing
        tilts = guide.tilts(slopes)
        falls = tilts >= 0
        corner = np.where(falls, low, high)
        touched = (points - start) / spacing
        bases = values - (slopes * touched).sum(axis=1) + (tilts * corner).sum(axis=1)
        bases -= self._slack(slopes, tilts, touched, corner) + 2.0**-44 * pull * np.abs(limit)
        rates = np.floor(np.minimum(np.abs(tilts) * 2.0**RATE_BITS, 2.0 ** (TILT_BITS - bits)))
        rates = rates.astype(np.int64)
        cells = EnvelopeCells(low, bits, rates, falls, bases, _log_sums(rates, bits))
        return cells, np.flatnonzero(full)

    @property
    def _start(self) -> Vector:
        return np.asarray(self.region.lower) + self.guide.place * self.region.spacing

    def _is_beyond(self, outward: Array, limit: Vector, low: Integers, high: Integers) -> Booleans:
        """Say which cells surely hold no point of the region."""
        steps = outward * self.region.spacing
        tilts = self.guide.tilts(steps)
        least = outward @ self._start + (tilts * np.where(tilts >= 0, low, high)).sum(axis=1)
        size = (np.abs(steps) * self.region.steps).sum(axis=1) + np.abs(tilts).sum(axis=1)
        size = size + np.abs(tilts * np.maximum(np.abs(low), np.abs(high))).sum(axis=1)
        slack = 0.51 * np.abs(tilts).sum(axis=1) + 2.0**-40 * (size + np.abs(limit))
        beyond: Booleans = least - slack > limit
        return beyond

    def _slack(self, slopes: Array, tilts: Array, touched: Array, corner: Array) -> Vector:
        r"""Bound how far a computed tangent can be above the computed energy.

        Beside what ``Scale.tangent_error`` covers, places differ from real moves by half a step
        along each offset; the computed tilts t solve :math:`t_j - \sum_i lean_{ij} t_i = g_j` up
        to a residual that meets moves of at most the region's size; and sums are rounded.
        """
        reach = float(self._reach.max())
        sizes = np.abs(slopes[:, self.guide.order]) + np.abs(tilts)
        sizes = sizes + np.abs(tilts) @ np.abs(self.guide.leans)
        added = (np.abs(slopes * touched) + np.abs(tilts * corner)).sum(axis=1)
        public = self.energy.rate * self.scale.tangent_error
        steps = 0.51 * np.abs(tilts).sum(axis=1)
        rounded = 2.0**-46 * (reach * sizes.sum(axis=1) + added)
        return np.asarray(steps + rounded + public + rounding(self.scale, self.energy.rate))

    def _propose(self, cells: EnvelopeCells, noise: Noise, count: int) -> Proposals:
        logs = cells.sums - cells.bases
        logs += 2.0**-50 * (np.abs(cells.sums) + np.abs(cells.bases))  # at least the true ones
        top = float(logs.max())
        with np.errstate(under="ignore"):
            weights = np.exp(logs - top) * 2.0**WEIGHT_BITS * (1 + _MARGIN)
        envelope = np.floor(weights).astype(np.int64) + 1
        cumulative = np.cumsum(envelope)
        tickets = noise.below(int(cumulative[-1]), count).astype(np.int64)
        which = np.searchsorted(cumulative, tickets, side="right").astype(np.int64)
        rates, bits, low = cells.rates[which], cells.bits[which], cells.low[which]
        steps = noise.truncated_geometric(rates.ravel(), bits.ravel()).reshape(rates.shape)
        high = low + (np.int64(1) << bits) - 1
        offsets = np.where(cells.falls[which], low + steps, high - steps)
        return Proposals(
            cells=which,
            places=self.guide.places(offsets),
            descents=(rates * steps).sum(axis=1),
            shifts=(np.log(envelope) - cells.sums)[which],
            top=top,
        )

    def _keep(self, proposals: Proposals, noise: Noise, wanted: int) -> Integers:
        """Return which proposals are kept, in order, as many as are wanted at most."""
        inside = np.flatnonzero(self.region.holds(proposals.places))
        kept = np.empty(0, dtype=np.int64)
        for start in range(0, inside.size, POINTS_AT_ONCE):
            some = inside[start : start + POINTS_AT_ONCE]
            energies = self.energy.values(self.region.points(proposals.places[some]))
            heads = noise.coins(proposals.exponents(some, energies), 1 << RATE_BITS)
            kept = np.concatenate([kept, some[heads]])
            if kept.size >= wanted:
                break
        return kept[:wanted]

    def _cut(self, cells: EnvelopeCells, which: Integers) -> EnvelopeCells:
        """Cut some cells in two, each across the axis along which it is longest for the law."""
        low, bits = cells.low[which], cells.bits[which]
        spread, each = self.guide.spread, np.arange(which.size)
        falls = 3 * 2.0**RATE_BITS / np.maximum(cells.rates[which], 1)
        length = np.where(bits > 0, np.minimum(2.0**bits, falls) / spread, 0.0)
        axis = length.argmax(axis=1)
        can = bits[each, axis] > 0
        which, low, bits, axis, each = which[can], low[can], bits[can], axis[can], each[: can.sum()]
        if which.size == 0:
            return cells
        high = low + (np.int64(1) << bits) - 1
        along = bits[each, axis]
        beyond = np.maximum(low[each, axis], -high[each, axis] - 1)  # from the guide's place
        near = np.floor(np.log2(np.maximum(spread[axis], np.maximum(beyond, 1)))).astype(np.int64)
        near = np.minimum(near, along - 1)
        # A cell much longer than the law keeps a far part that is as long: what sticks out holds
        # no point of the region, since the outermost cells hold them all.
        far = np.where(near == along - 1, near, along)
        side = np.int64(1) << near
        near_low, far_low, near_bits, far_bits = low.copy(), low.copy(), bits.copy(), bits.copy()
        near_bits[each, axis], far_bits[each, axis] = near, far
        is_right = low[each, axis] >= 0
        near_low[each, axis] = np.where(is_right, low[each, axis], high[each, axis] + 1 - side)
        far_low[each, axis] = np.where(
            is_right, low[each, axis] + side, high[each, axis] + 1 - side - (np.int64(1) << far)
        )
        rest = np.ones(len(cells.low), dtype=np.bool_)
        rest[which] = False
        parts = np.concatenate([near_low, far_low]), np.concatenate([near_bits, far_bits])
        new, kept = self._measure(*parts)
        old = cells.select(np.concatenate([which, which])).restrict(*parts).select(kept)
        return cells.select(rest).join(new.take_lower(old))


@dataclass(frozen=True, eq=False)
class Proposals:
    """Places that may be kept, and what the exponents of their coins are made of."""

    cells: Integers
    places: Integers
    descents: Integers  # of the envelope, in units of 2**-40
    shifts: Vector  # log w - log Z
    top: float  # the logarithm of the largest Z exp(-b); w counts from it, in units of 2**-40

    def exponents(self, some: Integers, energies: Vector) -> Integers:
        r"""Return the exponents of some proposals' coins, in units of 2**-40; none is negative.

        However large energies are: with U at least b + tk, and log w at least
        :math:`\log Z - b - top + 40 \log 2 + 2^{-21}`, the exact sum is at least 2**-21, less what
        is rounded here, which is below 2**-37 as all large numbers are added as integers.
        """
        scale = 1 << RATE_BITS
        common = math.ceil(self.top * scale) - math.floor(WEIGHT_BITS * math.log(2) * scale)
        exact = [
            math.floor(energy * scale) + math.floor(shift * scale) + common - descent
            for energy, shift, descent in zip(
                energies.tolist(),
                self.shifts[some].tolist(),
                self.descents[some].tolist(),
                strict=True,
            )
        ]
        if min(exact) < 0:
            raise PrivacyError("a tangent was above the energy; nothing is released.")
        return np.array([min(exponent, NEVER) for exponent in exact], dtype=np.int64)


def _unit_rows(rows: Array) -> Array:
    """Return rows of length one; short ones, which may be rounding, become zero."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(length > 0, rows / np.where(length > 0, length, 1.0), 0.0)


def _log_sums(rates: Integers, bits: Integers) -> Vector:
    """Return the logarithm of the sum of exp(-rate k) over all k below 2**bits, over all axes."""
    tilts = rates * 2.0**-RATE_BITS
    flat = rates == 0
    safe = np.where(flat, 1.0, tilts)
    falling = np.log(-np.expm1(-safe * 2.0**bits)) - np.log(-np.expm1(-safe))
    return np.asarray(np.where(flat, bits * math.log(2), falling).sum(axis=1))
