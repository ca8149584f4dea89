"""Linear models of classes."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from discreet import _checks
from discreet._quiet import quiet
from discreet._types import Array, Vector
from discreet.data import LabelSet
from discreet.data.frame import Coded
from discreet.errors import InputError, InputTypeError
from discreet.facts import Fact, Source, one_of
from discreet.linear_model._estimator import LinearEstimator
from discreet.linear_model._fitting import width_of
from discreet.linear_model._stored import Stored, by_partition
from discreet.losses import ProbabilisticLoss
from discreet.losses.softmax import softmax_of


class LinearClassifierBase(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """Two classes by one problem, more by one problem each or all at once, within one budget."""

    _reads_files = True

    C: float | None
    classes: Any
    coef_: Array
    intercept_: Vector
    classes_: Any
    multiclass_: str | None

    def _ridge(self) -> float | None:
        if self.C is None:
            return None
        _checks.positive(C=self.C)
        return 1 / self.C

    def _facts(self) -> tuple[Fact, ...]:
        return (*super()._facts(), classes_in_words(self.classes))

    def _fit(self, X: Any, y: Any, weights: Any) -> Self:
        assumed = () if self.classes is not None else ("the classes found in the labels",)
        codes: Vector | None = None
        if isinstance(X, Stored):
            classes = self._classes_of_files()
            labels = tuple(classes.tolist())
            X = self._streamed(X, lambda cells: _codes_of_cells(cells, classes), labels)
        else:
            X, y = self._table(X, y if self.classes is None else each_by_itself(y))
            classes = declared_or_found(self.classes, y)
            codes = _signed(codes_of(y, classes), classes)
        count = classes.size
        task = self._task(LabelSet(range(count)), assumed, width_of(X))
        coefficients = self._release(task, X, codes, weights)
        self.classes_ = classes
        self.multiclass_ = None if count == 2 else "softmax" if task.is_softmax else "one_vs_rest"
        self._keep(coefficients[:, :-1], coefficients[:, -1])
        return self

    def _classes_of_files(self) -> Any:
        if self.classes is None:
            raise InputError(
                "declare the classes with classes=; they are not looked for in files, whose rows "
                "are read only after the ledger was charged."
            )
        return declared_or_found(self.classes, None)

    @by_partition
    def decision_function(self, X: Any) -> Array:
        """Return the margins: positive for the second of two classes, else one for each class."""
        margins = self._margins(X)
        return margins[:, 0] if self.classes_.size == 2 else margins

    @by_partition
    def predict(self, X: Any) -> Any:
        """Return the likeliest class of each row."""
        margins = self._margins(X)
        if self.classes_.size == 2:
            return self.classes_[(margins[:, 0] > 0).astype(int)]
        return self.classes_[margins.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


class ProbabilisticClassifier(LinearClassifierBase):
    """A linear model whose margins stand for probabilities."""

    @by_partition
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row."""
        loss = self._loss()
        if not isinstance(loss, ProbabilisticLoss):
            raise InputError(f"{loss!r} gives no probabilities; use decision_function.")
        margins = self._margins(X)
        together = softmax_of(loss) if self.multiclass_ == "softmax" else None
        if together is not None:
            return together.probability(margins.T).T
        chances = np.asarray(loss.probability(margins))
        if self.classes_.size == 2:
            return np.column_stack([1 - chances[:, 0], chances[:, 0]])
        total = chances.sum(axis=1, keepdims=True)
        share = np.full_like(chances, 1 / chances.shape[1])
        normed: Array = np.divide(chances, total, out=share, where=total > 0)
        return normed

    @by_partition
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class for each row."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def declared_or_found(declared: Any, y: Any) -> Any:
    """Return the declared classes in order, or those found in the labels."""
    if declared is None:
        with quiet():  # scikit-learn warns of many classes for so few rows
            check_classification_targets(y)
            classes = unique_labels(y)
    else:
        classes = _declared(declared)
    if classes.size < 2:
        raise InputError(
            "there must be at least two classes; got one class. Declare them with classes=."
        )
    return classes


