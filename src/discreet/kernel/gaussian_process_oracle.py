"""A kernel model that answers any number of adaptive queries for the price of one."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.kernel.oracle_estimator import OracleEstimator
from discreet.mechanisms import GaussianProcess


@with_fields
class GaussianProcessOracle(OracleEstimator):
    """A private kernel model that is queried, not published: the noise is a Gaussian process.

    ``fit`` pays once. Each answer carries noise of the same size, however many are asked for and
    however cleverly: noises at near points are nearly the same, so that asking again and around
    tells nothing more. After ``max_queries`` different points it is frozen, and later answers are
    interpolated from earlier ones.

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
    Hall, Rinaldo & Wasserman (2013), Gaussian processes as noise; Jain & Thakurta (2013), private
    kernel models.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(2000, 2)) / 1.5
    >>> y = np.where((X**2).sum(axis=1) < 0.25, "inside", "outside")
    >>> from discreet.kernels import RBF
    >>> model = GaussianProcessOracle(
    ...     1.0, 1e-6, data_norm=1.0, kernel=RBF(4.0), classes=["inside", "outside"], C=0.1,
    ... ).fit(X, y)
    >>> model.predict([[0.0, 0.0], [0.6, 0.6]]).tolist()
    ['inside', 'outside']
    >>> model.ask([[0.0, 0.0]]) == model.ask([[0.0, 0.0]]), model.n_answers_
    (array([ True]), 2)
    """

    max_queries: int = 1000

    def query_mechanism(self) -> GaussianProcess:
        return GaussianProcess()
