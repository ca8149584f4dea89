"""What exports need to know about a linear model, and which models are linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet._types import Array
from discreet.artifact.models import CLASSIFIERS, REGRESSORS, kind_of
from discreet.errors import InputError


def check_linear(model: Any, what: str) -> None:
    """Raise unless the model is a fitted linear one."""
    kind = kind_of(model)
    if kind.model not in (*CLASSIFIERS, *REGRESSORS):
        raise InputError(f"{what} is for linear models; store a {kind.model.__name__} with save().")


def coefficients(model: Any) -> tuple[Array, Array]:
    """Return a row of coefficients, and an intercept, for each class or target."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    return coef, np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(coef),))
