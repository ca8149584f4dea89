"""Any container, at every door: what a plain array gives, or a refusal before anything is paid."""

from __future__ import annotations

import inspect
import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Theirs

import discreet
from discreet import Budget, Interval, LinearClassifier, MemoryLedger, Rows, online
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball
from discreet.kernel import GaussianProcessOracle
from discreet.linear_model import LogisticRegression, LowRankRegressor
from discreet.location import Median
from discreet.metrics import compare_models, private_score
from discreet.model_selection import PrivateSearchCV, SampleAndAggregate, StableSelector
from discreet.preprocessing import BoundedScaler, Numeric
from discreet.questions import Bounds
from support.doors import at_the_gate
from support.estimators import ALL, LocationEstimator, declare, is_classifier
from support.strange_containers import CANARY, COLUMNS, LABELS, NAMES, ROWS, TABLES

pytestmark = [
    pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning"),
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names"),
]

NAMED = dict.fromkeys(NAMES, Numeric(-1, 1))
LISTED = list(NAMED.values())
FRAME = pd.DataFrame(ROWS, columns=list(NAMES))


def labels_of(kind):
    if issubclass(kind, LocationEstimator):
        return None
    return np.column_stack([LABELS, LABELS]) if kind is LowRankRegressor else LABELS


def build(kind, columns=None, **more):
    """Return a model with everything declared, by a norm or by columns."""
    taken = inspect.signature(kind).parameters
    if is_classifier(kind()):
        more["classes"] = [0, 1]
    if columns is not None:
        more |= {"columns": columns} | ({"data_norm": None} if "data_norm" in taken else {})
    return declare(kind, **more)


def fit_of(kind, columns, X):
    labels = labels_of(kind)
    model = build(kind, columns, rehearsal=1)
    return lambda: model.fit(*((X,) if labels is None else (X, labels)))


WAYS = [(kind, None) for kind in ALL if ("columns",) not in kind.must_declare] + [
    (kind, columns)
    for kind in ALL
    if "columns" in inspect.signature(kind).parameters
    for columns in (LISTED, NAMED)
]
WORST = (
    *("relation", "expression", "frame like pandas", "frame of narwhals, Polars"),
    *("lazy frame of narwhals", "pandas foreign type", "fails after 2", "is shorter after 4"),
    *("memory", "dict of columns", "list of dicts", "list of series", "frame with two names"),
)
MAIN = [(LogisticRegression, None), (LinearClassifier, LISTED), (LinearClassifier, NAMED)]
MAIN += [(Median, None), (LowRankRegressor, None)]
READ_AS_CELLS = {"list of text": Median}
"""To a median a list is one column, and text is a cell like others."""


def judge_at_the_gate(kind, columns, names):
    """Return which containers are neither what a plain table is nor refused before the charge."""
    expected = at_the_gate(fit_of(kind, columns, FRAME if columns is NAMED else ROWS))
    assert expected.refusal is None
    wrong = {}
    for name in names:
        if READ_AS_CELLS.get(name) is kind:
            continue
        found = at_the_gate(fit_of(kind, columns, TABLES[name](ROWS)))
        if found.refusal is None:
            is_right = found.rows == expected.rows
        else:
            is_right = found.kind in ("InputError", "InputTypeError") and not found.was_charged
        if not is_right or CANARY in str(found.refusal) or found.warned:
            wrong[name] = found.refusal, found.was_charged
    return wrong


@pytest.mark.parametrize(("kind", "columns"), WAYS, ids=str)
def test_no_estimator_pays_for_a_table_that_it_cannot_read(kind, columns):
    assert judge_at_the_gate(kind, columns, WORST) == {}


@pytest.mark.parametrize(("kind", "columns"), MAIN, ids=str)
def test_every_container_is_read_as_a_plain_table_or_refused_before_the_charge(kind, columns):
    assert judge_at_the_gate(kind, columns, TABLES) == {}


# Doors other than fit -----------------------------------------------------------------------------


