"""Linear models for readers of skops: plain scikit-learn models with our coefficients."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from discreet.artifact.models import check_linear, coefficients
from discreet.errors import InputError
from discreet.kernel.kernel_features import KernelEstimator
from discreet.linear_model import LinearRegressor, LogisticRegression, PoissonRegressor


def to_skops(model: BaseEstimator, path: str | Path) -> Path:
    """Write a skops file that loads without trusting any type; return its path.

    What is stored is a scikit-learn model with the same coefficients: ``LogisticRegression`` for a
    logistic regression of two classes, ``LinearSVC`` for other classifiers (the same margins and
    classes, no probabilities), ``LinearRegression`` for regressions. The guarantee is not part of
    it; publish the privacy card beside it. A model of declared columns takes its columns *as
    encoded by* :meth:`BoundedScaler.plain <discreet.preprocessing.BoundedScaler.plain>`: numbers
    clipped to their ranges, one column of zeros and ones for each level.

    Needs the extra ``export``.

    Examples
    --------
    >>> import skops.io, tempfile
    >>> from discreet.linear_model import Ridge
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2)) / 2
    >>> model = Ridge(data_norm=1.0, target_range=(-1, 1)).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     plain = skops.io.load(to_skops(model, Path(place) / "model.skops"))
    >>> type(plain).__name__, bool(np.allclose(plain.predict(X), model.predict(X)))
    ('LinearRegression', True)
    """
    try:
        from skops import io
    except ImportError:
        raise InputError("to_skops needs skops; install discreet[export].") from None
    plain = plain_model(model)
    return write_whole(Path(path), io.dumps(plain))


def plain_model(model: Any) -> Any:
    """Return the scikit-learn model that predicts alike.

    Examples
    --------
    >>> from discreet.svm import LinearSVC
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2)) / 2
    >>> plain_model(LinearSVC(data_norm=1.0, classes=[False, True]).fit(X, X[:, 0] > 0))
    LinearSVC()
    """
    from sklearn import linear_model, svm  # slow to import

    check_linear(model, "to_skops")
    if isinstance(model, PoissonRegressor):
        raise InputError(
            "to_skops has no plain model for a PoissonRegressor, whose link scikit-learn keeps in "
            "a type of its own; use to_onnx, or save."
        )
    if isinstance(model, KernelEstimator):
        raise InputError(
            f"a {type(model).__name__} makes features of rows before it predicts, which no plain "
            "linear model does; use to_onnx, or save."
        )
    if isinstance(model, LinearRegressor) and model.columns is not None:
        raise InputError(
            "a LinearRegressor of declared columns clips rows before it predicts, which no "
            "plain linear model does; use to_onnx, or save."
        )
    coef, intercept = coefficients(model)
    if not is_classifier(model):
        plain = linear_model.LinearRegression()
        is_single = np.ndim(model.coef_) == 1
        plain.coef_ = coef[0].copy() if is_single else coef.copy()
        plain.intercept_ = float(intercept[0]) if is_single else intercept.copy()
    else:
        is_logistic = isinstance(model, LogisticRegression) and len(model.classes_) == 2
        plain = linear_model.LogisticRegression() if is_logistic else svm.LinearSVC()
        plain.coef_, plain.intercept_ = coef.copy(), intercept.copy()
        plain.classes_ = np.array(model.classes_)
        plain.n_iter_ = np.zeros(1, dtype=np.int32) if is_logistic else 0
    plain.n_features_in_ = coef.shape[1]
    if getattr(model, "columns", None) is None and hasattr(model, "feature_names_in_"):
        plain.feature_names_in_ = np.array(model.feature_names_in_)
    return plain


def write_whole(path: Path, data: bytes) -> Path:
    """Write a new file that appears as a whole; one that exists is not changed."""
    if os.path.lexists(path):
        raise InputError(f"{path} exists already; choose a new file.")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.") from None
    try:
        os.link(name, path)  # unlike a rename, never over a file that came in between
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.") from None
    finally:
        os.unlink(name)
    return path
