"""A kernel model whose answers come from a public model that is seldom corrected."""

from __future__ import annotations

import warnings

from discreet import _checks
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.kernel.constant_model import refuse_constant
from discreet.kernel.oracle_estimator import OracleEstimator
from discreet.mechanisms import BoundedUpdates, QueryMechanism
from discreet.policy.task import Asked

LESS_ACCURATE = (
    "GaussianProcessOracle answers the same queries more accurately at the same budget; bounded "
    "updates are for a public model of few points."
)


@with_fields
class BoundedUpdateOracle(OracleEstimator):
    """A private kernel model behind a public one, which it corrects where that is far off.

    :class:`GaussianProcessOracle` is more accurate wherever either is of use, and a fit says so.
    This one leaves a public model of at most ``max_updates`` points. It is corrected only where it
    is farther off than noise goes, which takes very many rows or a ``threshold`` of your own: with
    a few thousand rows it answers 0 to everything, and a fit is refused.

    Parameters
    ----------
    max_updates
        How often the public model is corrected, at most; None to choose it by theory.
    threshold
        How far the public model may be from a noisy prediction; None for four times as far as the
        noise goes.
    may_be_constant
        Whether to fit although public numbers say that it will most likely answer 0 to everything:
        the budget, the noise, and ``expected_rows`` (or else ``max_rows``; the number of rows where
        it is public). Otherwise such a fit is refused, and nothing is paid.

    Attributes
    ----------
    oracle_
        The live :class:`~discreet.interaction.Oracle`.
    n_answers_, status_
        How many different points were answered, and whether new ones still can be.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn; ``classes_`` if there are any.
    release_, privacy_
        The release and its guarantee, which is that of all answers ever.

    References
    ----------
    Jain & Thakurta (2013), the interactive algorithm.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 500)[:, None]
    >>> model = BoundedUpdateOracle(
    ...     1.0, 1e-6, data_norm=1.0, classes=[False, True], max_updates=2, threshold=1e-3
    ... )
    >>> with warnings.catch_warnings(action="ignore"):
    ...     model = model.fit(X, X[:, 0] > 0)
    >>> [answer.status for answer in model.ask_with_status([[-0.5], [0.0], [0.5]])]
    ['updated', 'updated', 'exhausted']
    """

    max_updates: int | None = None
    threshold: float | None = None
    may_be_constant: bool = False

    def query_mechanism(self) -> QueryMechanism:
        return BoundedUpdates(self.max_updates, self.threshold)

    def _ask(self, fit: Fit) -> Asked:
        asked = super()._ask(fit)
        if not self.may_be_constant:
            refuse_constant(asked, fit.shape, self.expected_rows, fit.budget, fit.unit)
        return asked

    def _check(self) -> None:
        super()._check()
        _checks.instance(bool, may_be_constant=self.may_be_constant)
        warnings.warn(LESS_ACCURATE, stacklevel=6)
