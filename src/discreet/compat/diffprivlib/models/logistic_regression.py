"""diffprivlib's LogisticRegression, by certified objective perturbation."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from discreet import _checks
from discreet._types import Array, Vector
from discreet.compat.diffprivlib.accountant import BudgetAccountant, books_for
from discreet.compat.diffprivlib.models.adapter import Adapter
from discreet.errors import InputError
from discreet.estimators.base import silence
from discreet.estimators.fields import with_fields
from discreet.ledger import AbstractLedger
from discreet.linear_model import LogisticRegression as Private
from discreet.privacy import Unit


@with_fields
class LogisticRegression(ClassifierMixin, Adapter):  # type: ignore[misc]
    r"""Logistic regression with the parameters of ``diffprivlib.models.LogisticRegression``.

    It is :class:`discreet.linear_model.LogisticRegression` at pure epsilon. It minimises the
    logistic loss summed over rows plus :math:`\|w\|^2/(2C)`, the intercept's coefficient included;
    a penalty that is too weak for the budget is raised, and ``release_.reason`` says so.

    Parameters
    ----------
    epsilon
        The privacy budget of one fit.
    data_norm
        The declared bound on the Euclidean norm of a row; longer rows are clipped to it. It has
        to be declared: measuring it from the rows would leak.
    tol
        Without effect: minimisers are certified.
    C
        Inverse regularisation strength; None for the weakest that costs no privacy.
    fit_intercept
        Whether there is an intercept; it is penalised.
    max_iter
        Without effect, but for what ``n_iter_`` says.
    verbose
        Above zero, the guarantee is printed after the fit.
    warm_start, n_jobs
        Without effect: every fit begins afresh, and classes are fitted in this process.
    random_state
        Never used: noise is always the operating system's. Anything but None is warned about.
    accountant
        Where the fit is paid for, before anything is learnt from the rows but the classes, if they
        are not declared. A :class:`BudgetAccountant`, or any ledger of this library. By default the
        default accountant at the time of the fit.
    delta, unit, classes
        Not in diffprivlib. A positive delta allows Gaussian noise. The unit is ``"replace"`` one
        record, or ``"add_remove"`` one. Classes that are not declared are read from the labels and
        named in the guarantee as public.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_
        ``max_iter``, whatever the solver did: how many steps it took depends on the rows.
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(5000, 2))
    >>> y = X[:, 0] - X[:, 1] > 0
    >>> model = LogisticRegression(epsilon=2, data_norm=4).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(0.0) <= 2
    (True, True)
    >>> LogisticRegression().fit(X, y)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: data_norm must be declared; ...
    """

    classes_: Any = field(init=False)
    coef_: Array = field(init=False)
    intercept_: Vector = field(init=False)
    n_iter_: Any = field(init=False)

    epsilon: float = 1.0
    data_norm: float | None = None
    tol: float = 1e-4
    C: float | None = 1.0
    fit_intercept: bool = True
    max_iter: int = 100
    verbose: int = 0
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    accountant: BudgetAccountant | AbstractLedger | None = None
    delta: float = 0.0
    unit: str | Unit = "replace"
    classes: Any = None

    @silence
    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Fit the model; the accountant is charged before anything is learnt from the rows.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix or a data frame.
        y
            One label for each row.
        **metadata
            Nothing: every row counts once, because no largest weight is declared.
        """
        self._check_weights(metadata)
        self._say_seeds_are_not_used()
        if self.data_norm is None:
            raise InputError(
                "data_norm must be declared; got None. Say how large the norm of a row can be "
                "from what the columns mean: measuring it from the rows would leak. Longer rows "
                "are clipped."
            )
        _checks.positive(tol=self.tol)
        _checks.whole(max_iter=self.max_iter, at_least=1)
        private = RaisedLogisticRegression(
            self.epsilon,
            self.delta,
            data_norm=self.data_norm,
            unit=self.unit,
            ledger=books_for(self.accountant, self.unit, self.epsilon),
            C=self.C,
            fit_intercept=self.fit_intercept,
            classes=self.classes,
            verbose=self.verbose,
        )
        self._copy_fitted(private.fit(X, y))
        self.n_iter_ = np.full(len(self.coef_), self.max_iter, dtype=np.int32)
        return self

    def _shown_attributes(self) -> tuple[str, ...]:
        return "classes_", "coef_", "intercept_"

    def decision_function(self, X: Any) -> Array:
        """Return the margins: positive for the second of two classes, else one for each class."""
        margins: Array = self._model.decision_function(X)
        return margins

    def predict(self, X: Any) -> Any:
        """Return the likeliest class of each row."""
        return self._model.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row."""
        chances: Array = self._model.predict_proba(X)
        return chances

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class for each row."""
        logarithms: Array = self._model.predict_log_proba(X)
        return logarithms

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


class RaisedLogisticRegression(Private):
    """Logistic regression that raises a penalty too weak for its budget, and says so."""

    _raises_ridge = True
