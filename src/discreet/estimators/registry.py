"""Every estimator of the library: the one list that files of models, checks and pages read.

An estimator is registered by its package: a class in ``__all__`` of one of those listed here.
"""

from __future__ import annotations

from importlib import import_module

from discreet.estimators.base import PrivateEstimator

ROOMS = ("linear_model", "additive", "svm", "kernel", "location", "feature_selection")
"""The packages whose estimators users import."""

STREAMS = "online"
"""The package of what learns from streams, whose names repeat those of estimators of tables."""


def all_estimators() -> tuple[type[PrivateEstimator], ...]:
    """Return every estimator for everyday use whose result is released once, package by package.

    Examples
    --------
    >>> [kind.__name__ for kind in all_estimators()][:2]
    ['ElasticNet', 'FrankWolfeClassifier']
    """
    return tuple(
        kind
        for room in ROOMS
        for kind in _find_in(room)
        if not (kind.is_asked or kind.is_reference)
    )


def all_oracles() -> tuple[type[PrivateEstimator], ...]:
    """Return every estimator that answers through a live oracle.

    Examples
    --------
    >>> [kind.__name__ for kind in all_oracles()]
    ['BoundedUpdateOracle', 'GaussianProcessOracle']
    """
    return tuple(kind for room in ROOMS for kind in _find_in(room) if kind.is_asked)


def all_learners() -> tuple[type[PrivateEstimator], ...]:
    """Return everything that learns from streams.

    Examples
    --------
    >>> [kind.__name__ for kind in all_learners()]
    ['Experts', 'LinearRegression', 'LinearSVC', 'LogisticRegression']
    """
    return tuple(_find_in(STREAMS))


def _find_in(place: str) -> list[type[PrivateEstimator]]:
    room = import_module(f"discreet.{place}")
    listed = [getattr(room, name) for name in room.__all__]
    return [
        kind for kind in listed if isinstance(kind, type) and issubclass(kind, PrivateEstimator)
    ]
