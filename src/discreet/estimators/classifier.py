"""Linear models of classes."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import LabelSet
from discreet.data.cells import label_of
from discreet.data.frame import Coded
from discreet.data.given_column import GivenColumn, column_of
from discreet.data.kinds import ANYTHING, NUMBER, NUMERIC_KINDS, TEXT
from discreet.errors import InputError, InputTypeError
from discreet.estimators.linear import LinearEstimator
from discreet.estimators.stored_rows import Stored, by_partition
from discreet.estimators.task import width_of
from discreet.losses import ProbabilisticLoss
from discreet.losses.softmax import softmax_of
from discreet.record import Fact, Origin, one_of


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
            X = self._streamed(X, lambda cells: _signed(codes_of(cells, classes), classes), labels)
        else:
            X, y = self._table(X, y)
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
    classes = _found(column_of(y, "y")) if declared is None else _declared(declared)
    if classes.size < 2:
        raise InputError(
            "there must be at least two classes; got one class or none. Declare them with classes=."
        )
    return classes


def _found(y: GivenColumn) -> Any:
    """Return the classes found in labels, in order: all that are text, or all whole numbers.

    Nothing but the set of labels decides, which is taken as public. Cells that are no labels, NaN
    and infinities among them, are no classes.
    """
    cells = y.cells.distinct[np.unique(y.cells.places)] if isinstance(y.cells, Coded) else y.cells
    if y.missing is not None:
        cells = cells[~y.missing]
    if cells.dtype.kind in NUMERIC_KINDS:
        classes = np.unique(cells)
        labels = classes[np.isfinite(classes)]
        is_whole = bool((labels == np.floor(labels)).all())
    else:
        distinct = np.unique(cells) if cells.dtype.kind == "U" else cells
        found = {label_of(cell) for cell in distinct.tolist()}
        listed = [label for label in found if isinstance(label, str) or _is_finite(label)]
        is_text = {isinstance(label, str) for label in listed}
        if len(is_text) > 1:
            raise InputError("labels must be all text or all numbers; or declare the classes.")
        labels = np.unique(np.asarray(listed))
        is_whole = True in is_text or all(label == label // 1 for label in listed)
    if not is_whole:
        raise InputError(
            "Unknown label type: continuous. Labels must be text or whole numbers; declare the "
            "classes, or use a regressor."
        )
    return labels


def _is_finite(label: Any) -> bool:
    return label is not None and -np.inf < label < np.inf


def classes_in_words(declared: Any) -> Fact:
    """Say which classes are declared, or that they were found."""
    if declared is None:
        return Fact("labels", "the classes found in the labels", Origin.FOUND)
    names = [str(name) for name in _declared(declared).tolist()]
    return Fact("labels", one_of(names), Origin.DECLARED)


def codes_of(y: Any, classes: Any) -> Vector:
    """Return the place of each label among the classes, NaN for one that is not declared."""
    given = column_of(y, "y")
    _refuse_other_kind(given, classes)
    cells = given.cells
    if isinstance(cells, Coded):
        return _places(cells.distinct, classes)[cells.places]
    if "O" in (cells.dtype.kind, classes.dtype.kind):  # they may have no order
        codes = _places(cells, classes)
    else:
        with np.errstate(all="ignore"):
            near = np.minimum(np.searchsorted(classes, cells), classes.size - 1)
            codes = np.where(classes[near] == cells, near, np.nan)
    return codes if given.missing is None else np.where(given.missing, np.nan, codes)


def _places(cells: Any, classes: Any) -> Vector:
    place = {label: number for number, label in enumerate(classes.tolist())}
    return np.array([place.get(label_of(cell), np.nan) for cell in cells.tolist()])


def _signed(codes: Vector, classes: Any) -> Vector:
    """Return minus and plus one for two classes, NaN as it is."""
    if classes.size > 2:
        return codes
    signs: Vector = np.where(np.isnan(codes), codes, 2 * codes - 1)
    return signs


def _refuse_other_kind(labels: GivenColumn, classes: Any) -> None:
    """Refuse labels of a type in which no class, or more than one, could be recognised."""
    is_declared_text = classes.dtype.kind in "US"
    if labels.kind != ANYTHING and (labels.kind == TEXT) != is_declared_text:
        raise InputTypeError(
            f"the labels are {labels.kind}, the declared classes "
            f"{TEXT if is_declared_text else NUMBER}; convert the labels, or declare the classes "
            "as they are."
        )
    dtype = np.dtype(object) if isinstance(labels.cells, Coded) else labels.cells.dtype
    with np.errstate(all="ignore"):
        if dtype.kind == "f" and np.unique(classes.astype(dtype)).size < classes.size:
            raise InputTypeError(
                f"labels of the type {dtype.name} cannot tell the declared classes apart; "
                "pass them as integers or as text."
            )


def _declared(classes: Any) -> Any:
    """Return the declared classes in order; numbers among text would become text in silence."""
    listed = list(classes) if isinstance(classes, Iterable) else []
    is_text = all(isinstance(label, str) for label in listed)
    is_number = all(isinstance(label, (Real, np.bool_)) and label == label for label in listed)
    if not (is_text or is_number):
        raise InputError("classes must be a list of numbers or a list of text; got something else.")
    return np.unique(np.asarray(listed))
