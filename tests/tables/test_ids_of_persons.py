"""A column of ids that a schema names: read beside the rows, never a feature, and never split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from discreet import tables
from discreet.errors import InputError
from discreet.preprocessing import Numeric
from discreet.schema import Schema, Target

COLUMNS, ILL = {"age": Numeric(0, 100)}, Target("ill", "classification", ("no", "yes"))
PERSONS = Schema(COLUMNS, ILL, person="patient")
IDS = [7, 7, 30, 4, 30, 30, 4, 9]


@pytest.fixture(params=["csv", "parquet"])
def path(tmp_path, request):
    frame = pd.DataFrame({"age": np.arange(8.0), "patient": IDS, "ill": ["no", "yes"] * 4})
    path = tmp_path / f"stays.{request.param}"
    getattr(frame, f"to_{request.param}")(path, index=False)
    return path


def test_ids_are_handed_to_a_fit_and_are_no_feature(path):
    given = tables.open_table(path, PERSONS).fit_arguments()
    if path.suffix == ".csv":
        assert [*map(int, given["groups"].expand())] == IDS
        assert given["X"].columns == ("age",)
    else:
        assert (given["groups"], given["target"]) == ("patient", "ill")


def test_rows_to_predict_need_no_ids(path):
    assert tables.open_table(path, PERSONS, with_target=False).fit_arguments().keys() == {"X"}
    unnamed = Schema(COLUMNS, ILL, person="case")
    with pytest.raises(InputError, match="'case', which the schema declares, is missing"):
        tables.open_table(path, unnamed)
    with pytest.raises(InputError, match="not in the schema"):
        tables.open_table(path, unnamed, with_target=False)


def test_an_empty_cell_is_no_id_and_ids_are_read_as_they_are_written(tmp_path):
    path = tmp_path / "stays.csv"
    path.write_text("age,patient,ill\n1,007,no\n2,7,no\n3,,yes\n4, ,yes\n5,NA,no\n")
    groups = tables.open_table(path, PERSONS).fit_arguments()["groups"].expand()
    assert list(groups) == ["007", "7", None, None, "NA"]


@pytest.mark.parametrize("test", [0.3, 0.7])
def test_all_rows_of_a_person_fall_on_one_side(path, test, tmp_path):
    table = tables.open_table(path, PERSONS)
    sides = tables.declared_sides(PERSONS, test, b"key")
    kept = [tables.read_side(table, sides, test=side) for side in (False, True)]
    ids = [[*map(int, rows.groups.expand())] for rows in kept]
    assert sorted(ids[0] + ids[1]) == sorted(IDS)
    assert not set(ids[0]) & set(ids[1])
    out = [tmp_path / "train.csv", tmp_path / "test.csv"]
    tables.split_table(table, sides, out)
    assert [pd.read_csv(each)["patient"].tolist() for each in out] == ids
    again = [tmp_path / "one.csv", tmp_path / "two.csv"]
    tables.split_table(table, sides, again, person="patient")
    assert [each.read_text() for each in again] == [each.read_text() for each in out]


def test_a_split_does_not_part_the_rows_of_a_person(path, tmp_path):
    out = [tmp_path / "train.csv", tmp_path / "test.csv"]
    sides = tables.declared_sides(PERSONS, 0.5)
    with pytest.raises(InputError, match="one person's rows would lie on both sides"):
        tables.split_table(tables.open_table(path, PERSONS), sides, out, person="age")
    replaced = Schema(COLUMNS, ILL, person="patient", unit="replace_person")
    with pytest.raises(InputError, match="a replaced person may change sides"):
        tables.declared_sides(replaced, 0.5)