def mean_of_rows(rows, labels):
    return rows.mean()


def choose_first(rows, labels):
    return np.arange(rows.shape[1]) == 0


PLAIN = LogisticRegression(1.0, 0.0, data_norm=1.5, classes=[0, 1], rehearsal=1)
DECLARED = LinearClassifier(1.0, 0.0, columns=LISTED, classes=[0, 1], rehearsal=1)
FOREIGN = Theirs()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for one in (PLAIN, DECLARED, FOREIGN):
        one.fit(ROWS, LABELS)


def score(model):
    def door(X, y, **how):
        return private_score(model, X, y, ["accuracy"], **how)["accuracy"].value

    return door


def compare(X, y, **how):
    return compare_models(PLAIN, DECLARED, X, y, **how).release_.value


def look(columns):
    def door(X, y, **how):
        discreet.check(build(LinearClassifier, columns), X, y)  # whose words are of the types

    return door


def fit(make):
    def door(X, y, **how):
        return make(**how).fit(X, y).release_.value

    return door


GRID = {"fit_intercept": [True, False]}


def search(columns):
    model = clone(PLAIN if columns is None else DECLARED).set_params(rehearsal=None)

    def door(X, y, **how):
        found = PrivateSearchCV(model, GRID, epsilon=1.0, delta=1e-6, method="split", **how)
        return found.fit(X, y).best_estimator_.coef_

    return door


def sum_rows(X, y, ledger=None, rehearsal=None):
    rows = Rows(X, y, bounds=Bounds(L2Ball(1.5), 2, labels=Interval(0, 1)))
    asked = discreet.LaplaceSum(), discreet.VectorSum(rows.bounds), rows
    if ledger is None:
        return discreet.rehearse(*asked, budget=Budget(1.0), draws=1, seed=rehearsal)
    return discreet.release(*asked, budget=Budget(1.0), ledger=ledger).value


def ask(columns):
    def door(X, y, **how):
        model = build(GaussianProcessOracle, columns, max_queries=4, **how)
        return model.fit(X, y).predict(ROWS[:2])

    return door


def stream(kind, **given):
    def door(X, y, **how):
        model = kind(1.0, 1e-6, horizon=8, **given, **how)
        return model.partial_fit(X, y).release_.value

    return door


ONLINE = {"classes": [0, 1], "batch": 2}
DOORS = {
    "score": score(PLAIN),
    "score of columns": score(DECLARED),
    "score of a foreign model": score(FOREIGN),
    "compare": compare,
    "check": look(None),
    "check of columns": look(LISTED),
    "search": search(None),
    "search of columns": search(LISTED),
    "aggregate": fit(
        partial(
            SampleAndAggregate,
            mean_of_rows,
            bounds=(-1, 1),
            blocks=2,
            columns=LISTED,
            target_range=(0, 1),
        )
    ),
    "stable selection": fit(
        partial(StableSelector, choose_first, columns=LISTED, target_range=(0, 1), blocks=2)
    ),
    "rows": sum_rows,
    "oracle": ask(None),
    "oracle of columns": ask(LISTED),
    "prediction": lambda X, y, **how: PLAIN.predict(X),
    "prediction of columns": lambda X, y, **how: DECLARED.predict_proba(X),
    "scaling": lambda X, y, **how: BoundedScaler(LISTED).transform(X),
    "stream": stream(online.LogisticRegression, data_norm=1.5, **ONLINE),
    "stream of columns": stream(online.LinearSVC, columns=LISTED, **ONLINE),
    "stream of numbers": stream(
        online.LinearRegression, columns=LISTED, target_range=(0, 1), batch=2
    ),
}


def enter(door, X, y, unit):
    """Go through a door and pay: return its refusal, if any, and how often it was paid for."""
    ledger = MemoryLedger(Budget(100.0, 1e-3), unit)
    try:
        door(X, y, ledger=ledger)
    except Exception as refusal:
        return refusal, len(ledger.history())
    return None, len(ledger.history())


