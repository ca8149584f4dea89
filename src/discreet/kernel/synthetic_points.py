"""Synthetic public points of whatever domain is declared."""

from __future__ import annotations

from discreet import _checks
from discreet._types import Array
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.kernels.landmark_span import MOST_LANDMARKS
from discreet.preprocessing.domain_points import fill_ball, fill_box
from discreet.preprocessing.short_forms import Declared


def fill_domain(
    columns: Declared | None, data_norm: float | None, width: int, **count: int
) -> Array:
    """Return quasi-random points, encoded as rows are: of declared columns, or of a ball.

    Examples
    --------
    >>> fill_domain([(0, 10), (0, 1)], None, 2, landmarks=4).shape
    (4, 2)
    """
    _checks.whole(**count, at_least=1, at_most=MOST_LANDMARKS)
    (points,) = count.values()
    if columns is not None:
        return fill_box(DeclaredFeatures(columns).columns, int(points))
    return fill_ball(width, _checks.positive_number(data_norm=data_norm), int(points))
