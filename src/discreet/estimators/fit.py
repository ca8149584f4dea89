"""One fit: what is accepted for it, and what is settled once and handed to every step."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from discreet.data.given_column import GivenColumn, column_of, family
from discreet.data.matrix import columns_of, hold_table
from discreet.data.source import Source
from discreet.errors import InputError, InputTypeError
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations
from discreet.estimators.targets import LearningTarget
from discreet.ledger import AbstractLedger, NoLedger
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.policy.task import Shape
from discreet.privacy import Budget, Unit


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that were accepted and not read, and what is declared of their labels."""

    rows: Source
    target: LearningTarget | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """What is public of one fit, before anything is asked of its rows."""

    features: FeatureMap
    target: LearningTarget | None
    shape: Shape
    budget: Budget
    unit: Unit

    def need_target(self) -> LearningTarget:
        """Return what is learnt from, of an estimator that learns from labels."""
        if self.target is None:
            raise InputError("this estimator learns from labels; pass them.")
        return self.target


def accept_target(model: Any, y: Any) -> GivenColumn:
    """Return labels or targets, of which nothing is read but their type."""
    if y is None:
        raise InputError(
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or family(y) == "dask" or sparse.issparse(y):
        return column_of(y, "y")
    columns = columns_of(y)
    if columns is None:
        held = np.asarray(y) if isinstance(y, np.matrix) else hold_table(y, "y")
        columns = [held[:, 0]]
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; use y.ravel().",
        DataConversionWarning,
        stacklevel=6,
    )
    return column_of(columns[0], "y")


def check_lengths(rows: int, labels: int) -> None:
    """Refuse rows and labels of different number, without saying which."""
    if rows != labels:
        raise InputError("X and y must have as many rows as one another.")


def is_count_told(budget: Budget, unit: Unit, ledger: AbstractLedger | None) -> bool:
    """Say whether the number of rows may be used before anything is paid.

    An infinite budget promises nothing. But a ledger refuses it, and what is said until then must
    tell nothing of the rows.
    """
    return unit.rows_are_public or is_free(budget, ledger)


def is_free(budget: Budget, ledger: AbstractLedger | None) -> bool:
    """Say whether nothing is promised and no ledger will refuse that."""
    return not budget.is_private and (ledger is None or isinstance(ledger, NoLedger))


def noise_from(rehearsal: Any) -> Noise:
    """Return the operating system's noise, or seeded noise for a simulation."""
    if rehearsal is None:
        return SystemNoise()
    if isinstance(rehearsal, bool) or not isinstance(rehearsal, Integral):
        raise InputTypeError(
            "rehearsal must be None (private) or a whole number (the seed of a simulation)."
        )
    return RehearsalNoise(int(rehearsal))


class _Parameter(NamedTuple):
    """What a parameter declares, in words, and how it may be written."""

    meaning: str
    example: str


_PARAMETERS = {
    "columns": _Parameter(
        "what each column can hold",
        'columns={"age": Numeric(18, 100), "sex": Category(["f", "m"])}',
    ),
    "data_norm": _Parameter("the largest Euclidean norm of a row", "data_norm=5.0"),
    "entry_bound": _Parameter("the largest entry of a row", "entry_bound=1.0"),
    "data_range": _Parameter("the lowest and highest entry of a row", "data_range=(0, 1)"),
    "horizon": _Parameter("how many records there will be, at most", "horizon=100_000"),
    "experts": _Parameter("who is to be followed", 'experts=["mean", "last week", "model"]'),
    "loss_range": _Parameter("the least and the largest loss", "loss_range=(0, 1)"),
    "bounds": _Parameter("what the numbers of a block are clipped to", "bounds=(-1, 1)"),
    "classes": _Parameter("the classes", 'classes=["no", "yes"]'),
    "estimator": _Parameter("what is fitted", "estimator=LogisticRegression(data_norm=5.0)"),
    "param_grid": _Parameter("what is chosen among", 'param_grid={"C": [0.01, 0.1]}'),
    "param_distributions": _Parameter(
        "what candidates are drawn from", 'param_distributions={"C": [0.01, 0.1, 1.0]}'
    ),
    "procedure": _Parameter("what chooses columns on a block", "procedure=SelectKBest(k=5)"),
    "proposal": _Parameter("how far one record may move a median", "proposal=0.1"),
    "target_range": _Parameter("the lowest and highest target", "target_range=(0, 100)"),
}


class Declaring(Protocol):
    """An estimator that says which of its parameters have to be declared."""

    must_declare: ClassVar[Declarations]


def refuse_undeclared(model: Declaring) -> None:
    """Refuse a model of which something is not declared, and say what is missing, all at once.

    Examples
    --------
    >>> from discreet.linear_model import Ridge
    >>> refuse_undeclared(Ridge())
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: Ridge must be told columns (what each column can hold) or ...
    """
    missing = [
        ways for ways in model.must_declare if all(getattr(model, way) is None for way in ways)
    ]
    if not missing:
        return
    name = type(model).__name__
    wanted = ", and ".join(
        " or ".join(f"{way} ({_PARAMETERS[way].meaning})" for way in ways) for ways in missing
    )
    call = ", ".join(_PARAMETERS[ways[0]].example for ways in missing)
    raise InputError(
        f"{name} must be told {wanted}; it is not guessed, and not read from the rows. Declare it "
        f"from what you know, as in {name}({call})."
    )
