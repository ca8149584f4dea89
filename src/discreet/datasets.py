"""A built-in synthetic table for demonstrations; nobody in it exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discreet.preprocessing import Category, Column, Numeric

__all__ = ["HOSPITAL", "HospitalTable", "hospital", "hospital_stays"]

WARDS = ("surgery", "medicine", "cardiology", "oncology")
HOMES = ("home", "home with care", "nursing home")
ARRIVALS = ("planned", "urgent")

HOSPITAL: Mapping[str, Column] = {
    "age": Numeric(18, 100),
    "stay_days": Numeric(0, 30),
    "earlier_stays": Numeric(0, 8),
    "medicines": Numeric(0, 25),
    "haemoglobin": Numeric(6, 18),
    "sodium": Numeric(120, 150),
    "arrival": Category(ARRIVALS),
    "ward": Category(WARDS),
    "goes_to": Category(HOMES),
}
"""What a clinician would declare without opening the table."""


@dataclass(frozen=True, eq=False)
class HospitalTable:
    """Rows of numbers and text, a label for each, and what is declared about the columns.

    Parameters
    ----------
    columns
        What is declared about each column, by name and in the order of ``X``.
    X
        One row a stay: numbers and text, NaN where nothing was measured.
    y
        Whether the patient was back in hospital within 90 days.
    patients
        Whose stay each row is, by number; None if nobody says.

    Examples
    --------
    >>> table = hospital(patients=3)
    >>> dict(zip(table.columns, table.X[0]))["ward"] in WARDS
    True
    >>> table.patients
    array([0, 1, 2])
    """

    columns: Mapping[str, Column]
    X: NDArray[Any]
    y: NDArray[np.bool_]
    patients: NDArray[np.int64] | None = None


def hospital(patients: int = 20_000, seed: int = 0) -> HospitalTable:
    """Return synthetic patients, one stay of each; the label is whether one was back in 90 days.

    The log-odds of coming back are a sum over the columns, straight in each but age: those near 55
    come back least. A few measurements are missing and a few
    values lie outside their declared range, as in life.

    Examples
    --------
    >>> table = hospital(patients=3)
    >>> table.X.shape, table.y.shape, list(table.columns)[:2]
    ((3, 9), (3,), ['age', 'stay_days'])
    """
    generator = np.random.default_rng(seed)
    frailty = generator.normal(size=patients)
    age = np.clip(generator.normal(66, 15, patients), 18, 104).round()
    return _draw_stays(generator, np.arange(patients), frailty, age)


def hospital_stays(patients: int = 5_000, seed: int = 0) -> HospitalTable:
    """Return several stays of each of some patients, with the columns of :func:`hospital`.

    The frailer a patient, the more stays: three on average, more than twenty of a few. The stays of
    one say much the same.

    Examples
    --------
    >>> table = hospital_stays(patients=1000)
    >>> counts = np.bincount(table.patients)
    >>> int(counts.min()), bool(2.5 < counts.mean() < 3.5), bool(counts.max() > 15)
    (1, True, True)
    """
    generator = np.random.default_rng(seed)
    frailty = generator.normal(size=patients)
    age = np.clip(generator.normal(66, 15, patients), 18, 104).round()
    whose = np.repeat(np.arange(patients), 1 + generator.poisson(np.exp(0.3 + 0.9 * frailty)))
    generator.shuffle(whose)
    return _draw_stays(generator, whose, frailty[whose], age[whose])


def _draw_stays(
    generator: np.random.Generator,
    whose: NDArray[np.int64],
    frailty: NDArray[np.float64],
    age: NDArray[np.float64],
) -> HospitalTable:
    """Draw what is known of stays, of patients whose frailty and age are known."""
    stays = whose.size
    stay = np.clip(generator.gamma(2.0, 2.6 * np.exp(0.25 * frailty)), 0.5, 60).round(1)
    earlier = generator.poisson(np.exp(0.1 + 0.6 * frailty))
    medicines = generator.poisson(np.maximum(3 + 0.09 * age + 2 * frailty, 1))
    haemoglobin = generator.normal(12.6 - 0.6 * frailty, 1.7).round(1)
    sodium = generator.normal(138 - 0.5 * frailty, 4).round()
    urgent = generator.random(stays) < 0.55
    ward = generator.choice(len(WARDS), stays, p=[0.30, 0.40, 0.18, 0.12])
    needs_care = generator.random(stays) < 0.25 + 0.02 * (age - 66)
    needs_more = generator.random(stays) < 0.15 + 0.1 * frailty
    goes_to = needs_care.astype(int) + needs_more
    log_odds = (
        -1.17
        + 0.0012 * (age - 55) ** 2
        + 0.07 * (np.minimum(stay, 30) - 5)
        + 0.55 * (np.minimum(earlier, 8) - 1.3)
        + 0.06 * (medicines - 9)
        - 0.25 * (haemoglobin - 12.6)
        - 0.06 * (sodium - 138)
        + 0.7 * (urgent - 0.5)
        + np.array([-0.4, 0.0, 0.3, 0.8])[ward]
        + np.array([-0.2, 0.2, 0.6])[goes_to]
    )
    came_back = generator.random(stays) < expit(log_odds)
    not_measured = generator.random(stays) < 0.03
    cells = (
        age,
        stay,
        earlier,
        medicines,
        np.where(not_measured, np.nan, haemoglobin),
        sodium,
        np.array(ARRIVALS)[urgent.astype(int)],
        np.array(WARDS)[ward],
        np.array(HOMES)[goes_to],
    )
    X = np.empty((stays, len(cells)), dtype=object)
    for place, column in enumerate(cells):
        X[:, place] = column
    return HospitalTable(HOSPITAL, X, came_back, whose)