def judge(name, given):
    """Say what is wrong at a door, by container; ``given`` makes X and y, twice if it is taken."""
    door, is_stream = DOORS[name], name.startswith("stream")
    expected, wrong = door(ROWS, LABELS, rehearsal=1), {}
    for what, make in given.items():
        refusal, charges = enter(door, *make(), "replace" if is_stream else "add_remove")
        if refusal is None:
            # A block of a stream is read cell by cell, as declared: cells of odd types are missing.
            if not is_stream and not np.array_equal(door(*make(), rehearsal=1), expected):
                wrong[what] = "another result"
        elif charges or not isinstance(refusal, InputError | InputTypeError):
            wrong[what] = refusal, charges
        elif CANARY in str(refusal):
            wrong[what] = str(refusal)
    return wrong


every_door = pytest.mark.parametrize("name", DOORS)
DEAR = ("search", "oracle", "compare", "score of columns", "stream of numbers")
"""Doors where a result takes long: the worst containers are enough."""


@every_door
def test_no_door_is_paid_for_a_table_that_it_cannot_read(name):
    names = WORST if name.startswith(DEAR) else TABLES
    tables = {what: lambda what=what: (TABLES[what](ROWS), LABELS) for what in names}
    assert judge(name, tables) == {}


@every_door
def test_no_door_is_paid_for_labels_that_it_cannot_read(name):
    names = [what for what in COLUMNS if what in WORST or not name.startswith(DEAR)]
    labels = {what: lambda what=what: (ROWS, COLUMNS[what](LABELS)) for what in names}
    assert judge(name, labels) == {}


@pytest.mark.parametrize("what", TABLES)
def test_no_learner_is_paid_for_a_record_that_is_no_dict(what):
    ledger = MemoryLedger(Budget(100.0, 1e-3), unit="replace")
    model = online.LinearSVC(1.0, 1e-6, horizon=8, ledger=ledger, columns=NAMED, classes=[0, 1])
    record = TABLES[what](ROWS)
    if isinstance(record, dict):
        model.learn_one(record, 1)  # its cells are no numbers, and read as none
    else:
        with pytest.raises(InputTypeError, match="a record must be a dict"):
            model.learn_one(record, 1)
    assert len(ledger.history()) == isinstance(record, dict)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("relation", r"got a value of type Relation\. Pass X\.to_arrow_table\(\)"),
        ("expression", r"got a value of type Expression\. Pass X\.to_pyarrow\(\)"),
        ("frame of narwhals, Polars", r"type DataFrame\. Pass X\.to_native\(\)"),
        ("lazy frame of narwhals", r"type LazyFrame\. Pass X\.collect\(\)"),
        ("lazy frame", r"Polars LazyFrame\. Pass X\.collect\(\)"),
        ("generator", "type generator. Convert it first"),
        ("dict of columns", "type dict. Convert it first"),
        ("list of dicts", "Make a data frame of dicts"),
        ("pandas foreign type", "Convert it"),
    ],
)
@pytest.mark.parametrize("columns", [None, LISTED], ids=["norm", "columns"])
def test_a_refused_table_says_what_was_expected_what_it_got_and_what_to_do(what, said, columns):
    with pytest.raises((InputError, InputTypeError), match=r"X.* must ") as caught:
        build(LinearClassifier, columns).fit(TABLES[what](ROWS), LABELS)
    assert re.search(said, str(caught.value))


@pytest.mark.parametrize("columns", [None, LISTED, NAMED], ids=["norm", "listed", "named"])
def test_labels_beside_a_relation_of_duckdb_are_refused_before_the_charge(columns):
    duckdb = pytest.importorskip("duckdb")
    ledger = MemoryLedger(Budget(100.0, 1e-3))
    relation = duckdb.from_df(FRAME)
    model = build(LinearClassifier, columns, ledger=ledger)
    with pytest.raises(InputError, match="leave y out, and pass target"):
        model.fit(relation, LABELS)
    assert ledger.history() == ()
    assert model.fit(relation.df(), LABELS).privacy_ is not None
