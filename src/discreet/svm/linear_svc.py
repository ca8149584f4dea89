"""The private linear support vector machine."""

from __future__ import annotations

from typing import Any

from discreet import _checks
from discreet.estimators.classifier import LinearClassifierBase
from discreet.geometry import ConvexSet
from discreet.ledger import AbstractLedger
from discreet.losses import Hinge, HuberHinge, Loss, SmoothedHinge
from discreet.privacy import Unit

LOSSES: dict[str, type[Loss]] = {
    "huber_hinge": HuberHinge,
    "smoothed_hinge": SmoothedHinge,
    "hinge": Hinge,
}


class LinearSVC(LinearClassifierBase):
    r"""A linear support vector machine, differentially private.

    It minimises a hinge loss, its kink rounded or not, summed over rows plus
    :math:`\|w\|^2/(2C)`, the intercept's coefficient included.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon.
    data_norm
        The declared bound on the Euclidean norm of a row; longer rows are shortened to it. Choose
        it without looking at the data; there is no default.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        Where the fit is paid for; None keeps no books, which ``privacy_`` says.
    loss
        ``"huber_hinge"``, ``"smoothed_hinge"`` or the plain ``"hinge"``, which follows noisy
        gradients and needs ``delta > 0``.
    C
        Inverse strength of the penalty, as in scikit-learn. By default one row bends the
        objective by a tenth of epsilon.
    fit_intercept
        Whether there is a constant column; it is inside the row norm and penalised.
    domain
        A convex set that the coefficients must lie in, the intercept's own included.
    classes
        The classes, declared. Without it the labels found are taken as public, and the guarantee
        says so. Three or more are told apart by one problem each, within the one budget.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"``, ``"objective_perturbation"``, ``"output_perturbation"``,
        ``"noisy_gradient"``, or, for up to six coefficients in a ``domain``, the pure
        ``"exponential_sampling"`` and ``"localization"``; for the plain hinge only noisy gradients
        and exponential sampling will do.
    rehearsal
        None for privacy. A whole number gives repeatable noise, for tests and talks: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        ``"one_vs_rest"`` for three or more classes. None for two.
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(5000, 3)) / 3
    >>> y = X[:, 0] - X[:, 1] > 0
    >>> model = LinearSVC(
    ...     epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[False, True]
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.privacy_.epsilon(1e-6) <= 1.0
    (True, True)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        data_norm: float | None = None,
        unit: str | Unit = "add_remove",
        ledger: AbstractLedger | None = None,
        *,
        loss: str = "huber_hinge",
        C: float | None = None,
        fit_intercept: bool = True,
        domain: ConvexSet | None = None,
        classes: Any = None,
        max_weight: float | None = None,
        max_rows: int = 2**23,
        mechanism: str = "auto",
        rehearsal: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.unit = unit
        self.ledger = ledger
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.domain = domain
        self.classes = classes
        self.max_weight = max_weight
        self.max_rows = max_rows
        self.mechanism = mechanism
        self.rehearsal = rehearsal
        self.verbose = verbose

    def margin_loss(self) -> Loss:
        _checks.one_of(tuple(LOSSES), loss=self.loss)
        return LOSSES[self.loss]()
