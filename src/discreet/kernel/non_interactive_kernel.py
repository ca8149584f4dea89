"""Kernel models that are published as coefficients of public points, for comparison."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError, PrivacyError
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import NumberTarget
from discreet.kernel.constant_model import refuse_constant
from discreet.kernel.oracle_estimator import KernelQueryModel
from discreet.kernel.synthetic_points import fill_domain
from discreet.kernels import BoundedKernel
from discreet.mechanisms import NetUpdates, ProjectedKernel
from discreet.mechanisms.net_updates import rebuild
from discreet.mechanisms.projected_kernel import basis_of, expand
from discreet.policy.task import Asked
from discreet.questions import KernelQueries

METHODS = ("updates", "projected")


@with_fields
class NonInteractiveKernel(KernelQueryModel):
    """A kernel model of public points, published whole: a reference, for education and comparison.

    ``method="updates"`` is the non-interactive algorithm of Jain and Thakurta, reconstructed: a
    public model is corrected round by round where it errs most on a net of public points. It is
    dominated by ``method="projected"``, which publishes the projection of the exact model on the
    span of the same points with noise that does not grow with their number; and that, mostly, by
    :class:`~discreet.kernel.LandmarkClassifier`. Nets fill a domain of two or three columns, not
    more.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit; ``delta`` must be positive.
    data_norm
        The declared bound on the Euclidean norm of a row, if ``columns`` are not declared; longer
        rows are clipped to it.
    columns
        What is declared about each column, as for
        :class:`~discreet.preprocessing.BoundedScaler`.
    net
        Public points, as rows are encoded, or how many synthetic ones to take: quasi-random points
        of the declared domain. Rows that are to be protected must never be among them.
    method
        ``"updates"`` or ``"projected"``.
    rounds
        How often the model is corrected at most, with ``method="updates"``; each costs budget.
    loss
        As for :class:`~discreet.kernel.GaussianProcessOracle`; None for the logistic loss of
        classes and Huber's loss of numbers.
    C
        Inverse regularisation strength. None for the rule of
        :class:`~discreet.kernel.GaussianProcessOracle`.
    classes
        Two classes, declared; or declare ``target_range``.
    may_be_constant
        Whether to fit although public numbers say that ``method="updates"`` will most likely
        publish 0 for everything; otherwise that is refused, and nothing is paid.

    Attributes
    ----------
    landmarks_, dual_coef_
        The public points, as rows are encoded, and their coefficients.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn; ``classes_`` if there are any.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Jain & Thakurta (2013), Differentially private learning with kernels.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2)) / 1.5
    >>> y = np.where((X**2).sum(axis=1) < 0.25, "inside", "outside")
    >>> from discreet.kernels import RBF
    >>> model = NonInteractiveKernel(
    ...     3.0, 1e-6, data_norm=1.0, kernel=RBF(4.0), classes=["inside", "outside"], C=0.1,
    ...     method="projected", net=60, max_rows=5000,
    ... ).fit(X, y)
    >>> model.predict([[0.0, 0.0], [0.6, 0.6]]).tolist(), model.dual_coef_.shape
    (['inside', 'outside'], (60,))
    """

    is_reference = True
    learns = frozenset(["classes_", "landmarks_", "dual_coef_"])

    net: Any = 256
    method: str = "updates"
    rounds: int = 20
    may_be_constant: bool = False

    def most_queries(self) -> int:
        return self.rounds if self.method == "updates" else 1

    def _check(self) -> None:
        _checks.one_of(METHODS, method=self.method)
        _checks.whole(rounds=self.rounds, at_least=1)
        _checks.instance(bool, may_be_constant=self.may_be_constant)
        super()._check()

    def query_mechanism(self) -> NetUpdates | ProjectedKernel:
        return NetUpdates() if self.method == "updates" else ProjectedKernel()

    def _points(self, width: int) -> Array:
        """Return the public points, those given or synthetic ones."""
        if not isinstance(self.net, Integral):
            points = np.array(self.net, dtype=np.float64, ndmin=2)
            if points.ndim != 2 or points.shape[1] != width:
                raise InputError(f"net must be public points of {width} columns, as encoded.")
            return points
        return fill_domain(self.columns, self.data_norm, width, net=int(self.net))

    def _ask(self, fit: Fit) -> Asked:
        asked = super()._ask(fit)
        points = tuple(map(tuple, self._points(fit.shape.n_features).tolist()))
        asked = replace(asked, question=replace(_queries(asked), points=points))
        if self.method == "updates" and not self.may_be_constant:
            refuse_constant(asked, fit.shape, self.expected_rows, fit.budget, fit.unit)
        return asked

    def _keep(self, asked: Asked, fit: Fit) -> None:
        super()._keep(asked, fit)
        question, value = _queries(asked), self.release_.value
        self.landmarks_ = question.accept(np.array(question.points))
        if self.method == "projected":
            self.dual_coef_ = expand(basis_of(question), value)
        else:
            self.dual_coef_ = rebuild(question, self.landmarks_, value).coefficients

    def decision_function(self, X: Any) -> Vector:
        """Return what the model predicts for each row, in the units of the target; or a margin.

        Parameters
        ----------
        X
            Rows: an array, a data frame, or a list of dicts by column.
        """
        check_is_fitted(self, "release_")
        points = self.read_points(X)
        features = self.feature_map()
        clipped, scale = features.region.clip_rows(points)
        kernel = self.bounded_kernel(points.shape[1], features)
        values: Vector = _predict(
            kernel, clipped * scale[:, None], self.landmarks_, self.dual_coef_
        )
        target = self.learning_target() if self.target_range is not None else None
        return values + (target.origin if isinstance(target, NumberTarget) else 0.0)

    def predict(self, X: Any) -> Any:
        """Return the likelier class of each row, or its number.

        Parameters
        ----------
        X
            Rows: an array, a data frame, or a list of dicts by column.
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int)] if self.target_range is None else values


def _queries(asked: Asked) -> KernelQueries:
    if not isinstance(asked.question, KernelQueries):
        raise PrivacyError("a kernel model was asked something else.")
    return asked.question


def _predict(kernel: BoundedKernel, rows: Array, points: Array, coefficients: Vector) -> Vector:
    predicted: Vector = kernel.evaluate(rows, points) @ coefficients
    return predicted
