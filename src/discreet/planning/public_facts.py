"""The public facts that a prediction rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn.base import clone

from discreet import _checks
from discreet._types import Json
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.errors import InputError, InputTypeError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.preprocessing import Category, Column, Numeric, declare_columns
from discreet.preprocessing.short_forms import Declared
from discreet.privacy import unit_named

MOST_EACH = 1000
"""Rows of a person that are simulated."""

USUAL_ACCURACY = 0.85
USUAL_R2 = 0.6
"""How well the target can be predicted if nobody says."""


@dataclass(frozen=True, eq=False)
class PublicFacts:
    """Columns, target, budget and a guess at how predictable the target is; no row of any table.

    Parameters
    ----------
    columns
        What is declared about each column: a dict from name to ``Numeric``, ``Category`` or a short
        form (``(18, 100)``, ``["a", "b"]``), or a list.
    classes
        The classes, for a classification.
    target_range
        The lowest and highest target, for a regression.
    delta, unit
        As for the estimators.
    signal
        The accuracy (or R2) that the best possible model would reach without privacy: 0.85 (0.6) if
        nobody says. A guess from the subject, or from published work; not from these data.
    majority
        The share of the most frequent class; the classes are equally frequent if None.
    estimator
        The model that is planned for, unfitted, with parameters of its own: a kernel model of
        :mod:`discreet.kernel`, say, with synthetic landmarks if any. Budget, columns and target are
        those of the facts. None for ``LinearClassifier`` or ``LinearRegressor``. For an
        :class:`~discreet.AdditiveClassifier` or ``AdditiveRegressor`` columns are taken to act in
        curves, and ``signal`` is what the best additive model would reach.
    rows_each
        About how many rows a person has, where the unit is a person: a guess, like the number of
        persons, which is then what ``n`` counts. Rows of one person are drawn like rows of many,
        so that more of them teach as much as they can; if they say much the same, expect less.
    contributions, rows_per_person
        As for the estimators, where the unit is a person.

    Examples
    --------
    >>> columns = {"age": Numeric(18, 100), "ward": Category(["a", "b", "c"])}
    >>> facts = PublicFacts(columns, classes=["ill", "well"])
    >>> facts.is_classification, facts.width, facts.signal
    (True, 4, 0.85)
    """

    columns: Declared
    classes: Sequence[Any] | None = None
    target_range: tuple[float, float] | None = None
    delta: float = 1e-9
    unit: str = "add_remove"
    signal: float | None = None
    majority: float | None = None
    estimator: Any = None
    rows_each: int = 1
    contributions: str = "share"
    rows_per_person: int | None = None

    def __post_init__(self) -> None:
        if (self.classes is None) == (self.target_range is None):
            raise InputError("declare either classes or target_range, and not both.")
        if self.estimator is not None:
            self._check_estimator()
        _checks.delta(delta=self.delta)
        unit = unit_named(self.unit)
        object.__setattr__(self, "unit", unit.name)
        _checks.whole(rows_each=self.rows_each, at_least=1, at_most=MOST_EACH)
        if self.rows_each > 1 and not unit.protects_persons:
            raise InputError(
                f"rows_each is for a unit of persons; got the unit {unit.name!r}, which counts "
                "rows. Leave it out."
            )
        _checks.positive(row_norm=self.row_norm)  # refuses columns that make no encoding
        usual = USUAL_ACCURACY if self.is_classification else USUAL_R2
        if self.signal is None:
            object.__setattr__(self, "signal", max(usual, (1 + self._least) / 2))
        _checks.fraction(signal=self.signal)
        if not self.is_classification:
            self._check_regression()
        if self.majority is not None:
            _checks.fraction(majority=self.majority)
            if not 1 / self.count <= self.majority < 1:
                raise InputError(
                    f"majority must be at least 1/{self.count}, the share of each class if all "
                    f"are as frequent, and below 1; got {self.majority}."
                )
        if not self._least < self.strength < 1:
            raise InputError(
                f"signal must lie above {self._least:.3g}, what a constant answer reaches, and "
                f"below 1; got {self.signal}."
            )

    def _check_estimator(self) -> None:
        kind = "classes" if self.is_classification else "target_range"
        known = isinstance(self.estimator, PrivateEstimator) and self.estimator.get_params(
            deep=False
        )
        if not known or not {"columns", kind, "rehearsal"} <= set(known):
            raise InputTypeError(
                f"estimator must be an estimator of this library that takes columns and {kind}; "
                f"got {type(self.estimator).__name__}."
            )

    def _check_regression(self) -> None:
        if self.majority is not None:
            raise InputError("majority is for classes; leave it out for a regression.")
        try:
            low, high = self.ends
        except (TypeError, ValueError):
            raise InputError("target_range must be two numbers, low and high.") from None
        Numeric(low, high)

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted, or a number."""
        return self.classes is not None

    @property
    def is_of_persons(self) -> bool:
        """Whether persons are counted, and protected, and not rows."""
        return unit_named(self.unit).protects_persons

    @property
    def counted(self) -> str:
        """What ``n`` is a number of, in words."""
        if not self.is_of_persons:
            return "rows"
        return "persons" if self.rows_each == 1 else f"persons of {self.rows_each:,} rows"

    @property
    def is_curved(self) -> bool:
        """Whether columns are taken to act in curves, and not in straight lines."""
        return isinstance(self.estimator, AdditiveEstimator)

    @property
    def score(self) -> str:
        """The name of what is predicted."""
        return "accuracy" if self.is_classification else "R2"

    @property
    def strength(self) -> float:
        """The signal, as a number."""
        return float(self.signal or 0.0)

    @cached_property
    def count(self) -> int:
        """How many classes there are; one for a regression."""
        if self.classes is None:
            return 1
        if isinstance(self.classes, str) or not isinstance(self.classes, Sequence):
            raise InputTypeError("classes must be a list.")
        if len(set(self.classes)) < 2 or len(set(self.classes)) != len(self.classes):
            raise InputError("classes must be at least two, all different.")
        return len(self.classes)

    @property
    def constant_score(self) -> float:
        """The score of a constant answer."""
        return self._least

    @property
    def _least(self) -> float:
        """What a constant answer reaches."""
        if not self.is_classification:
            return 0.0
        return 1 / self.count if self.majority is None else float(self.majority)

    @cached_property
    def stand_ins(self) -> list[Column]:
        """The columns in order, their levels numbered."""
        columns = declare_columns(self.columns)
        listed = columns.values() if isinstance(columns, dict) else columns
        return [
            Category(range(column.width)) if isinstance(column, Category) else column
            for column in listed
        ]

    @property
    def width(self) -> int:
        """How many features the columns become."""
        return sum(column.width for column in self.stand_ins)

    @cached_property
    def row_norm(self) -> float:
        """The largest Euclidean norm of an encoded row, without any intercept."""
        return DeclaredFeatures(self.columns).scaler.row_norm()

    @property
    def ends(self) -> tuple[float, float]:
        """The range of the target."""
        low, high = self.target_range or (-1.0, 1.0)
        return float(low), float(high)

    def model(
        self,
        epsilon: float,
        mechanism: str,
        seed: int,
        expected_rows: int | None = None,
        *,
        is_linear: bool = False,
    ) -> Any:
        """Return the estimator that would be fitted, for a simulation.

        Parameters
        ----------
        epsilon
            The budget of the fit.
        mechanism
            ``"auto"``, or a name among :data:`discreet.mechanisms.LEARNERS`.
        seed
            Of the seeded noise.
        expected_rows
            How many rows are expected, for a classifier; None for nobody knows.
        is_linear
            Whether it is to be the linear model, whatever is planned for.
        """
        plain = LinearClassifier() if self.is_classification else LinearRegressor()
        model = clone(plain if is_linear or self.estimator is None else self.estimator)
        told = {
            "epsilon": epsilon,
            "delta": self.delta,
            "unit": self.unit,
            "columns": self.stand_ins,
            "classes": list(range(self.count)) if self.is_classification else None,
            "target_range": self.ends,
            "expected_rows": expected_rows if self.is_classification else None,
            "mechanism": mechanism,
            "rehearsal": seed,
            "ledger": None,
            "verbose": 0,
        }
        if self.is_of_persons:
            told |= {
                "contributions": self.contributions,
                "rows_per_person": self.rows_per_person,
            }
        known = model.get_params(deep=False)
        return model.set_params(**{name: value for name, value in told.items() if name in known})

    def document(self) -> Json:
        """Return what is assumed, for JSON."""
        numbers = sum(not isinstance(column, Category) for column in self.stand_ins)
        return {
            "numeric_columns": numbers,
            "category_columns": len(self.stand_ins) - numbers,
            "features": self.width,
            "classes": self.count if self.is_classification else None,
            "target_range": None if self.is_classification else list(self.ends),
            "delta": self.delta,
            "unit": self.unit,
            "signal": self.signal,
            "majority": self.majority,
            **({} if self.estimator is None else {"model": type(self.estimator).__name__}),
            **(self._of_persons() if self.is_of_persons else {}),
        }

    def _of_persons(self) -> Json:
        names = ("rows_each", "contributions", "rows_per_person")
        return {name: getattr(self, name) for name in names}