def each_by_itself(y: Any) -> Any:
    """Return labels that do not change how others are read: one text makes a list of numbers text.

    Arrays and columns of data frames have a type of their own. What is no label becomes None.
    """
    has_type = hasattr(y, "__array__") and np.asarray(y).dtype.kind != "O"
    if has_type or not hasattr(y, "__len__") or isinstance(y, str | bytes):
        return y
    if hasattr(y, "__array__") and np.ndim(y) != 1:
        return y
    labels = np.empty(len(y), dtype=object)
    for place, label in enumerate(y):
        labels[place] = _label(label)
    return labels


def _label(found: Any) -> Any:
    """Return a label, alone or in a row of its own; None for anything else."""
    if isinstance(found, list | tuple | np.ndarray) and np.size(found) == 1 and len(found) == 1:
        found = found[0]
    if isinstance(found, Decimal):
        found = float(found) if found.is_finite() else None
    is_label = isinstance(found, str | bytes | Real | np.bool_)
    return found if is_label and found == found else None


def classes_in_words(declared: Any) -> Fact:
    """Say which classes are declared, or that they were found."""
    if declared is None:
        return Fact("labels", "the classes found in the labels", Source.FOUND)
    names = [str(name) for name in _declared(declared).tolist()]
    return Fact("labels", one_of(names), Source.DECLARED)


def codes_of(y: Any, classes: Any) -> Vector:
    """Return the place of each label among the classes, NaN for one that is not declared."""
    labels = np.asarray(y)
    if classes.dtype.kind == "O" or labels.dtype.kind == "O":  # they may have no order
        place = {label: number for number, label in enumerate(classes.tolist())}
        return np.array([_place(label, place) for label in labels.tolist()])
    _refuse_other_kind(labels, classes)
    places = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    codes: Vector = np.where(classes[places] == labels, places, np.nan)
    return codes


def _signed(codes: Vector, classes: Any) -> Vector:
    """Return minus and plus one for two classes, NaN as it is."""
    if classes.size > 2:
        return codes
    signs: Vector = np.where(np.isnan(codes), codes, 2 * codes - 1)
    return signs


def _codes_of_cells(cells: Any, classes: Any) -> Vector:
    """Return the codes of stored labels; each distinct one of a coded column is looked up once."""
    if isinstance(cells, Coded):
        return _signed(codes_of(cells.distinct, classes), classes)[cells.places]
    return _signed(codes_of(each_by_itself(cells), classes), classes)


def _refuse_other_kind(labels: Any, classes: Any) -> None:
    """Refuse labels of a type in which no class, or more than one, could be recognised."""
    is_text, is_declared_text = (kind in "US" for kind in (labels.dtype.kind, classes.dtype.kind))
    if is_text != is_declared_text:
        found, declared = ("text", "numbers") if is_text else ("numbers", "text")
        raise InputTypeError(
            f"the labels are {found}, the declared classes {declared}; convert the labels, or "
            "declare the classes as they are."
        )
    if labels.dtype.kind == "f" and np.unique(classes.astype(labels.dtype)).size < classes.size:
        raise InputTypeError(
            f"labels of the type {labels.dtype.name} cannot tell the declared classes apart; "
            "pass them as integers or as text."
        )


def _place(label: Any, place: dict[Any, int]) -> float:
    try:
        return place.get(label, np.nan)
    except TypeError:  # it cannot be looked up, so it was not declared
        return np.nan


def _declared(classes: Any) -> Any:
    """Return the declared classes in order; numbers among text would become text in silence."""
    listed = list(classes) if isinstance(classes, Iterable) else []
    is_text = all(isinstance(label, str) for label in listed)
    is_number = all(isinstance(label, (Real, np.bool_)) and label == label for label in listed)
    if not (is_text or is_number):
        raise InputError("classes must be a list of numbers or a list of text; got something else.")
    return np.unique(np.asarray(listed))
