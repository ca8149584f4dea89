"""Private logistic regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import LabelSet
from discreet.errors import InputError
from discreet.ledger import Ledger
from discreet.linear_model._fitting import Task, noise_from
from discreet.losses import Logistic
from discreet.privacy import Budget, Unit, unit_named


class LogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Logistic regression for two classes, differentially private.

    It minimises the logistic loss summed over rows plus :math:`\|w\|^2/(2C)`, the intercept's
    coefficient included, with a random linear term (objective perturbation), and releases the
    coefficients once. With ``epsilon=math.inf`` it is ordinary penalised logistic regression.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon.
    data_norm
        The declared bound on the Euclidean norm of a row; longer rows are shortened to it. Choose
        it without looking at the data.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        Where the fit is paid for; None keeps no books.
    C
        Inverse strength of the penalty, as in scikit-learn. By default the weakest penalty that
        costs no privacy.
    fit_intercept
        Whether there is a constant column; it is inside the row norm and penalised.
    classes
        The two classes, declared. Without it the labels found are taken as public, and the
        guarantee says so.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"``, ``"objective_perturbation"`` or ``"output_perturbation"``.
    random_state
        None for privacy. A whole number makes a repeatable rehearsal that is **not private**.
    verbose
        Above zero, the guarantee is printed after the fit.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(5000, 3)) / 3
    >>> y = X[:, 0] - X[:, 1] > 0
    >>> model = LogisticRegression(epsilon=1.0, delta=1e-6, classes=[False, True]).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)
    """

    coef_: Array
    intercept_: Vector
    classes_: Any

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        data_norm: float = 1.0,
        unit: str | Unit = "add_remove",
        ledger: Ledger | None = None,
        *,
        C: float | None = None,
        fit_intercept: bool = True,
        classes: Any = None,
        max_rows: int = 2**23,
        mechanism: str = "auto",
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.unit = unit
        self.ledger = ledger
        self.C = C
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.max_rows = max_rows
        self.mechanism = mechanism
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model; the ledger is charged before a row is read."""
        if self.C is not None:
            _checks.positive(C=self.C)
        task = Task(
            loss=Logistic(),
            labels=LabelSet([-1, 1]),
            budget=Budget(self.epsilon, self.delta),
            unit=unit_named(self.unit),
            data_norm=self.data_norm,
            ridge=None if self.C is None else 1 / self.C,
            has_intercept=bool(self.fit_intercept),
            max_rows=self.max_rows,
            mechanism=self.mechanism,
            assumed=() if self.classes is not None else ("the classes found in the labels",),
        )
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
        )
        classes = self._declared_or_found(y)
        signs = np.where(y == classes[1], 1.0, np.where(y == classes[0], -1.0, np.nan))
        result = task.fit(
            X,
            signs,
            ledger=self.ledger,
            noise=noise_from(self.random_state),
            purpose=type(self).__name__,
        )
        coefficients: Vector = result.value
        self.classes_ = classes
        if task.intercept is None:
            self.coef_, self.intercept_ = coefficients[None, :], np.zeros(1)
        else:
            self.coef_ = coefficients[None, :-1]
            self.intercept_ = coefficients[-1:] * task.intercept
        self.release_ = result
        self.privacy_ = result.guarantee
        if self.verbose > 0:
            print(self.privacy_.sentence())
        return self

    def _declared_or_found(self, y: Any) -> Any:
        if self.classes is None:
            check_classification_targets(y)
            classes = unique_labels(y)
        else:
            classes = np.unique(np.asarray(self.classes))
        if classes.size != 2:
            raise InputError(
                "Only binary classification is supported: there must be two classes; got "
                f"{'one class' if classes.size == 1 else 'another number of classes'}. "
                "Declare them with classes=."
            )
        return classes

    def decision_function(self, X: Any) -> Vector:
        """Return the margins; positive for the second class."""
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, reset=False
        )
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> Any:
        """Return the likelier class of each row."""
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(int)]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row."""
        second = expit(self.decision_function(X))
        return np.column_stack([1 - second, second])

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class for each row."""
        margins = self.decision_function(X)
        return -np.logaddexp(0, np.column_stack([margins, -margins]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = self.random_state is None
        return tags
