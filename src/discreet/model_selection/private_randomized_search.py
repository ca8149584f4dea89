"""Private search over parameters drawn at random."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from sklearn.model_selection import ParameterSampler

from discreet import _checks
from discreet.errors import InputError
from discreet.estimators.fields import Declarations, with_fields
from discreet.model_selection.private_search import PrivateSearch


@with_fields
class PrivateRandomizedSearch(PrivateSearch):
    """The best of some parameters drawn at random, chosen and fitted within one privacy budget.

    As :class:`PrivateSearchCV`, for candidates that are drawn from distributions before any row is
    looked at. In the place of ``RandomizedSearchCV``, which releases exact scores.

    Parameters
    ----------
    param_distributions
        A dict from names of parameters to lists of values, or to distributions with ``rvs``, such
        as SciPy's; or a list of such dicts.
    n_iter
        How many candidates are drawn; at least two.
    random_state
        Of the draw of candidates, which is public: a whole number, or None for another draw each
        time.

    Attributes
    ----------
    best_estimator_
        The chosen model, fitted, with the release of the whole search; None if no trial was made.
    best_params_, best_index_
        The setting that was chosen, and its place among the candidates; None and -1 if no trial was
        made.
    candidates_
        What was chosen among: the settings, in order.
    method_
        The method that was used.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee, of everything together.

    See Also
    --------
    PrivateSearchCV : All candidates of a grid.

    References
    ----------
    Liu & Talwar (2019); Papernot & Steinke (2022).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import loguniform
    >>> from discreet.linear_model import Ridge
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(20_000, 3))
    >>> y = X[:, 0] + 0.3 * generator.normal(size=20_000)
    >>> model = Ridge(data_norm=3.0, target_range=(-3, 3))
    >>> search = PrivateRandomizedSearch(
    ...     model, {"alpha": loguniform(1, 1e5)}, n_iter=4, expected_rows=20_000, random_state=0
    ... ).fit(X, y)
    >>> len(search.candidates_), bool(search.score(X, y) > 0.5)
    (4, True)
    """

    must_declare: ClassVar[Declarations] = (("estimator",), ("param_distributions",))

    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = field(
        default=None, kw_only=False
    )
    n_iter: int = field(default=10, kw_only=False)
    random_state: int | None = None

    def _settings(self) -> Iterable[Mapping[str, Any]]:
        _checks.whole(n_iter=self.n_iter, at_least=2)
        if self.random_state is not None:
            _checks.whole(random_state=self.random_state, at_least=0)
        try:
            return list(
                ParameterSampler(
                    self.param_distributions, int(self.n_iter), random_state=self.random_state
                )
            )
        except (TypeError, ValueError) as error:
            raise InputError(
                "param_distributions must be a dict from names of parameters to lists of values or "
                f"distributions with rvs: {error}"
            ) from None
