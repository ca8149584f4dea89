"""A kernel model that answers any number of adaptive queries for the price of one."""

from __future__ import annotations

from discreet.estimators.fields import with_fields
from discreet.estimators.oracle_estimator import OracleEstimator
from discreet.mechanisms import GaussianProcess


@with_fields
class GaussianProcessOracle(OracleEstimator):
    """A private kernel model that is queried, not published: the noise is a Gaussian process.

    ``fit`` pays once. Each answer carries noise of the same size, however many are asked for and
    however cleverly: noises at near points are nearly the same, so that asking again and around
    tells nothing more. After ``max_queries`` different points it is frozen, and later answers are
    interpolated from earlier ones.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of everything that is ever answered; ``delta`` must be positive.
    data_norm
        The declared bound on the Euclidean norm of a row, if ``columns`` are not declared; longer
        rows, and points that are asked about, are clipped to it.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        The ledger that is charged; None charges none, which ``privacy_`` says.
    columns
        What is declared about each column, as for
        :class:`~discreet.preprocessing.BoundedScaler`; rows may then be asked about as dicts.
    kernel
        A kernel of ``discreet.kernels``; None for an RBF kernel whose gamma is one over the number
        of features.
    radius
        What feature vectors are clipped to, each point by itself; None for one, or the largest
        norm of linear and polynomial kernels.
    loss
        Of classes ``"logistic"``, ``"hinge"``, ``"smoothed_hinge"`` or ``"huber_hinge"``; of
        numbers ``"huber"`` or ``"absolute"``; or a loss that kernel solvers know. None for the
        first of each.
    C
        Inverse regularisation strength. None for the rule: the least bound on what penalty and
        noise cost together, for a model of norm ten and ``expected_rows`` rows.
    fit_intercept
        Whether there is a constant feature, half as long as the radius; it is penalised.
    classes
        Two classes, declared; without it the labels found are taken as public.
    target_range
        The lowest and highest target, if numbers are learnt; targets beyond are clipped.
    max_queries
        How many different points are answered with new noise, at most. More cost next to nothing
        in noise, and memory for their square.
    store
        Where the oracle outlives this process: the path of a new SQLite file, as secret as the
        rows, or the address of a PostgreSQL data base. None for memory alone.
    expected_rows
        Roughly how many rows there will be, declared and not counted; None for ``max_rows``.
    max_rows
        A public bound on the number of rows, if that number is private.
    rehearsal
        None for privacy. A whole number seeds the noise, for tests and simulations: the result is
        **not private**, and cannot be stored.
    verbose
        Above zero, the guarantee is printed after the fit.

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
