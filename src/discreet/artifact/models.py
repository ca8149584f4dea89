"""Which models can be stored, what a fit leaves in each, and which of them are linear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from discreet._types import Array
from discreet.errors import InputError, InputTypeError
from discreet.estimators.registry import STREAMS, all_estimators, all_learners
from discreet.preprocessing import BoundedScaler

NOT_STORED = ("ledger", "rehearsal")
"""Arguments that are left out: the ledger that was charged, and the seed of a simulation."""

COLUMNS = frozenset(["n_features_in_"])
NAMES = frozenset(["feature_names_in_"])


@dataclass(frozen=True)
class ModelKind:
    """A class of models and the attributes that a fit leaves."""

    model: type[Any]
    learnt: frozenset[str]
    optional: frozenset[str] = NAMES
    is_released: bool = True
    room: str = ""

    @property
    def name(self) -> str:
        """The name of the class; that of a learner of streams begins with its package."""
        return f"{self.room}.{self.model.__name__}" if self.room else self.model.__name__


@cache
def model_kinds() -> dict[str, ModelKind]:
    """Return every class of models that can be stored, by name: all estimators, and the scaler.

    Of a learner of a stream, what it has last answered is stored, and no more.

    Examples
    --------
    >>> sorted(model_kinds()["Median"].learnt)
    ['location_', 'n_features_in_']
    """
    kinds = [ModelKind(model, COLUMNS | model.learns) for model in all_estimators()]
    kinds += [ModelKind(kind, COLUMNS | kind.learns, room=STREAMS) for kind in all_learners()]
    kinds.append(ModelKind(BoundedScaler, frozenset(), NAMES | COLUMNS, is_released=False))
    return {kind.name: kind for kind in kinds}


def kind_of(model: Any) -> ModelKind:
    """Return what is known about a fitted model, or refuse it.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> kind_of(BoundedScaler([Numeric(0, 1)])).is_released
    False
    """
    kinds = model_kinds()
    kind = next((each for each in kinds.values() if each.model is type(model)), None)
    if kind is None:
        raise InputTypeError(
            f"only this library's own models can be stored, {', '.join(sorted(kinds))}; got a "
            f"value of type {type(model).__name__}."
        )
    left = kind.learnt | {"release_"} if kind.is_released else kind.learnt
    if not all(hasattr(model, name) for name in left):
        raise InputError(f"this {type(model).__name__} is not fitted; call fit before save.")
    return kind


def fitted_attributes(model: Any, kind: ModelKind) -> dict[str, Any]:
    """Return what a fit left in a model, refusing what this library did not put there."""
    known = kind.learnt | kind.optional | {"release_", "privacy_"}
    found = {name: value for name, value in vars(model).items() if name.endswith("_")}
    unknown = sorted(set(found) - known)
    if unknown:
        raise InputError(f"this model has {unknown}, which fits of this library do not leave.")
    return {name: found[name] for name in found if name not in ("release_", "privacy_")}


def check_linear(model: Any, what: str) -> None:
    """Raise unless the model is a fitted linear one."""
    kind = kind_of(model)
    if "coef_" not in kind.learnt:
        raise InputError(f"{what} is for linear models; store a {kind.model.__name__} with save().")


def coefficients(model: Any) -> tuple[Array, Array]:
    """Return a row of coefficients, and an intercept, for each class or target."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    return coef, np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(coef),))
