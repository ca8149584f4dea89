"""What can be seen of diffprivlib from one or two fits, without an audit."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse

X = np.array([[1.0], [0.0], [-1.0]])
Y = np.array([0, 1, 2])


def repeated_fits() -> str:
    """Fit twice without a seed, in two processes: fresh noise makes different coefficients."""
    from diffprivlib.models import LogisticRegression

    fits = [
        LogisticRegression(data_norm=1.0, fit_intercept=False, n_jobs=2).fit(X, Y).coef_
        for _ in range(2)
    ]
    return "the same coefficients" if np.array_equal(*fits) else "different coefficients"


def noise_of_squares() -> str:
    """Compare the noisy sum of squares that a regression keeps with the exact one."""
    from diffprivlib.models import LinearRegression

    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False)
    model.fit(np.array([[0.5], [1.0]]), np.array([0.0, 1.0]))
    return f"{model._obj_coefs[2].item()!r}, the exact sum being 1.25"


def rows_outside_bounds() -> str:
    """Fit a row ten times as large as declared; without noise in its square, it can be read."""
    from diffprivlib.models import LinearRegression

    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False)
    model.fit(np.array([[10.0], [0.0]]), np.array([0.0, 1.0]))
    return "clipped" if model._obj_coefs[2].item() <= 1 else "not clipped"


def sparse_rows() -> str:
    """Fit sparse rows with either estimator."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    estimators = (
        LogisticRegression(data_norm=1.0),
        LinearRegression(bounds_X=(-1, 1), bounds_y=(0, 2)),
    )
    return ", ".join(_fitted(estimator) for estimator in estimators)


def _fitted(estimator: object) -> str:
    try:
        estimator.fit(sparse.csr_array(X), Y)
    except (TypeError, ValueError) as error:
        return f"{type(estimator).__name__} raises {type(error).__name__}"
    return f"{type(estimator).__name__} accepts them"


def _quietly(check: Callable[[], str]) -> Callable[[], str]:
    def checked() -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return check()

    return checked


CHECKS: dict[str, Callable[[], str]] = {
    "two fits, n_jobs 2, no random_state": _quietly(repeated_fits),
    "noisy sum of squares, bounds (0, 1)": _quietly(noise_of_squares),
    "LinearRegression, no intercept, rows outside bounds_X": _quietly(rows_outside_bounds),
    "sparse rows": _quietly(sparse_rows),
}
