"""Private scores: what is charged, what is read, and what one record can change."""

from __future__ import annotations

import math
import warnings

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from pyarrow import parquet
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from discreet import Budget, MemoryLedger
from discreet.data.stored import RowPlace
from discreet.errors import BudgetExceeded, InputError, InputTypeError, RehearsalWarning
from discreet.ledger import State
from discreet.linear_model import LinearClassifier, LogisticRegression
from discreet.mechanisms.summing.score_cells import LIMIT
from discreet.metrics import private_score
from discreet.metrics.row_outputs import outputs_of
from discreet.metrics.score_bins import LogOdds
from discreet.metrics.scored_table import RowCoins
from discreet.metrics.scoring import BinaryCells, ScoredRows
from discreet.preprocessing import Numeric
from discreet.svm import LinearSVC

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


def _rows(count=600, seed=3):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((count, 3))
    y = (X @ [1.0, -2.0, 0.5] + draw.logistic(size=count) > 0).astype(int)
    return X, y


X, Y = _rows()
COINS = RowCoins(bytes(32))
FRAME = pd.DataFrame(X, columns=list("abc"))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    PLAIN = LogisticRegression(epsilon=3.0, delta=0.0, data_norm=4.0, classes=[0, 1]).fit(X, Y)
    COLUMNS = {name: Numeric(-3, 3) for name in "abc"}
    NAMED = LinearClassifier(epsilon=3.0, delta=1e-6, columns=COLUMNS, classes=[0, 1], rehearsal=3)
    NAMED.fit(FRAME, Y)
    MARGINS = LinearSVC(epsilon=3.0, delta=0.0, data_norm=4.0, classes=[0, 1]).fit(X, Y)


def test_every_door_leads_to_the_same_counts(tmp_path):
    parquet.write_table(pyarrow.table(FRAME.assign(ill=Y)), tmp_path / "a.parquet")
    stored = dask.dataframe.from_pandas(FRAME.assign(ill=Y), npartitions=3)
    expected = private_score(NAMED, FRAME, Y, rehearsal=1).release_.value
    for rows, labels, target in [
        (pyarrow.table(FRAME), Y, None),
        (polars.from_pandas(FRAME), Y.tolist(), None),
        (str(tmp_path), None, "ill"),
    ]:
        found = private_score(NAMED, rows, labels, target=target, rehearsal=1)
        assert np.array_equal(found.release_.value, expected)
    names = ["roc_auc"]  # without coins, which know of partitions
    expected = private_score(NAMED, FRAME, Y, names, rehearsal=1).release_.value
    found = private_score(NAMED, stored, None, names, target="ill", rehearsal=1)
    assert np.array_equal(found.release_.value, expected)
    expected = private_score(PLAIN, X, Y, names, rehearsal=1).release_.value
    chunks = dask.array.from_array(X, chunks=(130, 3)), dask.array.from_array(Y, chunks=130)
    for rows, labels in [
        (X.tolist(), Y),
        (sparse.csr_array(X), Y),
        (np.asfortranarray(X), Y),
        chunks,
    ]:
        found = private_score(PLAIN, rows, labels, names, rehearsal=1)
        assert np.array_equal(found.release_.value, expected)


def test_the_ledger_is_charged_once_for_all_scores():
    ledger = MemoryLedger(Budget(1.0))
    scores = private_score(PLAIN, X, Y, epsilon=0.25, ledger=ledger, purpose="test of a model")
    (entry,) = ledger.history()
    assert (entry.state, entry.purpose) == (State.RELEASED, "test of a model")
    assert ledger.spent(0.0) == pytest.approx(0.25)
    assert 0.2499 < scores.privacy_.epsilon(0.0) <= 0.25
    assert scores.release_.mechanism == "following_histogram"
    edges = scores.bins.edges
    assert np.array_equal(scores.release_.value, np.concatenate([edges, scores.counts]))
    assert len(scores["f1"].interval()) == 2  # asked for afterwards, at no cost
    assert len(ledger.history()) == 1


def test_nothing_is_read_before_the_charge(monkeypatch):
    def fail(*_):
        raise AssertionError("rows were read")

    monkeypatch.setattr("discreet.metrics.row_outputs.LinearOutputs.read", fail)
    monkeypatch.setattr("discreet.metrics.scored_table.read_labels", fail)
    ledger = MemoryLedger(Budget(0.5))
    with pytest.raises(BudgetExceeded):
        private_score(PLAIN, X, Y, epsilon=1.0, ledger=ledger)
    assert ledger.history() == ()


