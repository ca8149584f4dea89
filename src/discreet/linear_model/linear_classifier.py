"""The best private linear classifier, for people who just want one."""

from __future__ import annotations

from typing import Any, ClassVar

from discreet.estimators.classifier import ProbabilisticClassifier
from discreet.estimators.declared_columns import Declared, DeclaredFeatures
from discreet.estimators.declaring import Declarations
from discreet.estimators.features import FeatureMap
from discreet.estimators.task import Standardising
from discreet.geometry import ConvexSet
from discreet.ledger import AbstractLedger
from discreet.losses import Loss, MarginLogistic
from discreet.privacy import Unit


class LinearClassifier(ProbabilisticClassifier):
    r"""A linear classifier with every choice made for accuracy under privacy.

    Columns are brought to [-1, 1] by their declared ranges and levels; a small part of the budget
    pays for their means and spreads, by which they are standardised; the rest pays for a logistic
    loss that asks for a margin, whose slope is near its bound where noise keeps the margins. If
    ``delta`` is zero the noise is made for the l1 norm of rows, which is small where most columns
    are categories.

    Three or more classes are learnt at once, by the softmax loss that asks for the same margin: one
    record moves its gradient by no more than the root of two, whatever the number of classes, where
    problems of one class each have to share the budget. So it is if ``delta > 0``, columns are
    standardised and there are at most 512 coefficients; otherwise each class is told from the rest
    by a problem of its own. ``mechanism="private_standardisation"`` asks for
    that, ``mechanism="noisy_gradient"`` for softmax without a standardisation.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit. ``delta=0`` asks for pure epsilon.
    data_norm
        The declared bound on the Euclidean norm of a row, if ``columns`` are not declared; longer
        rows are shortened to it. One of the two has to be declared.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        Where the fit is paid for; None keeps no books, which ``privacy_`` says.
    columns
        What is declared about each column, as for
        :class:`~discreet.preprocessing.BoundedScaler`: a dict from name to ``Numeric`` or
        ``Category`` for data frames, a list for arrays. None for rows of numbers.
    margin
        What the loss asks for; zero is logistic regression.
    C
        Inverse strength of the penalty in the standardised frame, where rows have norm at most
        one. By default the weakest penalty that costs no privacy.
    fit_intercept
        Whether there is an intercept; without one columns cannot be standardised.
    domain
        A convex set for the coefficients; columns are not standardised then.
    classes
        The classes, declared. Without it the labels found are taken as public, and the guarantee
        says so. However many there are, they share the one budget.
    max_weight
        The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"``,
        ``"output_perturbation"`` or ``"noisy_gradient"``.
    rehearsal
        None for privacy. A whole number gives repeatable noise, for tests and talks: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

    Attributes
    ----------
    coef_, intercept_
        In the user's own units: one coefficient for each numeric column, one for each level of a
        category, in the order of the declaration.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        How three or more classes were learnt: ``"softmax"`` or ``"one_vs_rest"``. None for two.
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.preprocessing import Category, Numeric
    >>> generator = np.random.default_rng(0)
    >>> age = generator.uniform(20, 80, size=5000)
    >>> smokes = generator.choice(["no", "yes"], size=5000)
    >>> X = np.column_stack([age, smokes]).astype(object)
    >>> y = np.where(age + 20 * (smokes == "yes") > 60, "ill", "well")
    >>> model = LinearClassifier(
    ...     epsilon=1.0,
    ...     columns=[Numeric(18, 100), Category(["no", "yes"])],
    ...     classes=["ill", "well"],
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.coef_.shape
    (True, (1, 3))

    Three classes:

    >>> y = np.digitize(age + 20 * (smokes == "yes"), [45, 70])
    >>> model = LinearClassifier(columns=[Numeric(18, 100), Category(["no", "yes"])],
    ...                          classes=[0, 1, 2]).fit(X, y)
    >>> model.multiclass_, model.coef_.shape, model.predict_proba(X[:9]).shape
    ('softmax', (3, 3), (9, 3))
    """

    must_declare: ClassVar[Declarations] = (("columns", "data_norm"),)

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        data_norm: float | None = None,
        unit: str | Unit = "add_remove",
        ledger: AbstractLedger | None = None,
        *,
        columns: Declared | None = None,
        margin: float = 2.0,
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
        self.columns = columns
        self.margin = margin
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
        return MarginLogistic(self.margin)

    def feature_map(self) -> FeatureMap:
        if self.columns is None:
            return super().feature_map()
        return DeclaredFeatures(self.columns, is_centred=bool(self.delta > 0))

    def _standardising(self) -> Standardising:
        features = self.feature_map()
        if isinstance(features, DeclaredFeatures):
            return Standardising(True, 1.0, features.indicators, learns_at_once=True)
        return Standardising(bool(self.delta > 0), learns_at_once=True)
