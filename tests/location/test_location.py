"""Medians and quantiles: parameters, attributes, guarantees, mistakes."""

from __future__ import annotations

import inspect
import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from discreet import MemoryLedger
from discreet.errors import BudgetExceeded, InputError, InputTypeError
from discreet.location import Median, Quantile
from discreet.privacy import Budget

EVERY = [Median, Quantile]
every_estimator = pytest.mark.parametrize("model", EVERY)
rehearsal = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
X = np.random.default_rng(0).lognormal(0.0, 1.0, size=(500, 2))
WIDE = (0.0, 100.0)
PUBLIC = {"location_", "n_features_in_", "release_", "privacy_"}


def attributes(model):
    return set(vars(model)) - set(model.get_params())


@every_estimator
def test_every_parameter_is_documented_and_has_the_usual_default(model):
    parameters = inspect.signature(model).parameters
    assert [name for name in parameters if name not in inspect.getdoc(model)] == []
    usual = {"epsilon": 1.0, "delta": 1e-9, "unit": "add_remove", "ledger": None, "verbose": 0}
    assert {name: parameters[name].default for name in usual} == usual


@every_estimator
@pytest.mark.parametrize(
    "setting", [{"delta": 0.0}, {"delta": 0.0, "unit": "replace", "epsilon": 0.3}, {}], ids=str
)
def test_a_fit_costs_the_epsilon_asked_and_no_more(model, setting):
    asked, delta = setting.get("epsilon", 1.0), setting.get("delta", 1e-9)
    fit = model(bounds=WIDE, **setting).fit(X)
    assert 0.99 * asked <= fit.privacy_.epsilon(delta) <= asked
    assert fit.privacy_ == fit.release_.guarantee
    assert fit.release_.is_private
    assert attributes(fit) == PUBLIC
    assert fit.location_.shape == (2,)


@pytest.mark.parametrize("q", [0.05, 0.5, 0.75])
def test_without_noise_it_is_the_quantile(q):
    fit = Quantile(q, epsilon=math.inf, bounds=WIDE, steps=2**24).fit(X)
    expected = np.quantile(X, q, axis=0, method="averaged_inverted_cdf")
    np.testing.assert_allclose(fit.location_, expected, atol=1e-5)


@rehearsal
def test_the_median_is_the_middle_quantile():
    one, other = (
        model.fit(X).location_
        for model in (Median(bounds=WIDE, rehearsal=3), Quantile(bounds=WIDE, rehearsal=3))
    )
    np.testing.assert_array_equal(one, other)


@rehearsal
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_a_release_is_off_by_a_few_ranks(unit):
    ranks = [
        np.mean(
            X[:, 0] < Median(2.0, bounds=WIDE, unit=unit, rehearsal=seed).fit(X[:, [0]]).location_
        )
        for seed in range(60)
    ]
    assert np.abs(np.array(ranks) - 0.5).max() < 25 / 500


@rehearsal
def test_every_kind_of_table_gives_the_same_answer():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    model = Median(bounds=WIDE, rehearsal=5)
    dense = model.fit(X).location_
    names = ["a", "b"]
    for table in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        X.tolist(),
        sparse.csr_array(X),
    ):
        np.testing.assert_array_equal(clone(model).fit(table).location_, dense)
    assert clone(model).fit(pd.DataFrame(X, columns=names)).feature_names_in_.tolist() == names


@rehearsal
def test_each_column_may_have_its_own_bounds():
    fit = Median(epsilon=math.inf, bounds=([0.0, 5.0], [100.0, 6.0])).fit(X)
    assert fit.location_[1] == 5.0
    with pytest.raises(InputError, match="bounds name 3 columns; X has 2"):
        Median(bounds=([0, 0, 0], [1, 1, 1])).fit(X)


@every_estimator
def test_clones_and_pickles_keep_parameters_and_answer(model):
    fit = model(bounds=WIDE).fit(X)
    assert clone(fit).get_params() == fit.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fit)).location_, fit.location_)


def test_the_guarantee_is_printed_if_asked_for(capsys):
    fit = Median(bounds=WIDE, verbose=1).fit(X)
    assert capsys.readouterr().out.strip() == fit.privacy_.sentence()


def test_a_ledger_pays_and_refuses():
    ledger = MemoryLedger(Budget(1.5), "add_remove")
    Median(1.0, 0.0, bounds=WIDE, ledger=ledger).fit(X)
    with pytest.raises(BudgetExceeded):
        Median(1.0, 0.0, bounds=WIDE, ledger=ledger).fit(X)
    assert [entry.purpose for entry in ledger.history()] == ["Median"]


@pytest.mark.parametrize(
    ("parameters", "error", "says"),
    [
        ({"bounds": (0.0, math.inf)}, InputError, "two finite numbers"),
        ({"bounds": (-math.inf, math.inf)}, InputError, "two finite numbers"),
        ({"bounds": (math.nan, 1.0)}, InputError, "two finite numbers"),
        ({"bounds": (1.0, 1.0)}, InputError, "a low number below a high one"),
        ({"bounds": (2.0, 1.0)}, InputError, "a low number below a high one"),
        ({"bounds": 3.0}, InputError, "two finite numbers"),
        ({"bounds": ("a", "b")}, InputError, "two finite numbers"),
        ({"bounds": None}, InputError, "two finite numbers"),
        ({"bounds": (0.0, 1e200)}, InputError, "1e\\+100"),
        ({"q": 0.0}, InputError, "q must lie strictly"),
        ({"q": 1.0}, InputError, "q must lie strictly"),
        ({"q": math.nan}, InputError, "q must lie between 0 and 1"),
        ({"q": "half"}, InputTypeError, "q must be a number"),
        ({"steps": 0}, InputError, "steps must be at least 1"),
        ({"steps": 2.5}, InputTypeError, "steps must be a whole number"),
        ({"steps": 2**40}, InputError, "steps must be"),
        ({"epsilon": 0.0}, InputError, "epsilon must be positive"),
        ({"delta": 1.0}, InputError, "delta"),
        ({"unit": "person"}, InputError, "unit"),
        ({"max_rows": 0}, InputError, "max_rows"),
        ({"rehearsal": 0.5}, InputTypeError, "rehearsal"),
        ({"verbose": -1}, InputError, "verbose"),
    ],
    ids=str,
)
def test_mistakes_are_named_before_anything_is_paid(parameters, error, says):
    ledger = MemoryLedger(Budget(10.0, 1e-6), "add_remove")
    with pytest.raises(error, match=says):
        Quantile(**({"bounds": WIDE, "ledger": ledger} | parameters)).fit(X)
    assert ledger.history() == ()


@rehearsal
def test_values_that_are_not_numbers_are_no_error():
    broken = X.copy()
    broken[::7, 0], broken[3, 1] = np.nan, np.inf
    assert np.isfinite(Median(bounds=WIDE, rehearsal=1).fit(broken).location_).all()


def test_nothing_of_the_table_is_quoted():
    with pytest.raises(ValueError, match="table of real numbers") as caught:
        Median(bounds=WIDE).fit(np.array([["secret"], ["1.0"]]))
    assert "secret" not in str(caught.value)
