"""Models that add one function of each column, whatever they predict with the sum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array, Vector
from discreet.additive.cell_features import CellFeatures
from discreet.additive.column_shape import ColumnShape
from discreet.additive.monotone import make_monotone, read_directions
from discreet.additive.pictures import draw_importance, draw_shapes
from discreet.errors import InputError, PrivacyError
from discreet.estimators.base import PrivateEstimator, fit_with_weights
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import COUNTED, Margins
from discreet.estimators.predicting import row_by_row
from discreet.mechanisms.additive_model import AdditiveModelPlan
from discreet.mechanisms.additive_objectives import AdditiveObjective
from discreet.mechanisms.additive_release import AdditiveRelease
from discreet.mechanisms.summing.dyadic_splits import SplitLayout
from discreet.policy.choosing_additive import AdditiveTask, choose_additive
from discreet.policy.task import Asked
from discreet.preprocessing.short_forms import Declared
from discreet.questions import Labels, Marginals

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Explanation(NamedTuple):
    """What each column adds to the score of each row; with the intercept, that is the score.

    Parameters
    ----------
    names
        The columns.
    parts
        A line for each row, a number for each column; of three or more classes one for each class.
    intercept
        The score of an average row: a number, or one for each class.

    Examples
    --------
    >>> told = Explanation(["age", "dose"], np.array([[1.0, 0.5]]), -2.0)
    >>> float(told.parts[0].sum() + told.intercept)
    -0.5
    """

    names: list[str]
    parts: Array
    intercept: Any


@with_fields
class AdditiveEstimator(PrivateEstimator):
    """A model that adds one function of each declared column."""

    learns = frozenset(["cell_values_", "cell_shares_", "cell_bands_", "intercept_"])
    must_declare: ClassVar[Declarations] = (("columns",),)

    objective: ClassVar[type[AdditiveObjective[Any]]]
    """What is minimised: by it is known what the marginals settle."""

    columns: Declared | None = None
    monotone: Mapping[str, str] | None = None
    bands: bool = False
    max_weight: float | None = None

    fit = fit_with_weights  # type: ignore[assignment]

    cell_values_: Array = field(init=False)
    cell_shares_: Vector = field(init=False)
    cell_bands_: Array | None = field(init=False)
    intercept_: Vector = field(init=False)

    def _check(self) -> None:
        super()._check()
        _checks.truth(bands=self.bands)
        if self.max_weight is not None:
            _checks.positive(max_weight=self.max_weight)

    def _check_features(self, features: FeatureMap) -> None:
        if isinstance(self.columns, Mapping) and isinstance(features, CellFeatures):
            read_directions(self.monotone, list(self.columns), features.columns)

    def feature_map(self) -> CellFeatures:
        return CellFeatures({} if self.columns is None else self.columns)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns that a fit saw; ``x0``, ``x1`` and so on without any."""
        unnamed = [f"x{place}" for place in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", unnamed)]

    @abstractmethod
    def _labels(self, target: Any = None) -> Labels:
        """Return the labels of the question: of a target, or of the fitted model."""

    def _restate(self, task: AdditiveTask) -> AdditiveTask:
        """Return a task with what one kind of model declares beside all others."""
        return task

    def _ask(self, fit: Fit) -> Asked:
        target, features = fit.need_target(), cast(CellFeatures, fit.features)
        read_directions(self.monotone, self.column_names, features.columns)  # before it is paid for
        task = AdditiveTask(
            Marginals(features.levels, self._labels(target), max_rows=fit.shape.max_rows),
            self.objective.planned,
            fit.budget,
            fit.unit,
            max_weight=self.max_weight,
            has_bands=bool(self.bands),
            assumed=target.assumed,
        )
        asked = choose_additive(self._restate(task))
        facts = (*features.facts, target.fact)
        return replace(asked, facts=facts if fit.budget.is_private else (*facts, COUNTED))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        plan = asked.mechanism.plan(asked.question, fit.budget, fit.unit)  # public: the same one
        if not isinstance(plan, AdditiveModelPlan):
            raise PrivacyError("an additive model was fitted by another mechanism.")
        self._keep_shapes(plan, cast(CellFeatures, fit.features))

    def _keep_shapes(self, plan: AdditiveModelPlan, features: CellFeatures) -> AdditiveRelease:
        """Keep what a release says, and return it as it was read."""
        read = plan.read(self.release_.value)
        shapes, constant = read.shapes()
        values = [np.atleast_2d(shape) for shape in shapes]
        columns = features.columns
        for place, rises in read_directions(self.monotone, self.column_names, columns).items():
            values[place] = make_monotone(values[place], read.shares[place], rises)
        bands = map(np.atleast_2d, read.bands()) if self.bands else ()
        self.cell_values_ = np.hstack(values)
        self.cell_bands_ = np.hstack(list(bands)) if self.bands else None
        self.cell_shares_ = np.concatenate(read.shares)
        self.intercept_ = np.atleast_1d(np.asarray(constant, dtype=np.float64))
        return read

    @property
    def settings_(self) -> Any:
        """What noisy marginals settled of the objective."""
        check_is_fitted(self)
        layout = SplitLayout(Marginals(self.feature_map().levels, self._labels()))
        start, kind = layout.kinds.size, self.objective.settings
        return kind(*self.release_.value[start : start + len(fields(kind))].tolist())

    @property
    def shapes_(self) -> dict[str, ColumnShape]:
        """What each column adds to the score, by its name."""
        check_is_fitted(self)
        features = self.feature_map()
        parts = [
            self._by_column(np.atleast_2d(cells))
            for cells in (self.cell_values_, self.cell_shares_, self.cell_bands_)
            if cells is not None
        ]
        return {
            name: ColumnShape(
                column, table[..., :-1], table[..., -1], shares, *(band[..., :-1] for band in more)
            )
            for name, column, table, shares, *more in zip(
                self.column_names, features.columns, *parts, strict=True
            )
        }

    def _by_column(self, cells: Array) -> list[Array]:
        """Return the part of each column, a vector if there is one line."""
        parts = np.split(cells, self.feature_map().ends[:-1], axis=1)
        return [part[0] if len(part) == 1 else part for part in parts]

    @property
    def importance_(self) -> dict[str, float]:
        """How far each column moves scores, the largest first.

        The standard deviation of what a column adds, under its noisy marginal; of three or more
        classes, the root of the mean of squares. It holds noise as shapes do.
        """
        found = {
            name: float(np.sqrt(np.mean(np.square(shape.importance))))
            for name, shape in self.shapes_.items()
        }
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def plot_shapes(self, columns: Sequence[str] | None = None) -> Figure:
        """Draw what each column adds, the most important first, on one scale.

        Beneath each curve is the noisy marginal. Where it has no data the ground is shaded, and the
        curve, which nothing holds there, is dotted.

        Parameters
        ----------
        columns
            The names of those to draw; None for all.

        Returns
        -------
        matplotlib.figure.Figure
            Shown by a notebook, and stored by its ``savefig``.
        """
        shapes = self.shapes_
        names = list(self.importance_) if columns is None else list(columns)
        unknown = [name for name in names if name not in shapes]
        if unknown or not names:
            raise InputError(f"columns must be some of {list(shapes)}; got {names}.")
        several = self.cell_values_.shape[0] > 1
        return draw_shapes(
            {name: shapes[name] for name in names}, self._adds(), self._lines() if several else None
        )

    def plot_importance(self) -> Figure:
        """Draw how far each column moves a row, the most important on top.

        Returns
        -------
        matplotlib.figure.Figure
            Shown by a notebook, and stored by its ``savefig``.
        """
        check_is_fitted(self)
        return draw_importance(self.importance_)

    def summary(self) -> str:
        """Return a table to print: columns by importance, and where each adds least and most."""
        shapes = self.shapes_
        rows = [
            (name, f"{share:.3g}", *shapes[name].extremes())
            for name, share in self.importance_.items()
        ]
        heads = ("column", "importance", "least", "most", "missing")
        widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (heads, *rows)
        ]
        constant = ", ".join(f"{value:.3g}" for value in np.atleast_1d(self.intercept_))
        return "\n".join(
            [
                f"What each column {self._adds()}; an average row has {constant}.",
                *table,
                "Noise is in all of it; see privacy_ for what is promised.",
            ]
        )

    def _adds(self) -> str:
        """Say what values of shapes do."""
        return "adds to the prediction"

    def _lines(self) -> list[Any]:
        """Name the lines of shapes, if they have several."""
        return []

    def explain(self, X: Any) -> Explanation:
        """Return what each column adds to the score of each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        parts = self._parts(X)
        intercept = float(self.intercept_[0]) if self.intercept_.size == 1 else self.intercept_
        return Explanation(self.column_names, parts, intercept)

    @row_by_row
    def _parts(self, X: Any) -> Array:
        features = self.feature_map()
        cells = features.cells(self, X)
        tables = features.tables(self)
        parts = np.stack(
            [table[:, cells[:, place]].T for place, table in enumerate(tables)], axis=1
        )
        return parts[:, :, 0] if parts.shape[2] == 1 else parts

    def _margins(self, X: Any) -> Array:
        """Return the score of each row: the intercept, and what each column adds."""
        return X.values if isinstance(X, Margins) else self.fitted_map().margins(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False  # a zero is in a cell as any other number is
        return tags
