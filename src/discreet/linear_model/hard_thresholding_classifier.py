"""A private logistic regression of few columns, by noisy iterative hard thresholding."""

from __future__ import annotations

from discreet.estimators.classifier import TwoClassModel
from discreet.estimators.fields import with_fields
from discreet.estimators.sparse_model import ThresholdingModel

USUAL_REACH = 5.0
"""The margin that a row of one entry at its bound can reach."""


@with_fields
class HardThresholdingClassifier(ThresholdingModel, TwoClassModel):  # type: ignore[misc]
    r"""Sparse logistic regression by iterative hard thresholding, differentially private.

    Gradient steps, after each of which the largest coefficients are drawn by the exponential
    mechanism and released with Gaussian noise; the others are zero. The slope of a logistic loss
    is at most one, so no residual has to be clipped. Unlike in
    :class:`~discreet.linear_model.SparseClassifier`, a column that another one explains is dropped
    again; the budget is shared by all steps, so it needs more rows. For two classes.

    Parameters
    ----------
    radius
        The largest Euclidean norm of coefficients of encoded columns. By default five over the
        largest entry.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        None: there are two classes.
    selected_
        The places of the features that were drawn last, in their order.
    n_features_selected_
        How many these are.
    n_iter_
        The number of steps.
    settings_
        None: nothing waits for noisy sums.
    release_, privacy_
        The release and its guarantee. The value is the places of the coefficients, the intercept's
        after those of all features, and then the coefficients.

    References
    ----------
    Blumensath & Davies (2009); Cai, Wang & Zhang (2020); Dong, Durfee & Rogers (2020).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 300))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> model = HardThresholdingClassifier(
    ...     epsilon=1.0, entry_bound=1.0, classes=[False, True], n_features_to_select=2,
    ...     expected_rows=20_000, fit_intercept=False,
    ... ).fit(X, y)
    >>> model.get_support(indices=True), bool(model.score(X, y) > 0.9)
    (array([3, 7]), True)
    """

    learns = TwoClassModel.learns | ThresholdingModel.learns

    def _usual_radius(self) -> float:
        return USUAL_REACH / self._largest_entry()