@pytest.mark.parametrize("model", [PLAIN, MARGINS], ids=["probabilities", "margins"])
@pytest.mark.parametrize(
    ("row", "label"),
    [([9.0, 9.0, 9.0], 1), ([np.nan, 0.0, 0.0], 0), ([0.0, 0.0, 0.0], 7), ([np.inf, 1.0, 1.0], 1)],
)
def test_one_record_changes_one_cell_by_one(model, row, label):
    names = ["accuracy"] if model is MARGINS else ["brier"]  # bins at fixed edges
    exact = {"metrics": names, "epsilon": math.inf, "expected_rows": 10**6, "rehearsal": 1}
    before = private_score(model, X, Y, **exact).counts
    for place in (0, 301, 600):
        rows = np.insert(X, place, [row], axis=0)
        after = private_score(model, rows, np.insert(Y, place, label), **exact).counts
        apart = after - before
        assert np.abs(apart).sum() == 1 or place < 600  # coins move with places, cells do not
        bins = apart[1:].reshape(-1, 1 if model is MARGINS else 2).sum(axis=1)
        assert np.abs(apart[0]) + np.abs(bins).sum() == 1


def test_a_record_that_cannot_be_scored_is_counted_apart():
    labels = Y.astype(float)
    labels[:5] = np.nan
    counts = private_score(PLAIN, X, labels, epsilon=math.inf).counts
    assert counts[0] == 5
    assert counts.sum() == len(X)


def test_what_is_counted_is_what_the_scores_need():
    scores = private_score(PLAIN, X, Y, ["accuracy", "f1"], rehearsal=1)
    assert scores.counts.size == 5
    assert list(scores) == ["accuracy", "f1"]
    means = private_score(PLAIN, X, Y, ["accuracy", "brier"], rehearsal=1)
    assert (means.release_.mechanism, means.bins.total) == ("noisy_histogram", 16)
    assert means.counts.size == 1 + 4 * 16  # in halves
    ranks = private_score(PLAIN, X, Y, ["accuracy", "roc_auc"], rehearsal=1)
    assert ranks.release_.mechanism == "following_histogram"
    assert ranks.counts.size == 1 + 2 * ranks.bins.total
    few = private_score(PLAIN, X, Y, expected_rows=200, rehearsal=1)
    assert (few.release_.mechanism, few.counts.size) == ("noisy_histogram", 1 + 4 * 8)
    more = [
        private_score(PLAIN, X, Y, unit=unit, epsilon=epsilon, rehearsal=1)
        for unit, epsilon in (("add_remove", 0.5), ("replace", 0.9), ("replace", 1.1))
    ]
    fixed = [one.release_.mechanism == "noisy_histogram" for one in more]
    assert fixed == [False, True, False]  # 600 rows are public under replace


def test_accuracy_without_noise_is_that_of_predictions():
    exact = private_score(PLAIN, X, Y, ["accuracy"], epsilon=math.inf)
    assert exact["accuracy"].value == pytest.approx((PLAIN.predict(X) == Y).mean())
    other = private_score(PLAIN, X, Y, ["accuracy"], epsilon=math.inf, threshold=0.7)
    said = PLAIN.predict_proba(X)[:, 1] > 0.7
    assert other["accuracy"].value == pytest.approx((said == Y).mean())


@pytest.mark.parametrize("asked", [["accuracy"], ["accuracy", "roc_auc"], ["log_loss", "roc_auc"]])
def test_rows_that_a_model_is_certain_of_are_scored_like_others(asked):
    tree = DecisionTreeClassifier(random_state=0).fit(X[:300], Y[:300])
    said = tree.predict_proba(X)[:, 1]
    assert set(said) == {0.0, 1.0}
    scores = private_score(tree, X, Y, asked, epsilon=100.0)
    assert scores.counts[0] == 0
    assert scores.counts.sum() == len(X)
    exact = {
        "accuracy": tree.score(X, Y),
        "roc_auc": roc_auc_score(Y, said),
        "log_loss": log_loss(Y, said.clip(*expit([-LIMIT, LIMIT]))),
    }
    for name in asked:
        assert scores[name].value == pytest.approx(exact[name], abs=1e-9)


@pytest.mark.parametrize("name", ["brier", "calibration_in_the_large"])
def test_means_of_rows_that_a_model_is_certain_of_are_within_their_limits(name):
    said = np.repeat([0.0, 1.0, 0.0, 1.0], [450, 550, 20, 5])
    labels = np.repeat([0, 1, 1, 0], [450, 550, 20, 5])
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    scores = private_score(model, said[:, None], labels, [name, "roc_auc"], epsilon=30.0)
    exact = ((said - labels) ** 2 if name == "brier" else labels - said).mean()
    low, high = scores[name].interval(of="sample")
    assert low <= exact <= high
    assert high - low < 0.002


