"""The synthetic table is what its words say."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.datasets import hospital, hospital_stays
from discreet.preprocessing import BoundedScaler, Category, Numeric


@pytest.fixture(scope="module")
def table():
    return hospital()


def test_the_same_seed_gives_the_same_patients_and_another_seed_others():
    first, again, other = hospital(50), hospital(50), hospital(50, seed=1)
    np.testing.assert_array_equal(first.X.astype(str), again.X.astype(str))
    np.testing.assert_array_equal(first.y, again.y)
    assert (first.X.astype(str) != other.X.astype(str)).any()


def test_there_is_one_declared_column_for_each_column_of_the_table(table):
    assert table.X.shape == (20_000, len(table.columns))
    assert table.y.shape == (20_000,)
    assert table.y.dtype == bool


def test_numbers_mostly_lie_within_their_declared_range(table):
    for cells, column in zip(table.X.T, table.columns.values(), strict=True):
        if isinstance(column, Numeric):
            numbers = cells.astype(float)
            inside = (column.low <= numbers) & (numbers <= column.high)
            assert inside[~np.isnan(numbers)].mean() > 0.98


def test_every_declared_level_occurs_and_no_other(table):
    for cells, column in zip(table.X.T, table.columns.values(), strict=True):
        if isinstance(column, Category):
            assert set(cells) == set(column.levels)


def test_some_measurements_are_missing_and_some_are_out_of_range(table):
    names = list(table.columns)
    haemoglobin = table.X[:, names.index("haemoglobin")].astype(float)
    assert 0.02 < np.isnan(haemoglobin).mean() < 0.04
    assert table.X[:, names.index("age")].max() > table.columns["age"].high


def test_the_label_can_be_learnt_but_not_perfectly(table):
    from sklearn.linear_model import LogisticRegression

    rows = BoundedScaler(list(table.columns.values()), data_norm=None).transform(table.X)
    accuracy = (
        LogisticRegression(C=10)
        .fit(rows[:15_000], table.y[:15_000])
        .score(rows[15_000:], table.y[15_000:])
    )
    assert 0.6 < 1 - table.y.mean() < 0.68
    assert 0.73 < accuracy < 0.80


def test_frail_patients_have_more_stays_and_a_patient_keeps_an_age():
    table = hospital_stays(1000)
    counts = np.bincount(table.patients)
    assert (counts.min(), counts.size) == (1, 1000)
    assert 2.5 < counts.mean() < 3.5
    assert counts.max() > 15
    ages = table.X[:, 0].astype(float)
    assert len({*zip(table.patients.tolist(), ages.tolist(), strict=True)}) == 1000
    assert (np.diff(table.patients) < 0).any()  # in no order that says whose they are
    assert list(hospital(5).patients) == [0, 1, 2, 3, 4]
    back = np.bincount(table.patients, table.y) / counts
    assert np.corrcoef(back, counts)[0, 1] > 0.1
