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
from discreet.additive.monotone import read_directions
from discreet.additive.pair_effect import (
    TOLD_SHARE,
    PairEffect,
    keep_pairs,
    name_pair,
    tell_pairs,
)
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
        The columns; and pairs of them, as in "age and dose", for what two add together.
    parts
        A line for each row, a number for each name; of three or more classes one for each class.
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

    learns = frozenset(
        [
            "cell_values_",
            "cell_shares_",
            "cell_bands_",
            "intercept_",
            "pair_weights_",
            "cell_places_",
        ]
    )
    must_declare: ClassVar[Declarations] = (("columns",),)
    is_compared = True

    objective: ClassVar[type[AdditiveObjective[Any]]]
    """What is minimised: by it is known what the marginals settle."""

    columns: Declared | None = None
    monotone: Mapping[str, str] | None = None
    interactions: bool = False
    bands: bool = False
    max_weight: float | None = None

    fit = fit_with_weights  # type: ignore[assignment]

    cell_values_: Array = field(init=False)
    cell_shares_: Vector = field(init=False)
    cell_bands_: Array | None = field(init=False)
    intercept_: Vector = field(init=False)
    pair_weights_: Array | None = field(init=False)
    cell_places_: Vector | None = field(init=False)

    def _check(self) -> None:
        super()._check()
        _checks.truth(bands=self.bands, interactions=self.interactions)
        if self.interactions and self.monotone:
            raise InputError(
                "monotone and interactions do not go together: what a column adds with another "
                "one may fall where its own shape rises. Use interactions=False, or monotone=None."
            )
        if self.max_weight is not None:
            _checks.positive(max_weight=self.max_weight)

    def _check_features(self, features: FeatureMap) -> None:
        if isinstance(self.columns, Mapping) and isinstance(features, CellFeatures):
            read_directions(self.monotone, list(self.columns), features.columns)

    def feature_map(self) -> CellFeatures:
        return CellFeatures({} if self.columns is None else self.columns, keeps_whole=True)

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
        directions = read_directions(self.monotone, self.column_names, features.columns)
        task = AdditiveTask(
            Marginals(
                features.levels,
                self._labels(target),
                max_rows=fit.shape.max_rows,
                whole=features.whole,
            ),
            self.objective.planned,
            fit.budget,
            fit.unit,
            max_weight=self.max_weight,
            has_bands=bool(self.bands),
            interactions=bool(self.interactions),
            monotone=tuple(directions.items()),
            assumed=target.assumed,
        )
        asked = choose_additive(self._restate(task))
        facts = (*features.facts, target.fact)
        return replace(asked, facts=facts if fit.budget.is_private else (*facts, COUNTED))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        plan = asked.plan or asked.mechanism.plan(asked.question, fit.budget, fit.unit)
        if not isinstance(plan, AdditiveModelPlan):
            raise PrivacyError("an additive model was fitted by another mechanism.")
        self._keep_shapes(plan, cast(CellFeatures, fit.features))

    def _keep_shapes(self, plan: AdditiveModelPlan, features: CellFeatures) -> AdditiveRelease:
        """Keep what a release says, and return it as it was read."""
        read = plan.read(self.release_.value)
        shapes, constant = read.kept_shapes()
        bands = map(np.atleast_2d, read.bands()) if self.bands else ()
        self.cell_values_ = np.hstack(shapes)
        self.cell_bands_ = np.hstack(list(bands)) if self.bands else None
        self.cell_shares_ = np.concatenate(read.shares)
        self.pair_weights_, self.cell_places_ = keep_pairs(read, features.columns, features.ends)
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

    @property
    def interactions_(self) -> dict[tuple[str, str], PairEffect]:
        """What pairs of columns add together, by their names, the largest first.

        Empty unless ``interactions`` were asked for and there was signal enough for them.
        """
        check_is_fitted(self)
        names = self.column_names
        found = sorted(self.feature_map().pairs(self), key=lambda effect: -effect.importance)
        return {(names[one.columns[0]], names[one.columns[1]]): one for one in found}

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
        """Draw how far each column, and each pair that counts, moves a row; the farthest on top.

        Returns
        -------
        matplotlib.figure.Figure
            Shown by a notebook, and stored by its ``savefig``.
        """
        check_is_fitted(self)
        pairs = {name: effect.importance for name, effect in self._pairs_that_count().items()}
        moved = self.importance_ | pairs
        return draw_importance(dict(sorted(moved.items(), key=lambda item: -item[1])))

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
                *tell_pairs(self._pairs_that_count(), self.interactions_),
                "Noise is in all of it; see privacy_ for what is promised.",
            ]
        )

    def _pairs_that_count(self) -> dict[str, PairEffect]:
        """Return, by name, pairs that are not small beside the column that moves scores most."""
        least = TOLD_SHARE * max(self.importance_.values())
        found = self.interactions_.items()
        return {name_pair(names): one for names, one in found if one.importance >= least}

    def _adds(self) -> str:
        """Say what values of shapes do."""
        return "adds to the prediction"

    def _lines(self) -> list[Any]:
        """Name the lines of shapes, if they have several."""
        return []

    def explain(self, X: Any) -> Explanation:
        """Return what each column, and each pair of them, adds to the score of each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        parts = self._parts(X)
        intercept = float(self.intercept_[0]) if self.intercept_.size == 1 else self.intercept_
        names, effects = self.column_names, self.feature_map().pairs(self)
        pairs = [name_pair(names[one] for one in effect.columns) for effect in effects]
        return Explanation([*names, *pairs], parts, intercept)

    @row_by_row
    def _parts(self, X: Any) -> Array:
        features = self.feature_map()
        cells = features.cells(self, X)
        tables = features.tables(self)
        single = [table[:, cells[:, place]].T for place, table in enumerate(tables)]
        paired = [effect.add(cells) for effect in features.pairs(self)]
        parts = np.stack([*single, *paired], axis=1)
        return parts[:, :, 0] if parts.shape[2] == 1 else parts

    def _margins(self, X: Any) -> Array:
        """Return the score of each row: the intercept, and what each column adds."""
        return X.values if isinstance(X, Margins) else self.fitted_map().margins(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False  # a zero is in a cell as any other number is
        return tags
