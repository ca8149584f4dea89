"""The exact density of the minimiser under a random linear term of exponential density.

By change of variables, minus the linear term is the gradient of the objective without it, so that
``log density = -|gradient| / scale + log det(Hessian)`` up to a constant that data do not change.
"""

from __future__ import annotations

import numpy as np


def log_density(loss, ridge, scale, records, points, *, order=2):
    """At each of the points (rows), for records (x, y) or (x, y, how many of them).

    ``order`` is that of the noise's norm.
    """
    points = np.atleast_2d(points)
    return _density_of(_sums(loss, ridge, records, points), scale, order)


def _sums(loss, ridge, records, points):
    """Return gradients and Hessians of the objective at points."""
    gradient, hessian = ridge * points, np.eye(points.shape[1]) * ridge
    hessian = np.broadcast_to(hessian, (len(points), *hessian.shape))
    for record in records:
        slope, bend = _parts(loss, record, points)
        gradient, hessian = gradient + slope, hessian + bend
    return gradient, hessian


def _parts(loss, record, points):
    """Return what records alike add to gradients and Hessians."""
    x, y, many = record if len(record) == 3 else (*record, 1)
    x, margins = np.asarray(x, dtype=np.float64), points @ np.asarray(x, dtype=np.float64)
    bend = many * loss.curvature(np.float64(y), margins)
    slope = many * loss.slope(np.float64(y), margins)
    return slope[:, None] * x, bend[:, None, None] * np.outer(x, x)


def _density_of(sums, scale, order):
    gradient, hessian = sums
    if gradient.shape[1] == 1:  # every norm is the absolute value, and the determinant is the entry
        return -np.abs(gradient[:, 0]) / scale + np.log(hessian[:, 0, 0])
    return -np.linalg.norm(gradient, order, axis=1) / scale + np.linalg.slogdet(hessian)[1]


def largest_log_ratio(loss, ridge, scale, commons, candidates, points, *, is_replace, order=2):
    """Search neighbours for the largest ratio of densities, in both orders.

    Add/remove: each candidate against none. Replace: each against each. Beside any of ``commons``.
    """
    points, largest = np.atleast_2d(points), 0.0
    parts = [_parts(loss, record, points) for record in candidates]
    for common in commons:
        gradient, hessian = _sums(loss, ridge, common, points)
        with_one = np.array(
            [_density_of((gradient + slope, hessian + bend), scale, order) for slope, bend in parts]
        )
        if is_replace:
            gaps = with_one.max(axis=0) - with_one.min(axis=0)
        else:
            gaps = np.abs(with_one - _density_of((gradient, hessian), scale, order))
        largest = max(largest, float(gaps.max()))
    return largest
