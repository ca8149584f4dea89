"""Built-in synthetic tables for demonstrations; nobody in them exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array
from discreet.declared import Bounds
from discreet.geometry import Box


@dataclass(frozen=True, eq=False)
class Table:
    """Columns with names and declared ranges."""

    names: tuple[str, ...]
    values: Array
    ranges: Box

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.ranges, n_features=len(self.names))


def hospital(patients: int = 5000, seed: int = 0) -> Table:
    """Return a table of made-up hospital patients, with ranges a clinician would declare.

    Examples
    --------
    >>> table = hospital(patients=3)
    >>> table.values.shape, table.names[0]
    ((3, 5), 'age')
    """
    generator = np.random.default_rng(seed)
    age = np.clip(generator.normal(58, 17, patients), 18, 100)
    stay = np.clip(generator.gamma(2.0, 2.2, patients), 0.5, 30)
    pressure = np.clip(generator.normal(105 + 0.45 * age, 15, patients), 80, 220)
    mass_index = np.clip(generator.normal(27, 5, patients), 15, 60)
    glucose = np.clip(generator.lognormal(np.log(104) + 0.004 * (mass_index - 27), 0.22), 50, 400)
    return Table(
        names=("age", "stay_days", "systolic", "bmi", "glucose"),
        values=np.column_stack([age, stay, pressure, mass_index, glucose]),
        ranges=Box([18, 0, 80, 15, 50], [100, 30, 220, 60, 400]),
    )