def test_gaussian_noise_is_used_where_it_is_smaller():
    assert private_score(PLAIN, X, Y, delta=1e-6, rehearsal=1).noise.law == "laplace"
    assert private_score(PLAIN, X, Y, delta=0.2, rehearsal=1).noise.law == "gaussian"
    assert private_score(PLAIN, X, Y, ["f1"], delta=0.2, rehearsal=1).noise.law == "gaussian"


def test_text_classes_are_scored():
    names = np.array(["no", "yes"])[Y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(epsilon=3.0, delta=0.0, data_norm=4.0, classes=["no", "yes"])
        model.fit(X, names)
    exact = private_score(model, X, names, ["accuracy"], epsilon=math.inf)
    assert exact["accuracy"].value == pytest.approx((model.predict(X) == names).mean())
    with pytest.raises(InputTypeError):
        private_score(model, X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["accuracy", "loss"]}, "metrics must be among"),
        ({"metrics": []}, "at least one"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"threshold": 1.5}, "threshold"),
        ({"expected_rows": 0}, "expected_rows"),
        ({"target": "ill"}, "target names a column"),
        ({"y": None}, "y to be passed"),
        ({"y": Y[:5]}, "as many rows"),
    ],
)
def test_what_is_asked_wrongly_is_refused_before_the_charge(options, words):
    ledger = MemoryLedger(Budget(10.0))
    with pytest.raises(InputError, match=words):
        private_score(PLAIN, X, **{"y": Y, "ledger": ledger, **options})
    assert ledger.history() == ()


def test_log_loss_of_margins_is_refused():
    with pytest.raises(InputError, match="probabilities"):
        private_score(MARGINS, X, Y, ["log_loss"])
    assert list(private_score(MARGINS, X, Y, rehearsal=1)) == ["accuracy", "roc_auc"]


def test_a_rehearsal_promises_nothing():
    with pytest.warns(RehearsalWarning):
        scores = private_score(PLAIN, X, Y, rehearsal=4)
    assert not scores.release_.is_private


def test_a_row_at_the_threshold_is_below_it():
    cells = BinaryCells(ScoredRows(LogOdds(outputs_of(MARGINS), 0.0), COINS), np.zeros(1), False)
    outputs = np.array([[-1.0], [0.0], [np.nextafter(0.0, 1.0)], [5.0]])
    assert cells(outputs, np.ones(4), RowPlace()).ravel().tolist() == [3.0, 3.0, 4.0, 4.0]


@pytest.mark.parametrize("model", [PLAIN, NAMED, MARGINS], ids=["plain", "curve", "margins"])
def test_log_odds_of_a_row_do_not_depend_on_the_rows_beside_it(model):
    odds = LogOdds(outputs_of(model), 0.0)
    scores = np.random.default_rng(2).normal(size=2600) * 3
    whole = odds(scores)
    assert (np.diff(whole[np.argsort(scores)]) >= 0).all()
    assert ((whole > 0) == (scores > 0)).all()
    for skip in (1, 7, 1023, 1025):
        assert np.array_equal(odds(scores[skip:]), whole[skip:])
    assert np.array_equal(odds(scores[:1]), whole[:1])


def test_predictions_and_counts_agree_at_margins_that_probabilities_do_not_tell_apart():
    odds = LogOdds(outputs_of(PLAIN), 0.0)
    assert (odds(np.array([-1e-30, 0.0, 1e-30])) > 0).tolist() == [False, False, True]


def test_rows_that_are_alike_have_coins_of_their_own_in_every_container(tmp_path):
    # 600 equal rows in two cells, a quarter in the smaller: 20 there have a chance of 1e-40.
    same = pd.DataFrame(np.tile([[0.4, -0.3, 0.2]], (600, 1)), columns=list("abc"))
    table = same.assign(ill=1)
    parquet.write_table(pyarrow.table(table), tmp_path / "a.parquet", row_group_size=100)
    lazy = dask.dataframe.from_pandas(table, npartitions=3)
    for rows, labels in [(same, np.ones(600)), (str(tmp_path), None), (lazy, None)]:
        target = None if labels is not None else "ill"
        exact = private_score(NAMED, rows, labels, ["log_loss"], epsilon=math.inf, target=target)
        assert (np.sort(exact.counts)[-2:] > 20).all()
