"""The columns that a LASSO uses, if no few records could change that."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import ClassVar

import numpy as np

from discreet import _checks
from discreet.errors import InputError
from discreet.estimators.bounded_entries import SupportSelector, widths_of
from discreet.estimators.chosen_columns import check_size
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.mechanisms import StabilityRelease
from discreet.mechanisms.stability_release import STABLE, records_needed
from discreet.policy.task import Asked
from discreet.questions import LassoSupport

SHARE_OF_ROWS = 1 / 16
"""The usual curvature for each row: entries of a quarter of their bound, and then some."""

SPARE_ROWS = 1.25
"""How many more rows than expected the usual ceiling allows for, all entries at their bound."""

FALSE_COLUMN = 0.05
"""The chance that pure noise takes a column in, which the usual penalty allows for."""


@with_fields
class LassoStability(SupportSelector):
    r"""The columns that a LASSO uses, differentially private; or that no answer is stable.

    One sparse regression is fitted to all rows, with Huber's loss and a penalty in the scale of
    sums. How many records its support withstands is measured by margins: of the columns that are
    left out below the penalty, of coefficients away from zero, of the curvature on the chosen
    columns. If that number, with noise, is large enough, the support is released, and otherwise
    that there is no stable one; both cost the same.

    It answers from some 3000 rows on with three strong columns of up to 1000 at epsilon 1 and delta
    1e-6, for columns that hardly depend on one another. Where it does not,
    :class:`PeelingSupport` always does.

    Parameters
    ----------
    n_features_to_select
        The largest number of columns; it may find fewer.
    epsilon, delta
        The privacy budget of one fit; ``delta`` must be positive.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one, which needs twice the
        stability.
    columns
        What each column can hold: numbers, no categories.
    target_range
        The declared range of targets that are numbers; others are clipped to it. Left out, targets
        are two classes.
    expected_rows
        About how many rows to expect: public knowledge or a guess, from which the next parameters
        are made. With ``unit="replace"`` the number of rows, which is public there.
    penalty
        The weight of absolute coefficients, entries and targets being scaled to [-1, 1] and
        losses summed. By default what stability and the noise of ``expected_rows`` rows need; more
        leaves out more columns, and is more stable.
    huber
        The residual, in halves of the range of targets, up to which a loss is squared. Residuals
        should mostly be smaller; one record moves everything in proportion to it. None for squared
        losses, where it is as large as a residual can be.
    curvature
        The least curvature of the loss on the chosen columns; by default ``expected_rows / 16``.
    ceiling
        The largest sum of squares of a column; by default all entries of a quarter more rows than
        ``expected_rows`` at their bound. With more rows there is no stable answer.
    coef_bound
        The largest absolute value of a coefficient; by default 8, and 1 for squared losses.
    fit_intercept
        Whether the regression has a constant, without a penalty. Leave it out if columns or targets
        are centred by declaration: it takes a little of the stability.

    Attributes
    ----------
    selected_
        The places of the columns; none without a stable answer.
    is_stable_
        Whether there is an answer. An answer may also be that no column is used.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    Notes
    -----
    A ridge of a sixteenth of ``curvature`` is added, so that every table has one minimiser, which
    is certified. Only the support is released, never a coefficient.

    References
    ----------
    Thakurta (2013), thesis, chapter 6, whose test is not private as printed: see
    ``stability_release.md`` for what is different here.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(8000, 100))
    >>> y = X[:, 3] - X[:, 7] + 0.2 * generator.normal(size=8000)
    >>> selector = LassoStability(
    ...     2, epsilon=1.0, entry_bound=1.0, target_range=(-2, 2), expected_rows=8000
    ... )
    >>> selector.fit(X, y).get_support(indices=True)
    array([3, 7])
    """

    must_declare: ClassVar[Declarations] = (("columns", "entry_bound", "data_range"),)

    epsilon: float = 1.0
    delta: float = 1e-9
    n_features_to_select: int = field(default=5, kw_only=False)
    expected_rows: int | None = None
    penalty: float | None = None
    huber: float | None = 0.25
    curvature: float | None = None
    ceiling: float | None = None
    coef_bound: float | None = None
    fit_intercept: bool = True

    def _check(self) -> None:
        super()._check()
        _checks.whole(n_features_to_select=self.n_features_to_select, at_least=1)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        for name in ("penalty", "huber", "curvature", "ceiling", "coef_bound"):
            if getattr(self, name) is not None:
                _checks.positive(**{name: getattr(self, name)})
        _checks.truth(fit_intercept=self.fit_intercept)

    def _check_features(self, features: FeatureMap) -> None:
        if widths_of(features):
            raise InputError(
                "LassoStability chooses among numbers; use PeelingSupport for categories."
            )

    def _ask(self, fit: Fit) -> Asked:
        size = check_size(self.n_features_to_select, fit.shape.n_features)
        return Asked(self._question(fit, size), StabilityRelease(), self._facts(fit))

    def _question(self, fit: Fit, size: int) -> LassoSupport:
        expected = self.expected_rows
        if expected is None and fit.unit.rows_are_public:
            expected = fit.shape.max_rows
        if expected is None and None in (self.penalty, self.curvature, self.ceiling):
            raise InputError(
                "LassoStability must be told about how many rows to expect, expected_rows, or else "
                "penalty, curvature and ceiling; the number of rows is private."
            )
        rows = expected or 1
        needed = records_needed(fit.budget, fit.unit)
        curvature = _or(self.curvature, rows * SHARE_OF_ROWS)
        ceiling = _or(self.ceiling, max(rows * SPARE_ROWS, 2 * curvature) + 2 * needed)
        asked = LassoSupport(
            self._bounds(fit.shape),
            size,
            _or(self.penalty, 1.0),
            curvature,
            ceiling,
            self.huber,
            self.coef_bound,
            bool(self.fit_intercept),
            fit.need_target().assumed,
        )
        if self.penalty is not None:
            return asked
        return replace(asked, penalty=needed * asked.step_of_products + noise_of_products(asked))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        said = np.asarray(self.release_.value)
        self.is_stable_ = bool(said[0] == STABLE)
        self.selected_ = said[1:].astype(np.int64)


def noise_of_products(question: LassoSupport) -> float:
    r"""Return how large the products of columns with pure noise are expected to be.

    .. math:: \frac h2 \sqrt{2 \frac{N_0}{3} \log(2 p / 0.05)}

    Slopes of half their bound, and columns spread evenly between their bounds.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> from discreet.questions import Bounds, Interval
    >>> bounds = Bounds(LinfBall(1.0), n_features=1000, labels=Interval(-1, 1))
    >>> round(noise_of_products(LassoSupport(bounds, 3, 80.0, 200.0, 3000.0)), 1)
    18.2
    """
    chance = math.log(2 * question.bounds.n_features / FALSE_COLUMN)
    return question.slope / 2 * math.sqrt(2 * question.ceiling / 3 * chance)


def _or(given: float | None, usual: float) -> float:
    return usual if given is None else given
