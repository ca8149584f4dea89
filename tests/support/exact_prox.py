"""Penalised minimisers with 50 digits: a prox in mpmath, and Newton's method on its equation.

The reference proves itself: at ``t = prox(z)`` the residual ``gradient(t) + (z - t)/s`` is a
subgradient, so the minimiser is within its norm over the ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from discreet.geometry import Box, L1Ball, L2Ball, LinfBall, Simplex
from discreet.penalties import L1, L1L2, Indicator

mp.mp.dps = 50


@dataclass(frozen=True)
class ExactLoss:
    """A loss again: slope and curvature as functions of label and margin."""

    loss: Any
    slope: Any
    curvature: Any


def prox(penalty, z, step):
    """Return the prox of a list of numbers, and its derivative as a matrix."""
    if isinstance(penalty, L1):
        return _threshold(z, mp.mpf(penalty.weight) * step)
    if isinstance(penalty, L1L2):
        point, derivative = _threshold(z, mp.mpf(penalty.l1_weight) * step)
        shrink = 1 + mp.mpf(penalty.l2_weight) * step
        return [v / shrink for v in point], derivative / shrink
    assert isinstance(penalty, Indicator)
    region = penalty.region
    if isinstance(region, L2Ball):
        return _onto_ball(z, mp.mpf(region.radius))
    if isinstance(region, LinfBall):
        return _into_box(z, [-mp.mpf(region.radius)] * len(z), [mp.mpf(region.radius)] * len(z))
    if isinstance(region, Box):
        return _into_box(z, [mp.mpf(v) for v in region.lower], [mp.mpf(v) for v in region.upper])
    if isinstance(region, Simplex):
        return _onto_simplex(z, mp.mpf(region.total))
    assert isinstance(region, L1Ball)
    if sum(map(abs, z)) <= region.radius:
        return list(z), mp.eye(len(z))
    signs = mp.diag([mp.sign(v) for v in z])
    sizes, derivative = _onto_simplex([abs(v) for v in z], mp.mpf(region.radius))
    return list(signs * mp.matrix(sizes)), signs * derivative * signs


def _threshold(z, distance):
    point = [mp.sign(v) * max(abs(v) - distance, 0) for v in z]
    return point, mp.diag([mp.mpf(abs(v) > distance) for v in z])


def _onto_ball(z, radius):
    length = mp.norm(mp.matrix(z))
    if length <= radius:
        return list(z), mp.eye(len(z))
    normal = mp.matrix(z) / length
    return list(radius * normal), radius / length * (mp.eye(len(z)) - normal * normal.T)


def _into_box(z, lower, upper):
    limits = list(zip(z, lower, upper, strict=True))
    return [max(low, min(high, v)) for v, low, high in limits], mp.diag(
        [mp.mpf(low < v < high) for v, low, high in limits]
    )


def _onto_simplex(z, total):
    descending, level = sorted(z, reverse=True), None
    for count in range(1, len(z) + 1):
        candidate = (sum(descending[:count]) - total) / count
        if descending[count - 1] > candidate:
            level = candidate
    point = [max(v - level, 0) for v in z]
    kept = mp.matrix([mp.mpf(v > level) for v in z])
    return point, mp.diag(list(kept)) - kept * kept.T / sum(kept)


def exact_minimiser(exact, problem, X, y, linear, near):
    """Newton's method for ``gradient(prox(z)) + (z - prox(z))/s = 0``, from a good point."""
    rows = [mp.matrix([mp.mpf(v) for v in row]) for row in np.asarray(X).tolist()]
    labels = [mp.mpf(v) for v in np.asarray(y).tolist()]
    ridge, b = mp.mpf(problem.ridge), mp.matrix([mp.mpf(v) for v in linear])
    step = 1 / (ridge + len(rows))

    def slopes(w):
        gradient, hessian = ridge * w + b, ridge * mp.eye(len(w))
        for x, label in zip(rows, labels, strict=True):
            margin = (x.T * w)[0]
            gradient += exact.slope(label, margin) * x
            hessian += exact.curvature(label, margin) * (x * x.T)
        return gradient, hessian

    start = mp.matrix([mp.mpf(v) for v in near.tolist()])
    z = start - step * slopes(start)[0]
    for _ in range(30):
        point, derivative = prox(problem.penalty, list(z), step)
        w = mp.matrix(point)
        gradient, hessian = slopes(w)
        residual = gradient + (z - w) / step
        if mp.norm(residual) / ridge < mp.mpf(10) ** -35:
            return w
        z -= mp.lu_solve(hessian * derivative + (mp.eye(len(z)) - derivative) / step, residual)
    raise AssertionError("the reference did not converge")


def distance(point, reference):
    return float(mp.norm(mp.matrix([mp.mpf(v) for v in point.tolist()]) - reference))
