"""Private search over a grid of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from sklearn.model_selection import ParameterGrid

from discreet.errors import InputError
from discreet.estimators.fields import Declarations, with_fields
from discreet.model_selection.private_search import PrivateSearch

Grid = Mapping[str, Sequence[Any]]


@with_fields
class PrivateSearchCV(PrivateSearch):
    """The best of a grid of parameters, chosen and fitted within one privacy budget.

    In the place of ``GridSearchCV``, which releases an exact score for every candidate. Candidates
    are fitted privately, compared privately on rows that they were not fitted to, and one is
    chosen. The whole search is one release: it is charged once, at what everything together costs,
    before a row is read. No score is kept, exact or not; to score the model use
    :func:`discreet.metrics.private_score`, which has a price of its own.

    Parameters
    ----------
    param_grid
        A dict from names of parameters to lists of values, or a list of such dicts, as in
        scikit-learn. Under the name ``"estimator"`` a grid may hold estimators themselves.

    Attributes
    ----------
    best_estimator_
        The chosen model, fitted. Its ``release_`` and ``privacy_`` are those of the whole search;
        it can be stored and has a card like any other. None if no trial was made.
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
    PrivateRandomizedSearch : Candidates drawn from distributions.

    References
    ----------
    Chaudhuri, Monteleoni & Sarwate (2011), section 6; McSherry & Talwar (2007); Papernot & Steinke
    (2022).

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.linear_model import LogisticRegression
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(20_000, 3))
    >>> y = X[:, 0] + 0.3 * generator.normal(size=20_000) > 0
    >>> model = LogisticRegression(data_norm=3.0, classes=[False, True])
    >>> search = PrivateSearchCV(
    ...     model, {"C": [1e-4, 1e-3, 1e-2]}, epsilon=1.0, expected_rows=20_000
    ... )
    >>> bool(search.fit(X, y).predict(X[:100]).mean() > 0.2), search.method_
    (True, 'compose')
    >>> search.best_params_ in search.candidates_, hasattr(search, "best_score_")
    (True, False)
    >>> round(search.privacy_.epsilon(1e-9), 2)
    1.0
    """

    must_declare: ClassVar[Declarations] = (("estimator",), ("param_grid",))

    param_grid: Grid | Sequence[Grid] | None = field(default=None, kw_only=False)

    def _settings(self) -> Iterable[Mapping[str, Any]]:
        try:
            return list(ParameterGrid(self.param_grid))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"param_grid must be a dict from names of parameters to lists of values, or a list "
                f"of such dicts: {error}"
            ) from None
