"""One record as a dict: read in the declared order of features, each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from discreet._types import Array, Vector
from discreet.data.cells import number_of
from discreet.data.given_column import as_objects
from discreet.errors import InputError, InputTypeError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.targets import ClassTarget, LabelTarget, LearningTarget
from discreet.preprocessing import BoundedScaler

UNNAMED = (
    "records as dicts, and a first round that is empty, need the names of features, in an order "
    'that no record decides: declare columns={"age": (18, 100), ...}, or features=["age", ...] '
    "beside data_norm."
)


class Reads(Protocol):
    """A learner, as far as its records are concerned."""

    features: Any

    def feature_map(self) -> FeatureMap: ...

    def learning_target(self, y: Any = None) -> LearningTarget | None: ...


@dataclass(frozen=True, eq=False)
class RecordReader:
    """Makes a row and a label of one record; no cell is an error.

    A declared column that a record has not is missing, as an empty cell of a table is. A plain
    feature that it has not is zero, as in a sparse row; one that is there and no number makes the
    record the fixed one, as everywhere.
    """

    names: tuple[Any, ...]
    scaler: BoundedScaler | None
    target: LabelTarget | None
    signs: dict[Any, Vector]
    absent: float = 0.0

    @classmethod
    def of(cls, model: Reads) -> RecordReader:
        """Return the reader of a learner's records."""
        features, target = model.feature_map(), model.learning_target()
        if not isinstance(target, LabelTarget):
            raise InputError("this learner has no labels.")
        scaler = None
        if isinstance(features, DeclaredFeatures):
            declared = features.declared
            names = tuple(declared) if isinstance(declared, Mapping) else _list_names(model)
            if len(names) != len(features.columns):
                raise InputError(
                    f"features must name the {len(features.columns)} declared columns; got "
                    f"{len(names)} names."
                )
            scaler = BoundedScaler(list(features.columns), data_norm=None)
        else:
            names = _list_names(model)
        return cls(names, scaler, target, _find_signs(target))

    @property
    def known(self) -> dict[str, Any]:
        """What scikit-learn keeps of columns."""
        return {"n_features_in_": len(self.names), "feature_names_in_": list(self.names)}

    @property
    def width(self) -> int:
        """How many numbers a record is, encoded."""
        return int(self.read({}).shape[1])

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The declared classes, in order; none if labels are numbers."""
        return tuple(self.target.classes.tolist()) if isinstance(self.target, ClassTarget) else ()

    def read(self, x: Mapping[Any, Any]) -> Array:
        """Return the one row of a record, encoded."""
        cells = self._cells(x)
        return cells if self.scaler is None else np.asarray(self.scaler.transform(cells))

    def read_plain(self, x: Mapping[Any, Any]) -> Array:
        """Return the one row of a record in the user's units, for coefficients in these."""
        cells = self._cells(x)
        return cells if self.scaler is None else self.scaler.plain(cells)

    def _cells(self, x: Mapping[Any, Any]) -> Array:
        if not isinstance(x, Mapping):
            raise InputTypeError(
                f"a record must be a dict of features; got {type(x).__name__}. Use partial_fit for "
                "arrays and data frames."
            )
        absent = self.absent if self.scaler is None else None
        cells = [x.get(name, absent) for name in self.names]
        if self.scaler is not None:
            row: Array = as_objects(cells)[None, :]
            return row
        try:
            return np.array([cells], dtype=np.float64) if _are_numbers(cells) else _read_all(cells)
        except OverflowError:
            return _read_all(cells)

    def read_label(self, y: Any) -> Vector | None:
        """Return the one label of a record; None if there are none."""
        if self.target is None:
            return None
        if type(y) in (bool, int, str) and (type(y), y) in self.signs:
            return self.signs[type(y), y]
        return self.target.read(as_objects([y]))


def _are_numbers(cells: list[Any]) -> bool:
    return {float, int, bool}.issuperset(map(type, cells))


def _read_all(cells: list[Any]) -> Array:
    return np.array([[number_of(cell) for cell in cells]])


def _find_signs(target: LabelTarget) -> dict[Any, Vector]:
    """Return how classes of plain types are read, which is most of them."""
    if not isinstance(target, ClassTarget):
        return {}
    return {
        (type(value), value): target.read(np.array([value], dtype=object))
        for value in target.classes.tolist()
        if type(value) in (bool, int, str)
    }


def _list_names(model: Reads) -> tuple[Any, ...]:
    if model.features is None:
        raise InputError(UNNAMED)
    return list_once(features=model.features)


def list_once(**named: Any) -> tuple[Any, ...]:
    """Return names, refusing one that comes twice."""
    ((what, names),) = named.items()
    listed = tuple(names)
    if not listed or len(set(listed)) != len(listed):
        raise InputError(f"{what} must be names, each of them once.")
    return listed
