"""The models that a search chooses among, checked before anything is paid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from sklearn.base import BaseEstimator, clone

from discreet.errors import InputError, InputTypeError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.classifier import LinearClassifierBase
from discreet.estimators.fit import refuse_undeclared
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.regressor import LinearRegressorBase
from discreet.estimators.selected_model import SelectedModel
from discreet.estimators.sparse_model import SparseModel
from discreet.losses import Pinball, SmoothedPinball
from discreet.questions.model_choice import MOST_MODELS

Setting = dict[str, Any]
"""Values of parameters, by name."""

CHOSEN = "estimator"
"""The name under which a grid may hold estimators themselves."""

OF_THE_SEARCH = ("epsilon", "delta", "unit", "ledger", "max_rows", "rehearsal", "verbose")
"""What the search says itself, for all candidates."""

OF_ALL = ("classes", "target_range", "max_weight")
"""What has to be the same for all candidates, or their errors cannot be compared."""


def list_settings(given: Iterable[Mapping[str, Any]]) -> list[Setting]:
    """Return the settings of a grid, refusing fewer than two and what cannot be tuned."""
    settings = [dict(each) for each in given]
    if len(settings) < 2:
        raise InputError(
            "a search needs at least two candidates; got "
            f"{len(settings)}. With one there is nothing to choose: fit the estimator itself."
        )
    if len(settings) > MOST_MODELS:
        raise InputError(f"a search has at most {MOST_MODELS} candidates; got {len(settings)}.")
    for name in {name for setting in settings for name in setting}:
        if name in OF_THE_SEARCH:
            raise InputError(
                f"{name} is not tuned: the search has its own, for everything together."
            )
        if name in OF_ALL:
            raise InputError(f"{name} is not tuned: candidates could not be compared.")
    return settings


def make_model(estimator: Any, setting: Setting) -> PrivateEstimator:
    """Return one candidate, not fitted, with the parameters of its setting."""
    own = dict(setting)
    chosen = own.pop(CHOSEN, estimator)
    check_estimator(chosen)
    model = clone(chosen)
    try:
        model.set_params(**own)
    except ValueError:
        known = sorted(set(model.get_params(deep=False)) - {*OF_THE_SEARCH, *OF_ALL})
        unknown = sorted(set(own) - set(known))
        raise InputError(
            f"{type(model).__name__} has no parameter {unknown}; what can be tuned of it: {known}."
        ) from None
    refuse_undeclared(model)
    model._check()
    loss = model.margin_loss() if isinstance(model, LinearEstimator) else None
    if isinstance(loss, Pinball | SmoothedPinball):
        _refuse_kind(type(model).__name__)
    return model  # type: ignore[no-any-return]


def check_estimator(estimator: Any) -> None:
    """Refuse what a search cannot fit and compare."""
    if isinstance(estimator, type) or not isinstance(estimator, BaseEstimator):
        raise InputTypeError(
            "estimator must be an estimator of this library, not fitted; got "
            f"{estimator if isinstance(estimator, type) else type(estimator).__name__}."
        )
    name = type(estimator).__name__
    is_taken = isinstance(estimator, PrivateEstimator) and estimator.is_compared
    if isinstance(estimator, LinearRegressorBase):
        is_taken = type(estimator).predict is LinearRegressorBase.predict
    if not isinstance(estimator, LinearClassifierBase) and not is_taken:
        _refuse_kind(name)
    if isinstance(estimator, SparseModel) and not isinstance(estimator, SelectedModel):
        raise InputError(
            f"{name} releases the steps of its fit, by which a search cannot compare models; tune "
            "SparseClassifier or SparseRegressor."
        )
    if estimator.ledger is not None:
        raise InputError(
            f"this {name} has a ledger of its own, which would be charged for every candidate; "
            "pass the ledger to the search, which is charged once for everything."
        )
    if estimator.rehearsal is not None:
        raise InputError("pass rehearsal to the search, not to the estimator within it.")
    if getattr(estimator, "max_weight", None) is not None:
        raise InputError("a search counts every row once; leave max_weight out.")


def _refuse_kind(name: str) -> NoReturn:
    raise InputError(
        "a search compares linear and additive classifiers by their errors, and such models of "
        f"numbers by their distance from the target; {name} is neither."
    )


def describe(setting: Setting) -> str:
    """Return a setting in words, for a release.

    Examples
    --------
    >>> describe({"C": 0.1, "margin": None})
    'C=0.1, margin=None'
    """
    words = ", ".join(f"{name}={_brief(value)}" for name, value in sorted(setting.items()))
    return words or "as given"


LONGEST = 80


def _brief(value: Any) -> str:
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
