"""A private logistic lasso for very many columns."""

from __future__ import annotations

from discreet.estimators.classifier import TwoClassModel
from discreet.estimators.fields import with_fields
from discreet.estimators.sparse_model import CornerStepsModel

USUAL_REACH = 5.0
"""The margin that an entry at its bound can reach."""


@with_fields
class FrankWolfeClassifier(CornerStepsModel, TwoClassModel):  # type: ignore[misc]
    r"""Logistic regression in an l1 ball by private Frank-Wolfe steps, for any number of columns.

    It minimises the sum of logistic losses over :math:`\|w\|_1 \le c` by the Frank-Wolfe method:
    each step goes towards a corner of the ball, so one column enters, and which one is drawn by the
    exponential mechanism. The slope of a loss is at most one, whatever the radius. Noise grows with
    the logarithm of the number of columns only. For two classes;
    :class:`~discreet.linear_model.SparseClassifier` is for more.

    Parameters
    ----------
    l1_radius
        What absolute values of the coefficients of encoded columns sum to at most, the intercept's
        included, with a constant column of ``entry_bound`` (or 1). By default five over the largest
        entry. The noise grows with it.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        None: there are two classes.
    selected_
        The places of the features that were drawn, in their order; other coefficients are zero.
    n_features_selected_
        How many these are.
    n_iter_
        The number of steps.
    settings_
        None: nothing waits for noisy sums.
    release_, privacy_
        The release and its guarantee. The value is a corner for each step: the number of a feature
        counted from one, with a sign; the number after the last is the intercept's.

    References
    ----------
    Frank & Wolfe (1956); Talwar, Thakurta & Zhang (2015); Raff, Khanna & Lu (2023).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 300))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> model = FrankWolfeClassifier(epsilon=1.0, entry_bound=1.0, classes=[False, True]).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), set(model.selected_) >= {3, 7}
    (True, True)
    """

    learns = TwoClassModel.learns | CornerStepsModel.learns

    def _usual_radius(self) -> float:
        return USUAL_REACH / self._largest_entry()
