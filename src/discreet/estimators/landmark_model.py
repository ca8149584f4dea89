"""Linear models of Nystroem features on public points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.data.frame import Frame, refuse_lazy
from discreet.data.matrix import columns_of
from discreet.errors import InputError, InputTypeError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.kernel_features import KernelEstimator
from discreet.estimators.targets import LearningTarget
from discreet.estimators.task import Asked, LinearTask, Shape
from discreet.kernels import RBF, Kernel
from discreet.preprocessing.domain_points import fill_ball, fill_box
from discreet.preprocessing.landmark_map import MOST_LANDMARKS, LandmarkMap
from discreet.privacy import Budget, Unit

METHODS = ("nystroem",)
"""How a model is made of landmarks."""

USUAL_LANDMARKS = 200

LANDMARKS = frozenset(["landmarks_", "components_"])
"""What a fit leaves beside the coefficients: public, and stored with them."""

PUBLIC = "the landmarks"
"""What is taken as public if somebody gives landmarks."""


class LandmarkModel(KernelEstimator):
    """A linear model of a kernel seen from public points."""

    landmarks: Any
    kernel: Kernel | None
    n_components: int | None
    radius: float | None
    method: str

    landmarks_: Array
    components_: Array

    def _check(self) -> None:
        super()._check()
        _checks.one_of(METHODS, method=self.method)

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
        if width is not None and points.shape[1] != width:
            raise InputError(
                f"landmarks must have the {width} columns of the rows, as encoded; got "
                f"{points.shape[1]}."
            )
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
        _checks.whole(landmarks=count, at_least=1, at_most=MOST_LANDMARKS)
        if self.columns is not None:
            return fill_box(DeclaredFeatures(self.columns).columns, int(count))
        norm = _checks.positive_number(data_norm=self.data_norm)
        return fill_ball(1 if width is None else width, norm, int(count))

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
        if not hasattr(self, "landmarks_"):
            return self.row_map(self.feature_map().inner.width_of(self.n_features_in_))
        kernel, largest = self._kernel(), self.largest_entry()
        radius = self._radius(kernel)
        return LandmarkMap(kernel, self.landmarks_, radius, None, largest, self.components_)

    def stored_arguments(self) -> dict[str, Any]:
        """Return parameters as a file can hold them: a frame of landmarks as its columns."""
        given: dict[str, Any] = self.get_params(deep=False)
        if not self._is_synthetic and columns_of(self.landmarks) is not None:
            names, table = self.feature_names_in_.tolist(), self.landmarks
            given["landmarks"] = {str(name): _list_cells(table[name]) for name in names}
        return given

    def _task(self, shape: Shape, target: LearningTarget, budget: Budget, unit: Unit) -> LinearTask:
        task = super()._task(shape, target, budget, unit)
        return task if self._is_synthetic else replace(task, assumed=(*task.assumed, PUBLIC))

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        mapping = self.row_map(self.feature_map().inner.width_of(self.n_features_in_))
        self.landmarks_, self.components_ = mapping.landmarks, mapping.matrix.copy()
        super()._keep(asked, target)  # type: ignore[safe-super]


def _list_cells(column: Any) -> list[Any]:
    """Return the cells of a public column, None for what is missing."""
    cells = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return [None if cell != cell else cell for cell in cells]  # NaN
