"""What the owner of a table is told before a budget is spent, at every door; and that it stays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import discreet
from discreet import Budget, LinearClassifier, LinearRegressor, MemoryLedger
from discreet.data.frame import Coded, Frame
from discreet.errors import InputError, InputTypeError, PrivacyError
from discreet.estimators import all_estimators
from discreet.inspection.findings import NOTE, SERIOUS, WARNING
from discreet.linear_model import LogisticRegression, LowRankRegressor, SimplexRegression
from discreet.location import Median
from discreet.preprocessing import Category, Numeric

N = 1200

COLUMNS = {
    "age": Numeric(18, 100),
    "stay": Numeric(0, 365),
    "ward": Category(["surgery", "medicine"]),
    "same": Numeric(0, 2),
}
PLACE = np.arange(N)
AGE = np.where(PLACE % 10 == 0, 17.0, np.where(PLACE % 4 == 1, 120.0, 18.0 + PLACE % 80))
AGE[:12] = np.nan
CELLS = {
    "age": AGE,
    "stay": (PLACE % 30).astype(float),
    "ward": np.where(PLACE % 3 == 0, "Surgery", "medicine"),
    "same": np.ones(N),
}
LABELS = np.where(PLACE % 4 == 0, "Yes", "no")
WHOSE = PLACE // 2
ONES = np.ones((N, 1))
TWO_CLASSES = LogisticRegression(classes=[0, 1], data_norm=1.0)
MODEL = LinearClassifier(columns=COLUMNS, classes=["no", "yes"])


def pandas_frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(CELLS)


def in_pandas(tmp_path):
    return discreet.check(MODEL, pandas_frame(), LABELS, person=WHOSE)


def in_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: cells.tolist() for name, cells in CELLS.items()})
    return discreet.check(MODEL, frame, LABELS, person=WHOSE)


def in_arrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    return discreet.check(MODEL, pyarrow.table(CELLS), LABELS, person=pyarrow.array(WHOSE))


def in_an_array(tmp_path):
    model = LinearClassifier(columns=list(COLUMNS.values()), classes=["no", "yes"])
    array = np.empty((N, len(CELLS)), dtype=object)
    for place, cells in enumerate(CELLS.values()):
        array[:, place] = cells.tolist()
    return discreet.check(model, array.tolist(), LABELS.tolist(), person=WHOSE.tolist())


def in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({**CELLS, "back": LABELS, "whose": WHOSE})
    for start in range(0, N, 500):
        parquet.write_table(table.slice(start, 500), tmp_path / f"{start}.parquet")
    return discreet.check(MODEL, tmp_path, target="back", person="whose")


def in_dask(tmp_path):
    dataframe = pytest.importorskip("dask.dataframe")
    frame = pandas_frame().assign(back=LABELS, whose=WHOSE)
    parts = dataframe.from_pandas(frame, npartitions=3)
    return discreet.check(MODEL, parts, target="back", person="whose")


def in_dask_with_labels_beside(tmp_path):
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.from_pandas(pandas_frame().assign(back=LABELS, whose=WHOSE), npartitions=3)
    return discreet.check(MODEL, frame[[*CELLS, "whose"]], frame["back"], person="whose")


def in_columns(tmp_path):
    levels, places = np.unique(CELLS["ward"], return_inverse=True)
    coded = Coded(levels.astype(object), places)
    return discreet.check(MODEL, Frame({**CELLS, "ward": coded}), LABELS, person=WHOSE)


DOORS = [
    in_pandas,
    in_polars,
    in_arrow,
    in_an_array,
    in_parquet,
    in_dask,
    in_dask_with_labels_beside,
    in_columns,
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_door_finds_the_same(door, tmp_path):
    found = door(tmp_path)
    age, stay, ward, same = found.columns()
    # 120 cells of 17 less two that are missing, 300 of 120 less three, and 12 missing ones.
    assert (np.sum(AGE < 18), np.sum(AGE > 100)) == (118, 297)
    assert age[2:] == ("9.8 %", "25 %", "1 %", "")
    assert stay[2:] == ("0 %", "0 %", "0 %", "")
    assert ward[2:] == ("", "", "0 %", "33 %")
    grades = {(one.where, one.severity) for one in found}
    names = [line[0] for line in (age, stay, ward, same)]
    assert grades == {
        ("the target", SERIOUS),
        (names[0], SERIOUS),
        (names[0], WARNING),
        (names[0], NOTE),
        (names[1], SERIOUS),
        (names[2], SERIOUS),
        (names[3], WARNING),
        ("persons", SERIOUS),
    }
    text = str(found)
    assert "'Yes' (25 %, did you mean 'yes'?)" in text
    assert "'Surgery' (33 %, did you mean 'surgery'?)" in text
    assert "600 persons have 2 rows on average and 2 at most; 600 have more than 1." in text
    assert "98 % of the values lie within 8" in text


def test_what_is_found_is_shown_and_never_stored(tmp_path):
    found = in_columns(tmp_path)
    assert repr(found).startswith("AS PRIVATE AS THE TABLE")
    page = found._repr_html_()
    assert "AS PRIVATE AS THE TABLE" in page
    assert "&#x27;Yes&#x27;" in page
    for keep in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(PrivacyError, match="as private as the table"):
            keep(found)


def test_neither_the_model_nor_its_ledger_is_touched():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    model = LinearClassifier(columns=COLUMNS, classes=["no", "yes"], ledger=ledger)
    before = dict(vars(model))
    discreet.check(model, Frame(CELLS), LABELS)
    assert vars(model) == before
    assert model.ledger is ledger
    assert ledger.history() == ()


def test_a_sound_table_is_no_reason_to_refuse():
    model = LinearClassifier(columns={"age": Numeric(18, 100)}, classes=["no", "yes"])
    rows = Frame({"age": 18.0 + PLACE % 80})
    found = discreet.check(model, rows, np.where(PLACE % 2, "no", "yes"))
    assert not found.is_serious
    assert len(found) == 0
    assert "1,200 rows: nothing that speaks against a fit." in str(found)


def test_zeros_and_few_ones_do_not_make_a_range_too_wide():
    model = LinearClassifier(columns={"rare": Numeric(0, 1)}, classes=[0, 1])
    rows = Frame({"rare": (PLACE == 5).astype(float)})
    assert not discreet.check(model, rows, PLACE % 2).is_serious


def test_a_few_outliers_leave_it_open_whether_a_range_is_too_wide():
    model = LinearClassifier(columns={"stay": Numeric(0, 1000)}, classes=[0, 1])
    rows = Frame({"stay": np.where(PLACE < 3, 900.0, PLACE % 30)})
    (found,) = discreet.check(model, rows, PLACE % 2)
    assert found.severity == WARNING
    assert "ten times too wide" in found.advice


def test_raw_columns_against_a_norm_of_one_are_told():
    rows = np.column_stack([40.0 + PLACE % 30, PLACE % 7])
    found = discreet.check(LogisticRegression(classes=[0, 1], data_norm=1.0), rows, PLACE % 2)
    (serious,) = (one for one in found if one.is_serious)
    assert "100 % of the rows are longer than the declared norm" in serious.what


def test_a_norm_that_is_ten_times_too_large_is_told():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(N, 2))
    found = discreet.check(LogisticRegression(classes=[0, 1], data_norm=30.0), rows, PLACE % 2)
    assert found.is_serious
    assert "ten times too large" in str(found)


def test_rows_with_a_missing_cell_are_counted_as_a_fit_counts_them():
    rows = np.ones((N, 2)) / 2
    rows[:300, 0] = np.nan
    rows[200:400, 1] = np.inf
    found = discreet.check(LogisticRegression(classes=[0, 1], data_norm=1.0), rows, PLACE % 2)
    assert "33 % of the rows hold a cell that is missing" in str(found)


def test_sparse_rows_are_measured_as_dense_ones_are():
    dense = np.random.default_rng(0).normal(size=(N, 5)) * (PLACE % 3 == 0)[:, None]
    model = LogisticRegression(classes=[0, 1], data_norm=1.0)
    whole, thin = (
        discreet.check(model, rows, PLACE % 2) for rows in (dense, sparse.csr_array(dense))
    )
    assert [one for one in whole if one.where == "rows"] == list(thin)


def test_types_that_contradict_the_schema_are_all_named_at_once():
    pandas = pytest.importorskip("pandas")
    wrong = {"age": Category(["a", "b"]), "ward": Numeric(0, 1)}
    model = LinearClassifier(columns=wrong, classes=[0, 1])
    frame = pandas.DataFrame({"age": CELLS["age"], "ward": CELLS["ward"]})
    found = discreet.check(model, frame, LABELS)
    assert [one.where for one in found if one.is_serious] == ["age", "ward", "the target"]


def test_text_among_numbers_is_shown_to_the_owner():
    cells = np.array([40, "unknown", "61", None] * 300, dtype=object)[:, None]
    model = LinearClassifier(columns=[Numeric(18, 100)], classes=[0, 1])
    text = str(discreet.check(model, cells, PLACE % 2))
    assert "25 % of the cells are no numbers: 'unknown'." in text
    assert "25 % of the cells are missing." in text


@pytest.mark.parametrize(
    ("model", "rows", "labels", "said"),
    [
        (Median(bounds=(0, 10)), np.full((N, 1), 11.0), None, "lie above 10"),
        (LinearRegressor(columns=[Numeric(0, 1)], target_range=(0, 1)),
         PLACE[:, None] / N, PLACE / 10, "of the cells lie above 1"),
        (SimplexRegression(data_range=(0, 10), target_range=(0, 1)),
         PLACE[:, None] / N, PLACE / N, "% of the declared range, 0 to 10;"),
        (LowRankRegressor(data_norm=1.0), np.ones((N, 2)) / 2, np.ones((N, 2)),
         "the target: 100 % of the rows"),
        (LogisticRegression(data_norm=1.0), ONES, PLACE % 2, "classes are not declared"),
        (TWO_CLASSES, ONES, PLACE % 100 == 0, "1 is rare"),
        (LogisticRegression(classes=[0, 1], data_norm=1.0, max_rows=100), ONES, PLACE % 2,
         "the first are used"),
        (TWO_CLASSES, ONES[:9], PLACE[:9] % 2, "there are 9 rows"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_each_estimator_declares_is_looked_at(model, rows, labels, said):
    assert said in str(discreet.check(model, rows, labels))


def test_rows_of_a_person_as_many_as_promised_are_in_order():
    model = LinearClassifier(columns={"age": Numeric(0, 80)}, classes=[0, 1])
    rows = Frame({"age": (PLACE % 80).astype(float)})
    found = discreet.check(model, rows, PLACE % 2, person=WHOSE, rows_per_person=2)
    assert [one.severity for one in found if one.where == "persons"] == [NOTE]
    unnamed = np.where(PLACE % 2, None, WHOSE)
    found = discreet.check(model, rows, PLACE % 2, person=unnamed)
    assert "of 50 % of the rows it is not said whose they are" in str(found)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "said"),
    [
        (("model", [[1.0]]), {}, InputTypeError, "must be an estimator of this library"),
        ((MODEL, [[1.0]] * 4, [1] * 4), {}, InputTypeError, "X must be a data frame"),
        ((MODEL, Frame(CELLS)), {}, InputError, "requires y to be passed"),
        ((MODEL, Frame(CELLS), LABELS), {"target": "back"}, InputError, "target names a column"),
        ((MODEL, Frame(CELLS), LABELS[:5]), {}, InputError, "as many rows"),
        ((MODEL, Frame(CELLS), LABELS), {"person": [1]}, InputError, "as many rows"),
        ((MODEL, Frame(CELLS), LABELS), {"rows_per_person": 0}, InputError, "rows_per_person"),
        ((MODEL, "nowhere.parquet"), {"target": "back"}, (InputError, OSError), "nowhere"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_arguments_are_refused_in_a_sentence(arguments, options, error, said):
    with pytest.raises(error, match=said):
        discreet.check(*arguments, **options)


DECLARED = {
    "entry_bound": 1.0,
    "data_norm": 1.0,
    "bounds": (0.0, 1.0),
    "target_range": (0.0, 1.0),
    "classes": [0, 1],
}


@pytest.mark.parametrize("kind", all_estimators(), ids=lambda kind: kind.__name__)
def test_every_estimator_can_be_checked(kind):
    model = kind()
    known = model.get_params()
    model.set_params(**{name: value for name, value in DECLARED.items() if name in known})
    if ("columns",) in kind.must_declare:
        model.set_params(columns=[Numeric(0, 1)] * 2)
    rows = np.random.default_rng(0).uniform(size=(200, 2)) / 2
    assert discreet.check(model, rows, PLACE[:200] % 2).rows == 200
