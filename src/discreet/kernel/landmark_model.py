"""Models of a kernel seen from public points: linear in Nystroem features, or a projection."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from numbers import Integral
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.data.frame import Frame, refuse_lazy
from discreet.data.matrix import columns_of
from discreet.errors import InputError, InputTypeError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import COUNTED, INTERCEPT_SHARE
from discreet.kernel.kernel_features import KernelEstimator
from discreet.kernel.synthetic_points import fill_domain
from discreet.kernels import RBF, BoundedKernel, CallableKernel, Kernel, Precomputed
from discreet.kernels.landmark_span import longest_landmark
from discreet.losses import Loss
from discreet.mechanisms import ProjectedKernel
from discreet.mechanisms.projected_kernel import basis_of, expand
from discreet.policy.stating import usual_kernel_ridge
from discreet.policy.task import Asked, LinearTask
from discreet.preprocessing.landmark_map import LandmarkMap
from discreet.questions import Bounds, KernelQueries, LabelSet
from discreet.questions.kernel_queries import MOST_ROWS
from discreet.record import Fact, Origin

NYSTROEM, PROJECTED = "nystroem", "projected"
METHODS = (NYSTROEM, PROJECTED)
"""How a model is made of landmarks: learnt from features, or fitted exactly and projected."""

USUAL_LANDMARKS = 200

LANDMARKS = frozenset(["landmarks_", "components_"])
"""What a fit leaves beside the coefficients: public, and stored with them."""

PUBLIC = "the landmarks"
"""What is taken as public if somebody gives landmarks."""

OWN = "that the kernel's function computes each entry from its two points alone, and never fails"
"""What the guarantee rests on if somebody wrote the kernel."""


@with_fields
class LandmarkModel(KernelEstimator):
    """A linear model of a kernel seen from public points."""

    landmarks: Any = None
    kernel: Kernel | None = None
    n_components: int | None = None
    radius: float | None = None
    method: str = "nystroem"

    landmarks_: Array = field(init=False)
    components_: Array = field(init=False)

    def _check(self) -> None:
        _checks.one_of(METHODS, method=self.method)
        if self.is_projected:
            self._check_projected()
        super()._check()

    @property
    def is_projected(self) -> bool:
        """Whether an exact kernel model is projected, and no features are learnt from."""
        return bool(self.method == PROJECTED)

    def _check_projected(self) -> None:
        _checks.one_of(("auto", "projected_kernel"), mechanism=self.mechanism)
        if self.n_components is not None:
            raise InputError(
                'method="projected" keeps every direction, since noise does not grow with their '
                "number; leave n_components out."
            )
        if self.max_weight is not None:
            raise InputError(
                'method="projected" counts every row once: its proof knows no weights. Leave '
                "max_weight out."
            )

    def feature_map(self) -> FeatureMap:
        """Return what makes features of columns in a fit: an exact model is fitted to columns."""
        return self.column_map() if self.is_projected else super().feature_map()

    def _as_table(self, X: Any) -> Any:
        if X is self.landmarks:
            raise InputError(
                "landmarks must be public points, and not the rows that are to be protected; "
                "leave them out for synthetic ones."
            )
        return super()._as_table(X)

    def _kernel(self) -> Kernel:
        if self.kernel is None:
            return RBF(self.usual_gamma())
        _checks.instance(Kernel, kernel=self.kernel)
        return self.kernel

    def row_map(self, width: int | None) -> LandmarkMap:
        points = self._points(width)
        _check_width(points, width)
        kernel, largest = self._kernel(), self.largest_entry()
        return LandmarkMap(kernel, points, self._radius(kernel), self.n_components, largest)

    def _radius(self, kernel: Kernel) -> float | None:
        """Return what features are clipped to; None for what the landmarks say.

        Of synthetic points in a ball: at a point of the declared norm, in any dimension.
        """
        if self.radius is not None or self.columns is not None or not self._is_synthetic:
            return self.radius
        norm = _checks.positive_number(data_norm=self.data_norm)
        return math.sqrt(float(kernel.diagonal(np.array([[norm]]))[0]))

    @property
    def _is_synthetic(self) -> bool:
        return self.landmarks is None or isinstance(self.landmarks, Integral)

    def _points(self, width: int | None) -> Array:
        """Return the landmarks as rows are encoded: those given, or synthetic ones."""
        if not self._is_synthetic:
            return self._encode_given()
        count = USUAL_LANDMARKS if self.landmarks is None else self.landmarks
        kernel = self._kernel()
        if isinstance(kernel, Precomputed) or (
            isinstance(kernel, CallableKernel) and self.columns is None
        ):
            raise InputError(f"{kernel!r} needs landmarks: nobody knows its points but you.")
        columns, norm = self.columns, self.data_norm
        return fill_domain(columns, norm, 1 if width is None else width, landmarks=count)

    def _encode_given(self) -> Array:
        """Return the public points that were given, encoded as rows are."""
        given = self.landmarks
        refuse_lazy(given)
        if self.columns is None:
            try:
                return np.array(given, dtype=np.float64, ndmin=2)
            except (TypeError, ValueError):
                raise InputTypeError(
                    "landmarks must be a matrix of numbers, one public point a row, or how many "
                    "synthetic ones to take."
                ) from None
        scaler = DeclaredFeatures(self.columns).scaler
        if isinstance(given, Mapping):
            cells = {name: np.array(list(column), dtype=object) for name, column in given.items()}
            return np.asarray(scaler.transform(Frame(cells)))
        return np.asarray(scaler.fit(given).transform(given))

    def fitted_row_map(self) -> LandmarkMap:
        """Return the map of a fit, whatever another machine would make of the same landmarks."""
        width = self.encoded_width()
        if not hasattr(self, "landmarks_"):
            return self.row_map(width)
        _check_width(self.landmarks_, width)
        points, kernel, radius = self.landmarks_, self._kernel(), self._radius(self._kernel())
        if self.is_projected:
            kernel = BoundedKernel(kernel, self._longest(points))
            radius = kernel.reach
        return LandmarkMap(kernel, points, radius, None, self.largest_entry(), self.components_)

    def stored_arguments(self) -> dict[str, Any]:
        """Return parameters as a file can hold them: a frame of landmarks as its columns."""
        given: dict[str, Any] = self.get_params(deep=False)
        if not self._is_synthetic and columns_of(self.landmarks) is not None:
            names, table = self.feature_names_in_.tolist(), self.landmarks
            given["landmarks"] = {str(name): _list_cells(table[name]) for name in names}
        return given

    def _task(self, fit: Fit) -> LinearTask:
        task = super()._task(fit)
        points = () if self._is_synthetic else (PUBLIC,)
        kernel = (OWN,) if isinstance(self.kernel, CallableKernel) else ()
        return replace(task, assumed=(*task.assumed, *points, *kernel))

    def _ask(self, fit: Fit) -> Asked:
        if not self.is_projected:
            return super()._ask(fit)
        question = self._queries(fit)
        words = (
            f"{question.kernel.kernel!r}, clipped to norm {question.kernel.radius:.6g}: an exact "
            f"model, projected on the span of {len(question.points):,} public landmarks"
        )
        seen = Fact("features", words, Origin.CHOSEN)
        told = (
            *(fact for fact in fit.features.facts if fact.what != "features"),
            seen,
            fit.need_target().fact,
        )
        facts = told if fit.budget.is_private else (*told, COUNTED)
        return Asked(question, ProjectedKernel(), facts)

    def exact_loss(self) -> Loss:
        """Return the loss of an exact kernel model."""
        return self.margin_loss()

    def _queries(self, fit: Fit) -> KernelQueries:
        """State what is asked of an exact kernel model: its values at the landmarks."""
        features, shape = fit.features, fit.shape
        labels = shape.labels
        if isinstance(labels, LabelSet):
            if len(labels.values) != 2:
                raise InputError(
                    'method="projected" tells two classes apart; use method="nystroem" for several.'
                )
            labels = LabelSet([-1, 1])
        if shape.max_rows > MOST_ROWS:
            raise InputError(
                'method="projected" fits an exact kernel model, in time that grows with the square '
                f"of the rows; declare max_rows, at most {MOST_ROWS:,}."
            )
        given = self._points(shape.n_features)
        _check_width(given, shape.n_features)
        clipped, factors = features.region.clip_rows(given)  # as the landmarks that are kept
        points = clipped * factors[:, None]
        bounds = Bounds(features.region, shape.n_features, labels=labels, max_rows=shape.max_rows)
        radius = self._longest(points)
        constant = (INTERCEPT_SHARE * radius) ** 2 if self.fit_intercept else 0.0
        kernel, loss = BoundedKernel(self._kernel(), radius, constant), self.exact_loss()
        hint = getattr(self, "expected_rows", None)
        ridge = self._ridge() or usual_kernel_ridge(loss, kernel, bounds, fit.budget, hint)
        asked = tuple(map(tuple, points.tolist()))
        return KernelQueries(loss, bounds, ridge, kernel, 1, asked, fit.need_target().assumed)

    def _longest(self, points: Array) -> float:
        """Return what feature vectors are clipped to: as declared, or what the landmarks say."""
        radius = self._radius(self._kernel())
        if radius is None:
            return longest_landmark(self._kernel(), points)
        return _checks.positive_number(radius=radius)

    def _coefficient_count(self, asked: Asked) -> int:
        if isinstance(asked.question, KernelQueries):
            return len(self.release_.value)
        return super()._coefficient_count(asked)

    def _coefficients(
        self, asked: Asked, features: FeatureMap, origin: float = 0.0
    ) -> tuple[Array, Array]:
        """Of a projection the intercept is what the constant of the kernel adds everywhere."""
        coef, intercept = super()._coefficients(asked, features, origin)
        if isinstance(asked.question, KernelQueries):
            weights = expand(basis_of(asked.question), coef[0])
            intercept = intercept + asked.question.kernel.constant * float(weights.sum())
        return coef, intercept

    def _keep(self, asked: Asked, fit: Fit) -> None:
        if isinstance(asked.question, KernelQueries):
            basis = basis_of(asked.question)
            self.landmarks_, self.components_ = basis.landmarks.copy(), basis.matrix.copy()
        else:
            mapping = self.row_map(self.encoded_width())
            self.landmarks_, self.components_ = mapping.landmarks, mapping.matrix.copy()
        super()._keep(asked, fit)  # type: ignore[safe-super]


def _check_width(points: Array, width: int | None) -> None:
    if width is not None and (np.ndim(points) != 2 or points.shape[1] != width):
        raise InputError(
            f"landmarks must have the {width} columns of the rows, as encoded; got an array of "
            f"shape {np.shape(points)}."
        )


def _list_cells(column: Any) -> list[Any]:
    """Return the cells of a public column, None for what is missing."""
    cells = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return [None if cell != cell else cell for cell in cells]  # NaN
