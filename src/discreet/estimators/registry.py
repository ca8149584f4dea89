"""Every estimator of the library: the one list that files of models, checks and pages feed on.

An estimator is registered by its room: a class in ``__all__`` of one of ``ROOMS``.
"""

from __future__ import annotations

from importlib import import_module

from discreet.estimators.base import PrivateEstimator

ROOMS = ("linear_model", "svm", "location", "feature_selection")
"""The rooms whose estimators users import."""


def all_estimators() -> tuple[type[PrivateEstimator], ...]:
    """Return every estimator, room by room.

    Examples
    --------
    >>> [kind.__name__ for kind in all_estimators()][:2]
    ['ElasticNet', 'HuberRegressor']
    """
    rooms = [import_module(f"discreet.{room}") for room in ROOMS]
    listed = [getattr(room, name) for room in rooms for name in room.__all__]
    return tuple(
        kind for kind in listed if isinstance(kind, type) and issubclass(kind, PrivateEstimator)
    )
