"""A numeric column whose range is sought, as a fit encodes it until the range is found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, TypeGuard

import numpy as np
from scipy import sparse

from discreet._types import Array, Vector
from discreet.errors import PrivacyError
from discreet.geometry.norms import Csr
from discreet.preprocessing.columns import Cells, Column, Numeric, read_numbers
from discreet.questions.sought_ranges import write_places


def is_sought(column: Column) -> TypeGuard[Numeric]:
    """Say whether the range of a column is to be found by a fit.

    Examples
    --------
    >>> is_sought(Numeric(0, 10)), is_sought(Numeric(None, None, public_bounds=(0, 10)))
    (False, True)
    """
    return isinstance(column, Numeric) and column.public_bounds is not None


@dataclass(frozen=True)
class SoughtColumn(Column):
    """Numbers by their place within public bounds; what is missing is told from all of them.

    A declared fill stands for what is missing from the beginning.

    Examples
    --------
    >>> column = SoughtColumn(Numeric(None, None, public_bounds=(0, 10)))
    >>> column.encode(np.array([2.5, 99.0, np.nan]), centred=True).ravel().tolist()
    [-0.25, 0.5, 1.0]
    """

    declared: Numeric

    @property
    def words(self) -> str:
        return self.declared.words

    @property
    def width(self) -> int:
        return 1

    def names(self, name: str) -> list[str]:
        return [name]

    def mass(self, order: int, *, centred: bool) -> Fraction:
        return Fraction(1)

    def encode(self, cells: Cells, *, centred: bool) -> Array:
        numbers = read_numbers(cells)
        is_known = np.isfinite(numbers) | (self.declared.fill is not None)
        return write_places(self.declared.encode(numbers, centred=centred), is_known[:, None])

    def encode_sparse(self, cells: Cells) -> Csr:
        return sparse.csr_array(self.encode(cells, centred=False))

    def plain(self, cells: Cells) -> Array:
        self._refuse()

    def origin(self) -> Vector:
        self._refuse()

    def fold(self, coef: Array, *, centred: bool) -> tuple[Array, Array]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise PrivacyError("a column has no units of its own before its range is found.")
