"""A private description of a table: declared columns, one release, everything read off it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, cast

from discreet.additive.cell_features import CellFeatures
from discreet.errors import InputError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.ledger import AbstractLedger
from discreet.mechanisms import MarginalSplits
from discreet.mechanisms.marginal_splits import MarginalSplitsPlan
from discreet.policy.task import Asked
from discreet.preprocessing import Category, Column, Numeric, declare_columns
from discreet.preprocessing.short_forms import Declared
from discreet.privacy import Unit
from discreet.questions import Marginals
from discreet.statistics.description import Description
from discreet.statistics.group_marginals import GroupMarginals
from discreet.statistics.noisy_tree import check_level

DEEPEST, SHALLOWEST = 12, 6
"""A range is cut into 2**12 cells: finer than noise and sampling are, and hardly noisier."""

MOST_NUMBERS = 2**21
"""Of more numbers than these cells are coarser, down to 2**6 of a range."""


@with_fields
class MarginalsEstimator(PrivateEstimator):
    """The marginals of declared columns, as an estimator: so every kind of table is taken."""

    learns = frozenset(["read_"])
    must_declare: ClassVar[Declarations] = (("columns",),)
    _has_labels = False

    columns: Declared | None = None
    by: str | int | None = None
    level: float = 0.95

    read_: GroupMarginals = field(init=False)

    def feature_map(self) -> CellFeatures:
        given = _without_fills(declare_columns(self.columns))
        return CellFeatures(given, depth=self._depth(CellFeatures(given)))

    def _check(self) -> None:
        check_level(self.level)
        self._question(self.feature_map())

    def _question(self, features: CellFeatures, **more: Any) -> Marginals:
        by = place_of(self.by, features)
        return Marginals(features.levels, None, features.depth, by=by, **more)

    def _depth(self, features: CellFeatures) -> int:
        """Return how often ranges are halved; coarser if there are very many columns and groups."""
        by = place_of(self.by, features)
        numbers = [column for column in features.columns if isinstance(column, Numeric)]
        groups = 1 if by is None else features.columns[by].width + 1
        depth = DEEPEST
        while depth > SHALLOWEST and len(numbers) * groups * 2**depth > MOST_NUMBERS:
            depth -= 1
        return depth

    def _ask(self, fit: Fit) -> Asked:
        features = cast(CellFeatures, fit.features)
        question = self._question(features, max_rows=fit.shape.max_rows)
        return Asked(question, MarginalSplits(), features.facts)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        plan = asked.mechanism.plan(asked.question, fit.budget, fit.unit)
        noise = cast(MarginalSplitsPlan, plan).noise
        self.read_ = GroupMarginals(noise, self.release_.value, self.level)

    def describe(self) -> Description:
        """Return what the release says of the table."""
        features = self.feature_map()
        unnamed = [f"x{place}" for place in range(self.n_features_in_)]
        names = [str(name) for name in getattr(self, "feature_names_in_", unnamed)]
        by = place_of(self.by, features)
        return Description(
            self.release_, self.read_, dict(zip(names, features.columns, strict=True)),
            None if by is None else names[by],
        )  # fmt: skip


def place_of(by: str | int | None, features: CellFeatures) -> int | None:
    """Return the place of the category by whose levels a table is described."""
    if by is None:
        return None
    declared = features.declared
    names: list[Any] = list(declared) if isinstance(declared, Mapping) else [*range(len(declared))]
    if isinstance(by, bool) or by not in names:
        raise InputError(f"by must be one of the declared columns, {names}; got {by!r}.")
    place = names.index(by)
    if not isinstance(features.columns[place], Category):
        raise InputError(
            f"by must be a category, whose levels are declared; {by!r} is one of numbers. Declare "
            "levels, or describe all rows together."
        )
    return place


def _without_fills(columns: dict[str, Column] | list[Column]) -> Declared:
    """Return the same columns; what is missing counts as missing, and not as what stands for it."""

    def plain(column: Column) -> Column:
        return Numeric(column.low, column.high) if isinstance(column, Numeric) else column

    if isinstance(columns, dict):
        return {name: plain(column) for name, column in columns.items()}
    return [plain(column) for column in columns]


def describe(
    X: Any,
    *,
    columns: Declared,
    epsilon: float = 1.0,
    delta: float = 1e-9,
    by: str | int | None = None,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    level: float = 0.95,
    max_rows: int | None = None,
    purpose: str = "",
    rehearsal: int | None = None,
) -> Description:
    """Describe every column of a table privately, for one charge; the ledger is charged first.

    Of numbers: rows, missing cells, mean, standard deviation, quartiles and a histogram; of
    categories: counts and shares of levels. All of it is made of one release of noisy counts, so
    that it agrees with itself. Intervals hold the noise and, but for counts of rows, the sampling.

    Parameters
    ----------
    X
        Rows, as for ``fit``: an array, a pandas or Polars frame or series, an Arrow table, the
        path of Parquet files, Dask. A frame has the declared columns and no others.
    columns
        What each column can hold, by name or in order: ``Numeric``, ``Category``, or a short form.
        Values beyond a range count as its ends. A ``fill`` is not used: missing cells are counted.
    epsilon, delta
        What the release may spend. With ``delta=0`` the noise is Laplace, and the promise pure.
    by
        The name of a declared category (its place, if columns are a list): everything is told for
        each of its levels, too. This costs no privacy, but adds up noise in what is said of all.
    unit
        Who is protected: ``"add_remove"`` or ``"replace"``.
    ledger
        The ledger that is charged; None charges none.
    level
        The chance with which each interval covers, taken by itself.
    max_rows
        A public bound on the number of rows.
    purpose
        What the ledger writes beside the charge; ``"describe"`` if left out.
    rehearsal
        A whole number for seeded noise, which is not private; None for real noise.

    Returns
    -------
    Description
        Statistics with intervals by column; ``summary()``, ``table`` and ``plot()``.

    Examples
    --------
    >>> import pandas as pd
    >>> patients = pd.DataFrame({"age": [30, 40, 50, 60] * 900, "ward": ["a", "b", "b"] * 1200})
    >>> found = describe(patients, columns={"age": (18, 100), "ward": ["a", "b"]}, by="ward",
    ...                  epsilon=1.0, delta=1e-6)
    >>> found.groups, bool(abs(found.columns["age"].statistics["mean"].value - 45) < 5)
    (('all', 'a', 'b', 'anything else'), True)
    """
    model = MarginalsEstimator(
        epsilon, delta, columns=columns, by=by, unit=unit, ledger=ledger, level=level,
        max_rows=max_rows, rehearsal=rehearsal,
    )  # fmt: skip
    return model.fit(X, purpose=purpose or "describe").describe()
