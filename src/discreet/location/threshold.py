"""A private threshold that tells two classes apart."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Vector
from discreet.data import Bounds, LabelSet, Rows
from discreet.errors import InputError
from discreet.estimators.classifier import classes_in_words, codes_of, declared_or_found
from discreet.estimators.linear import COLUMNS_FOUND, check_lengths, silent, table_for, target_for
from discreet.estimators.storing import Storable
from discreet.estimators.task import is_told, noise_from
from discreet.gate import release
from discreet.geometry import Box
from discreet.ledger import AbstractLedger
from discreet.location.base import limits_for, limits_of
from discreet.mechanisms import ExponentialSampling
from discreet.privacy import Budget, Guarantee, Unit, unit_named
from discreet.questions import BestThreshold
from discreet.record import Release


class Threshold(ClassifierMixin, Storable):  # type: ignore[misc]
    """Two classes told apart by a threshold on one column, differentially private.

    Of all columns, thresholds on a fine grid and directions one is drawn by the exponential
    mechanism, exactly: an error more makes it less likely by a factor of exp(-epsilon), or
    exp(-epsilon/2) if records are replaced. Pure epsilon.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit; ``delta`` is not used.
    bounds
        The declared range of values, as (low, high); others are clipped to it. Two lists give each
        column its own. Choose it without looking at the data.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        Where the fit is paid for; None keeps no books.
    classes
        The two classes, if they are not public in the labels.
    steps
        Thresholds lie midway between ``steps + 1`` evenly spaced points of the range.
    max_rows
        A public bound on the number of rows, if that number is private.
    rehearsal
        None for privacy. A whole number gives repeatable noise, for tests and talks: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

    Attributes
    ----------
    threshold_, column_, direction_
        Rows with more than the threshold in this column are of the second class if the direction
        is 1, of the first if it is -1.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> ages = np.random.default_rng(0).uniform(0, 100, size=(2000, 1))
    >>> model = Threshold(epsilon=1.0, bounds=(0, 120)).fit(ages, ages[:, 0] > 65)
    >>> bool(abs(model.threshold_ - 65) < 2), model.predict([[20.0], [90.0]])
    (True, array([False,  True]))
    """

    threshold_: float
    column_: int
    direction_: int
    classes_: Any
    release_: Release
    privacy_: Guarantee

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        bounds: Any = (-1.0, 1.0),
        unit: str | Unit = "add_remove",
        ledger: AbstractLedger | None = None,
        *,
        classes: Any = None,
        steps: int = 2**20,
        max_rows: int = 2**23,
        rehearsal: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.unit = unit
        self.ledger = ledger
        self.classes = classes
        self.steps = steps
        self.max_rows = max_rows
        self.rehearsal = rehearsal
        self.verbose = verbose

    @silent
    def fit(self, X: Any, y: Any) -> Self:
        """Release the threshold; the ledger is charged before a row is used.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, or a pandas or Polars data frame.
        y
            One label for each row, of two classes.
        """
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        noise = noise_from(self.rehearsal)
        if not isinstance(self.verbose, bool):
            _checks.whole(verbose=self.verbose, at_least=0)
        limits_of(self.bounds)
        X, y = table_for(self, X, reset=True), target_for(self, y)
        check_lengths(X, y)
        classes = declared_or_found(self.classes, y)
        if classes.size > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. "
                "Use LogisticRegression for several classes."
            )
        count, width = X.shape
        question = self._question(count, width, is_told(budget, unit, self.ledger))
        codes = 2 * codes_of(y, classes) - 1
        self.release_ = release(
            ExponentialSampling(),
            question,
            Rows(X, codes, bounds=question.bounds, unit=unit),
            budget=budget,
            ledger=self.ledger,
            noise=noise,
            purpose=type(self).__name__,
            facts=(COLUMNS_FOUND, classes_in_words(self.classes)),
        )
        self.privacy_ = self.release_.guarantee
        if self.verbose > 0:
            print(self.privacy_.sentence())
        column, threshold, direction = (float(part) for part in self.release_.value)
        self.classes_ = classes
        self.column_, self.threshold_, self.direction_ = int(column), threshold, int(direction)
        return self

    def _question(self, count: int, width: int, is_counted: bool) -> BestThreshold:
        bounds = Bounds(
            Box(*limits_for(self.bounds, width)),
            n_features=width,
            labels=LabelSet([-1, 1]),
            max_rows=count if is_counted else self.max_rows,
        )
        assumed = () if self.classes is not None else ("the classes found in the labels",)
        return BestThreshold(bounds, self.steps, assumed)

    def decision_function(self, X: Any) -> Vector:
        """Return how far each row is on the second class's side of the threshold."""
        check_is_fitted(self, "threshold_")
        column = table_for(self, X, reset=False)[:, [self.column_]]
        values = np.asarray(column.toarray() if hasattr(column, "toarray") else column)[:, 0]
        return np.asarray(self.direction_ * (values - self.threshold_))

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = self.rehearsal is None
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags
