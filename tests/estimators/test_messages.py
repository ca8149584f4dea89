"""What a newcomer gets wrong, or has in another form, and what is said or done then."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV

from discreet import Budget, LinearClassifier, MemoryLedger
from discreet.errors import CalibrationError, InputError, InputTypeError, PrivacyError
from discreet.ledger import Ledger
from discreet.linear_model import LogisticRegression, Ridge
from discreet.location import GeometricMedian, Location, Median, Quantile, Threshold
from discreet.losses import Huber
from discreet.preprocessing import Numeric

VALUES = np.random.default_rng(0).uniform(0, 1, size=300)
COLUMN = VALUES[:, None]
SIDES = (VALUES > 0.5).astype(int)
WORDS = np.where(VALUES > 0.5, "ill", "well")


# Columns by themselves

VECTORS = {
    "array": VALUES,
    "list": VALUES.tolist(),
    "tuple": tuple(VALUES.tolist()),
    "pandas": pd.Series(VALUES, name="age"),
    "unnamed": pd.Series(VALUES),
    "polars": pl.Series("age", VALUES),
    "objects": VALUES.astype(object),
}


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize(
    "model",
    [
        Median(bounds=(0, 1), rehearsal=1),
        Quantile(0.2, bounds=(0, 1), rehearsal=1),
        Location(Huber(0.1), bounds=(0, 1), rehearsal=1),
        GeometricMedian(radius=1.0, rehearsal=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_one_number_a_record_is_a_column(model, vector):
    expected = model.fit(COLUMN).location_.copy()
    np.testing.assert_array_equal(model.fit(vector).location_, expected)
    assert model.n_features_in_ == 1


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_so_it_is_for_a_threshold(vector):
    model = Threshold(bounds=(0, 1), classes=[0, 1], rehearsal=1)
    assert model.fit(vector, SIDES).threshold_ == model.fit(COLUMN, SIDES).threshold_


def test_a_series_is_a_table_of_one_column_for_every_model():
    ages = pd.Series(VALUES, name="age")
    columns = LinearClassifier(columns={"age": Numeric(0, 1)}, classes=[0, 1]).fit(ages, SIDES)
    plain = Ridge(data_norm=1.0, target_range=(0, 1)).fit(ages, VALUES)
    for model in (columns, plain):
        assert model.feature_names_in_.tolist() == ["age"]
        assert model.predict(ages).shape == VALUES.shape


def test_an_odd_cell_of_a_list_is_a_fixed_one_as_ever():
    assert np.isfinite(Median(bounds=(0, 1)).fit([*VALUES.tolist(), "x", None]).location_).all()


def test_a_vector_without_a_name_may_be_a_row_and_is_refused_where_rows_are_meant():
    with pytest.raises(InputError, match=r"reshape\(-1, 1\)"):
        Ridge(data_norm=1.0, target_range=(0, 1)).fit(VALUES, VALUES)


# Labels


@pytest.mark.parametrize(
    "labels",
    [
        np.where(VALUES < 0.1, np.nan, SIDES),
        pd.Series(SIDES, dtype="Int64").mask(VALUES < 0.1),
        pd.Series(WORDS).mask(VALUES < 0.1),
        pd.Series(WORDS).mask(VALUES < 0.1).astype("category"),
        pl.Series(np.where(VALUES < 0.1, None, WORDS).tolist()),
    ],
    ids=["nan", "nullable", "objects", "categorical", "polars"],
)  # fmt: skip
def test_missing_labels_are_no_class_where_none_is_declared(labels):
    found = LogisticRegression(data_norm=1.0).fit(COLUMN, labels).classes_.tolist()
    assert found in ([0, 1], ["ill", "well"])


@pytest.mark.parametrize("labels", [np.full(300, np.nan), np.full(300, None, dtype=object)])
def test_nothing_but_missing_labels_asks_for_classes(labels):
    with pytest.raises(InputError, match=r"two classes; .*Declare them with classes="):
        LogisticRegression(data_norm=1.0).fit(COLUMN, labels)


# Files


@pytest.mark.parametrize("name", ["patients.csv", "PATIENTS.CSV"])
def test_a_csv_file_without_declared_columns_says_how_it_is_read(name, tmp_path):
    (tmp_path / name).write_text("age\n0.5\n")
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    for place in (str(tmp_path / name), tmp_path / name):
        with pytest.raises(InputError, match=r"columns=.*`discreet fit`.*pandas\.read_csv"):
            Median(bounds=(0, 1), ledger=ledger).fit(place)
    assert ledger.history() == ()


@pytest.mark.parametrize("name", ["patients.csv.gz", "a/b.tsv", "20*.csv"])
def test_the_name_of_other_text_says_which_is_read(name, tmp_path):
    for place in (name, tmp_path / name):
        with pytest.raises(InputError, match=r"one \.csv file at a time.*pandas\.read_csv"):
            Median(bounds=(0, 1)).fit(place)


# Other people's estimators


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_search_in_two_processes_says_which_ledger_they_share(tmp_path):
    grid = {"C": [0.01, 0.1]}
    told = {"epsilon": 0.1, "data_norm": 1.0, "classes": [0, 1]}
    lost = LogisticRegression(ledger=MemoryLedger(Budget(9.0, 1e-6)), **told)
    with pytest.raises(PrivacyError, match=r"another process.*Ledger\.create\(.*n_jobs=1"):
        GridSearchCV(lost, grid, cv=2, n_jobs=2, error_score="raise").fit(COLUMN, SIDES)
    with pytest.raises(ValueError, match=r"another process.*Ledger\.create\("):
        GridSearchCV(lost, grid, cv=2, n_jobs=2).fit(COLUMN, SIDES)
    shared = Ledger.create(tmp_path / "patients.db", Budget(9.0, 1e-6))
    search = GridSearchCV(LogisticRegression(ledger=shared, **told), grid, cv=2, n_jobs=2)
    search.fit(COLUMN, SIDES)
    assert len(shared.history()) == 5


def voters(classes):
    return [(name, LogisticRegression(data_norm=1.0, classes=classes)) for name in "ab"]


@pytest.mark.parametrize(
    "company",
    [
        lambda classes: VotingClassifier(voters(classes)),
        lambda classes: VotingClassifier(voters(classes), voting="soft"),
        lambda classes: StackingClassifier(
            voters(classes), LogisticRegression(data_norm=2.0, classes=classes)
        ),
    ],
    ids=["voting", "soft voting", "stacking"],
)
def test_classes_of_text_inside_of_company_name_the_cause(company):
    with pytest.raises(InputTypeError, match=r"number the classes .* declare classes=\[0, 1\]"):
        company(["ill", "well"]).fit(COLUMN, WORDS)
    told = company([0, 1]).fit(COLUMN, WORDS)
    assert set(told.predict(COLUMN)) <= {"ill", "well"}


# Budgets beyond use


@pytest.mark.parametrize("classes", [2, 3])
def test_an_epsilon_beyond_use_is_not_told_to_grow(classes):
    labels = np.digitize(VALUES, [0.5] if classes == 2 else [0.3, 0.6])
    ledger = MemoryLedger(Budget(10_000.0, 1e-3))
    for model in (LogisticRegression, LinearClassifier):
        told = {"data_norm": 1.0, "classes": range(classes), "ledger": ledger}
        with pytest.raises(CalibrationError, match=r"use an epsilon of at most \d+") as caught:
            model(epsilon=1000.0, **told).fit(COLUMN, labels)
        assert "larger budget" not in str(caught.value)
        assert "math.inf" in str(caught.value)
        assert ledger.history() == ()
        pure = model(epsilon=1000.0, delta=0.0, **{**told, "ledger": None}).fit(COLUMN, labels)
        assert pure.score(COLUMN, labels) > 0.8
