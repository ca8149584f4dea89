"""Foreign code in the private part is silent, is in the same state each time, and pays nothing.

Every door that takes foreign code, against foreign code of every unpleasant kind.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import random
import threading
from collections import defaultdict
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge, SGDRegressor
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from discreet import Budget, Ledger, MemoryLedger
from discreet.errors import InputError, PrivacyError
from discreet.feature_selection import BlockVoteSupport, PeelingSupport
from discreet.foreign.foreign_code import ForeignCode
from discreet.foreign.known_code import is_known, reach
from discreet.linear_model import LogisticRegression as PrivateLogistic
from discreet.linear_model import SparseClassifier
from discreet.metrics import compare_models, private_score
from discreet.metrics.row_outputs import outputs_of
from discreet.model_selection import SampleAndAggregate, StableSelector
from support import foreign

ROWS = 30  # one of three blocks is empty once in 60,000 deals
X = np.random.default_rng(0).uniform(-0.5, 0.5, (ROWS, 2))
Y = np.tile([0, 1], ROWS // 2)
MARKED = X.copy()
MARKED[7, 0] = foreign.MARK


def score(act, rows, **charged):
    """Return the share of rows of which the model says one, as a fresh one does."""
    model = foreign.Model(act)
    scores = private_score(model, rows, np.ones(len(rows), dtype=int), ["accuracy"], **charged)
    return scores["accuracy"].value


def score_frame(act, rows, **charged):
    return score(act, pd.DataFrame(rows), **charged)


def compare(act, rows, **charged):
    """Return the gain over a model that is always wrong."""
    wrong = DummyClassifier(strategy="constant", constant=0).fit(X, Y)
    return compare_models(wrong, foreign.Model(act), rows, np.ones(len(rows), dtype=int),
                          **charged).gain  # fmt: skip


def average(act, rows, **charged):
    model = SampleAndAggregate(act, bounds=(0, 1), blocks=3, delta=1e-6, **charged)
    return model.fit(rows).estimate_[0]


def vote(selector, act, rows, **charged):
    """Return one if most blocks choose as a fresh procedure does."""
    fitted = selector(act, classes=[0, 1], delta=1e-6, **charged).fit(rows, Y)
    return float(list(fitted.get_support(indices=True)) == [0])


def fit_sparse(act, rows, **charged):
    model = SparseClassifier(selector=foreign.Choice(act), n_features_to_select=1, entry_bound=1.0,
                             classes=[0, 1], delta=1e-6, **charged)  # fmt: skip
    return float(list(model.fit(rows, Y).selected_) == [0])


def stable(act, **options):
    return StableSelector(foreign.Choice(act), blocks=3, **options)


def support(act, **options):
    return BlockVoteSupport(1, selector=foreign.Choice(act), blocks=3, **options)


def columns(act, **options):
    return BlockVoteSupport(1, selector=foreign.Choice(act), blocks=3, vote="columns", **options)


def few(door):
    """Return a door that is shown the first rows alone: each of them is a process."""
    return lambda act, rows, **charged: door(act, rows[:5], **charged)


DOORS = {
    "private_score": few(score),
    "private_score of a frame": few(score_frame),
    "compare_models": few(compare),
    "SampleAndAggregate": average,
    "SampleAndAggregate, two processes": partial(average, n_jobs=2, backend="processes"),
    "StableSelector": partial(vote, stable),
    "StableSelector, two threads": partial(vote, partial(stable, n_jobs=2)),
    "BlockVoteSupport": partial(vote, support),
    "BlockVoteSupport, columns": partial(vote, columns),
    "SparseClassifier": fit_sparse,
}
"""Every way in which foreign code gets into a private part: one for a fresh state each time."""

every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())


np_state = np.random.RandomState(0).rand() / 2 + random.Random(0).random() / 2
REMEMBERING = {
    "coins": foreign.AsFresh(foreign.Coins(), np.random.RandomState(3).rand()),
    "coins of the process": foreign.AsFresh(foreign.coins_of_the_process, np_state),
    "memory": foreign.Memory(),
    "memory in a closure": foreign.counts_in_a_closure(),
    "memory, and the name of a known function": foreign.counts_under_another_name,
    "the index of a frame": foreign.reads_the_index,
}


@every_door
@pytest.mark.parametrize("act", REMEMBERING.values(), ids=REMEMBERING.keys())
def test_no_row_or_block_is_told_by_what_came_before_it(door, act):
    assert door(act, X, epsilon=math.inf) == 1.0


@every_door
def test_foreign_code_is_silent(door, capfd):
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        assert door(foreign.talks, X, epsilon=math.inf) == 1.0
    finally:
        logging.getLogger().removeHandler(handler)
    assert capfd.readouterr() == ("", "")
    assert heard.getvalue() == ""


DEADLY = {
    "SystemExit": foreign.RaisesAtTheMark(SystemExit(3)),
    "KeyboardInterrupt": foreign.RaisesAtTheMark(KeyboardInterrupt()),
    "GeneratorExit": foreign.RaisesAtTheMark(GeneratorExit()),
    "exit": foreign.dies_at_the_mark,
    "kill": foreign.is_killed_at_the_mark,
    "kill of the process before": foreign.kills_who_asks_at_the_mark,
}


@pytest.mark.parametrize("act", DEADLY.values(), ids=DEADLY.keys())
def test_a_row_that_ends_a_model_is_not_scored_and_ends_nothing_else(act):
    ledger = MemoryLedger(Budget(1.0))
    assert score(act, MARKED[:9], epsilon=1.0, ledger=ledger) >= 0
    said = outputs_of(foreign.Model(act)).accept(MARKED[5:9]).read()
    assert np.flatnonzero(np.isnan(said[:, 0])).tolist() == [2]


@pytest.mark.parametrize("backend", ["threads", "processes"])
@pytest.mark.parametrize("act", DEADLY.values(), ids=DEADLY.keys())
def test_a_block_that_ends_a_procedure_has_the_fixed_answer_and_no_other_has(act, backend):
    model = SampleAndAggregate(
        act, epsilon=math.inf, bounds=(0, 1), blocks=3, backend=backend, n_jobs=2
    )
    assert model.fit(MARKED).estimate_[0] == pytest.approx((2 + 0.5) / 3, abs=1e-5)


def test_foreign_code_charges_no_ledger(tmp_path):
    where = str(tmp_path / "rows.db")
    ledger = Ledger.create(where, Budget(9.0, 0.1))
    assert average(foreign.Pays(where), X, epsilon=1.0, ledger=ledger) <= 1.0
    assert len(ledger.history()) == 1
    said = outputs_of(foreign.Model(foreign.Pays(where))).read(X[:1])
    assert np.isnan(said).all()
    assert len(ledger.history()) == 1


@every_door
@pytest.mark.parametrize(
    "act", [foreign.NotCopied(), foreign.NotLoaded()], ids=lambda a: a.__class__.__name__
)
def test_what_cannot_be_copied_is_refused_before_the_charge(door, act):
    ledger = MemoryLedger(Budget(9.0, 0.1))
    with pytest.raises(InputError, match="cannot be copied"):
        door(act, X, epsilon=1.0, ledger=ledger)
    assert ledger.history() == ()


def private_selector(ledger):
    return PeelingSupport(1, entry_bound=1.0, classes=[0, 1], ledger=ledger)


def closed_over(ledger):
    inner = private_selector(ledger)
    return lambda X, y: inner.fit(X, y).get_support()


@pytest.mark.parametrize(
    "hide",
    [
        private_selector,
        closed_over,
        lambda ledger: partial(lambda X, y, inner: [0], inner=[private_selector(ledger)]),
        lambda ledger: SelectFromModel(
            make_pipeline(PrivateLogistic(data_norm=1.0, ledger=ledger)), max_features=1
        ),
        lambda ledger: partial(lambda X, y, inner: [0], inner={"a": ledger}),
    ],
    ids=["itself", "closure", "argument", "inside another", "a ledger alone"],
)
def test_what_pays_for_itself_has_no_place_in_a_block(hide):
    ledger = MemoryLedger(Budget(9.0, 0.1))
    given = hide(ledger)
    for make in (
        lambda: StableSelector(given, classes=[0, 1], blocks=3, ledger=ledger),
        lambda: BlockVoteSupport(1, selector=given, classes=[0, 1], blocks=3, ledger=ledger),
        lambda: SparseClassifier(selector=given, n_features_to_select=1, entry_bound=1.0,
                                 classes=[0, 1], ledger=ledger),
        lambda: SampleAndAggregate(given, bounds=(0, 1), blocks=3, classes=[0, 1], ledger=ledger),
    ):  # fmt: skip
        with pytest.raises(InputError, match="pays for every block"):
            make().fit(X, Y)
    assert ledger.history() == ()


def test_models_of_scikit_learn_with_coins_or_words_are_asked_each_row_alike(capfd):
    dummy = DummyClassifier(strategy="stratified", random_state=np.random.RandomState(0))
    forest = RandomForestClassifier(3, random_state=0, verbose=1)
    for model in (dummy, forest):
        fitted = model.fit(X, Y)
        capfd.readouterr()
        outputs = outputs_of(fitted)
        together, few = outputs.accept(X[:9]).read(), outputs.accept(X[5:9]).read()
        assert np.array_equal(together[5:], few)
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "estimator",
    [
        SGDRegressor(random_state=np.random.RandomState(0)),
        SGDRegressor(),
        LassoCV(cv=ShuffleSplit(2)),
        make_pipeline(FunctionTransformer(np.random.permutation), Ridge()),
    ],
    ids=["generator", "open seed", "open seed of a splitter", "a function that draws"],
)
def test_whatever_an_estimator_draws_from_is_the_same_for_every_block(estimator):
    """Blocks of the same rows: all say the same, or one has drawn from what another left."""
    from discreet.estimators.block_estimator import computation_of  # slow to import

    rows = np.tile(X[:8], (2, 1))
    computation = computation_of(estimator)
    if isinstance(estimator, type(make_pipeline(Ridge()))):
        computation = _LastCoefficients(computation.estimator)
    code = ForeignCode(computation, "it", fits=True)
    first, second = code.run_on([(rows, rows[:, 0]), (rows, rows[:, 0])])
    assert first is not None
    assert np.array_equal(first, second)


class _LastCoefficients:
    def __init__(self, pipeline):
        self.pipeline = pipeline

    def __call__(self, X, y):
        return self.pipeline.fit(X, y)[-1].coef_


def test_what_is_known_is_neither_somebody_elses_nor_talkative_nor_drawing():
    known = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression(random_state=0))
    assert is_known(known, fits=True)
    assert is_known(SelectKBest(), fits=True)
    assert is_known(np.mean, fits=True)
    for unknown in (
        LinearSVC(random_state=0, verbose=1),
        LinearSVC(),  # its seed is open
        make_pipeline(FunctionTransformer(lambda X: X), SelectKBest()),
        make_pipeline(FunctionTransformer(np.frompyfunc(print, 1, 1)), SelectKBest()),
        FunctionTransformer(np.random.permutation),
        FunctionTransformer(print),
        FunctionTransformer(np.random.default_rng(0).permutation),
        type("SelectKBest", (SelectKBest,), {})(),
        DummyClassifier(strategy="uniform"),
        FunctionTransformer(np.sum, kw_args=defaultdict(lambda: 1)),
        private_selector(None),
    ):
        assert not is_known(unknown, fits=True)
    assert any(one is known for one in reach({"a": [partial(len, known)]}))


def test_other_threads_print_while_foreign_code_is_silent(capfd):
    is_over = threading.Event()

    def print_on():
        while not is_over.wait(0.01):
            print("mine", flush=True)

    thread = threading.Thread(target=print_on)
    thread.start()
    try:
        score(foreign.talks, X, epsilon=math.inf)
    finally:
        is_over.set()
        thread.join()
    assert set(capfd.readouterr().out.split()) == {"mine"}


def ask_for_foreign_code_in_turn(value):
    within = ForeignCode(lambda given: given, "within", fits=False, apart=True)
    within.check()  # as a module does that makes questions while it is loaded
    with contextlib.suppress(PrivacyError):
        within.run_on([(value,)])
        return -1.0
    return value


def test_a_process_for_foreign_code_begins_no_other():
    code = ForeignCode(ask_for_foreign_code_in_turn, "outside", fits=False, apart=True)
    assert [said.tolist() for said in code.run_on([(3.0,), (4.0,)])] == [[3.0], [4.0]]
