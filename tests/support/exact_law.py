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
    gradient, hessian = ridge * points, np.eye(points.shape[1]) * ridge
    hessian = np.broadcast_to(hessian, (len(points), *hessian.shape))
    for record in records:
        x, y, many = record if len(record) == 3 else (*record, 1)
        x, margins = np.asarray(x, dtype=np.float64), points @ np.asarray(x, dtype=np.float64)
        gradient = gradient + many * loss.slope(np.float64(y), margins)[:, None] * x
        bend = many * loss.curvature(np.float64(y), margins)
        hessian = hessian + bend[:, None, None] * np.outer(x, x)
    return -np.linalg.norm(gradient, order, axis=1) / scale + np.linalg.slogdet(hessian)[1]


def largest_log_ratio(loss, ridge, scale, commons, candidates, points, *, is_replace, order=2):
    """Search neighbours for the largest ratio of densities, in both orders.

    Add/remove: each candidate against none. Replace: each against each. Beside any of ``commons``.
    """
    largest = 0.0
    for common in commons:
        with_one = np.array(
            [
                log_density(loss, ridge, scale, [*common, record], points, order=order)
                for record in candidates
            ]
        )
        if is_replace:
            gaps = with_one.max(axis=0) - with_one.min(axis=0)
        else:
            without = log_density(loss, ridge, scale, common, points, order=order)
            gaps = np.abs(with_one - without)
        largest = max(largest, float(gaps.max()))
    return largest
