"""What of diffprivlib is audited: estimators, neighbouring data sets, and scores.

Every pair differs in one replaced record within the declared bounds, and has a few records only,
so that fits are fast. Estimators are imported when they are fitted.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from implied_noise import LikelihoodRatio, Objective, SharedNoise

from discreet.audit import Pair
from discreet.audit.scores import Score

EPSILON = 1.0


@dataclass(frozen=True)
class Fit:
    """Fits an estimator of a module, and returns its coefficients and intercepts, class by class.

    ``width`` pads with zeros what has fewer numbers, so that fits with fewer classes compare.
    """

    module: str
    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    width: int = 0

    def __call__(self, data: Any, seed: int) -> np.ndarray:
        make = getattr(importlib.import_module(self.module), self.estimator)
        model = make(epsilon=EPSILON, random_state=seed, **self.parameters).fit(*data)
        numbers = np.atleast_2d(model.coef_)
        if self.parameters.get("fit_intercept", True):
            numbers = np.column_stack([numbers, np.atleast_1d(model.intercept_)])
        numbers = numbers.ravel()
        return np.pad(numbers, (0, max(self.width - numbers.size, 0)))


@dataclass(frozen=True, eq=False)
class Setting:
    """One audit; ``effort`` multiplies the number of trials."""

    name: str
    run: Fit
    pair: Pair
    scores: tuple[Score, ...] = ()
    effort: float = 1.0
    claimed: float = EPSILON


def settings(module: str = "diffprivlib.models") -> list[Setting]:
    """Return every audit, of the estimators of ``module``."""
    return [
        _margin(module, data_norm=1.0),
        _margin(module, data_norm=5.0),
        _margin(module, data_norm=20.0, C=0.08, effort=3.0),
        _margin(module, data_norm=100.0, effort=2.0),
        _opposite(module, data_norm=1.0, effort=2.0),
        _margin(module, data_norm=30.0, fit_intercept=True, effort=2.5),
        _three_classes(module, n_jobs=1),
        _three_classes(module, n_jobs=2, effort=0.25),
        _lost_class(module, effort=0.25),
        _line(module, (-1.0, 1.0), fit_intercept=False),
        _line(module, (0.0, 1.0), fit_intercept=False),
        _line(module, (-1.0, 1.0), fit_intercept=True),
        _line(module, (0.0, 1.0), fit_intercept=True),
    ]


def _margin(
    module: str,
    *,
    data_norm: float,
    C: float = 1.0,
    fit_intercept: bool = False,
    effort: float = 1.0,
) -> Setting:
    """One record of the largest norm, or a record of zeros: curvature of the loss near zero."""
    y = np.array([0, 0, 1])
    pair = _pair(([0.0, 0.0, 0.0], y), ([data_norm, 0.0, 0.0], y))
    return _logistic(module, pair, effort, data_norm=data_norm, C=C, fit_intercept=fit_intercept)


def _opposite(module: str, *, data_norm: float, effort: float) -> Setting:
    """One record opposite to all others, or among them: curvature in the intercept."""
    y = np.array([0, 0, 1])
    pair = _pair(([-data_norm] * 3, y), ([data_norm, -data_norm, -data_norm], y))
    return _logistic(module, pair, effort, data_norm=data_norm, C=1.0, fit_intercept=True)


def _three_classes(module: str, *, n_jobs: int, effort: float = 1.0) -> Setting:
    """One record of the first class, or of the second."""
    X = [1.0, 0.0, 0.0, 0.0]
    pair = _pair((X, np.array([0, 0, 1, 2])), (X, np.array([1, 0, 1, 2])))
    return _logistic(module, pair, effort, data_norm=1.0, C=1.0, fit_intercept=False, n_jobs=n_jobs)


def _lost_class(module: str, *, effort: float) -> Setting:
    """The only record of a third class, or none."""
    X = [0.0, 0.0, 0.0]
    pair = _pair((X, np.array([0, 1, 2])), (X, np.array([0, 1, 1])))
    parameters = {"data_norm": 1.0, "C": 1.0, "fit_intercept": False}
    run = Fit(module, "LogisticRegression", parameters, width=3)
    return Setting("LogisticRegression, a class with one record", run, pair, effort=effort)


def _line(module: str, bounds: tuple[float, float], *, fit_intercept: bool) -> Setting:
    """One record at the upper bound, or with all others (almost) at the lower bound."""
    low, high = bounds
    others = [low, low, low] if fit_intercept else [0.0]
    near = others[0] + 0.01
    y = np.zeros(len(others) + 1)
    pair = _pair(([high, *others], y), ([near, *others], y))
    parameters = {"bounds_X": bounds, "bounds_y": bounds, "fit_intercept": fit_intercept}
    name = f"LinearRegression, bounds ({low:g}, {high:g}){_intercept(fit_intercept)}"
    return Setting(name, Fit(module, "LinearRegression", parameters), pair)


def _logistic(module: str, pair: Pair, effort: float, **parameters: Any) -> Setting:
    classes = np.unique(pair.first[1]).size
    plan = {name: parameters[name] for name in ("data_norm", "C", "fit_intercept")}
    objective = Objective.planned(EPSILON, classes=classes if classes > 2 else 1, **plan)
    scores: tuple[Score, ...] = (LikelihoodRatio(objective, pair.first, pair.second),)
    name = f"LogisticRegression, data_norm {parameters['data_norm']:g}"
    if parameters["C"] != 1:
        name += f", C {parameters['C']:g}"
    name += _intercept(parameters["fit_intercept"])
    if classes > 2:
        name += f", {classes} classes, n_jobs {parameters['n_jobs']}"
        scores += (SharedNoise(objective, pair.first, pair.second),)
    return Setting(name, Fit(module, "LogisticRegression", parameters), pair, scores, effort)


def _intercept(fitted: bool) -> str:
    return ", intercept" if fitted else ", no intercept"


def _pair(first: tuple[list[float], np.ndarray], second: tuple[list[float], np.ndarray]) -> Pair:
    """Return two data sets of one column that differ in one record."""
    (x, y), (other, labels) = first, second
    return Pair((np.array(x)[:, None], y), (np.array(other)[:, None], labels), "replace")
