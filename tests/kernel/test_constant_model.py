"""Models that would answer a constant are refused before they are paid for, from public numbers."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError, RehearsalWarning
from discreet.kernel import BoundedUpdateOracle, NonInteractiveKernel
from discreet.kernels import RBF
from discreet.ledger import MemoryLedger
from discreet.privacy import Budget

RNG = np.random.default_rng(4)
X = RNG.uniform(-1, 1, size=(1500, 2)) / 1.5
Y = np.where((X**2).sum(axis=1) < 0.2, 1, -1)
TOLD = {"data_norm": 1.0, "classes": [-1, 1], "kernel": RBF(4.0)}
MODELS = {
    "oracle": lambda **more: BoundedUpdateOracle(**TOLD, **more),
    "net": lambda **more: NonInteractiveKernel(**TOLD, net=40, method="updates", **more),
}

pytestmark = pytest.mark.filterwarnings("ignore:GaussianProcessOracle answers")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_would_stay_zero_is_refused_and_costs_nothing(name):
    ledger = MemoryLedger(Budget(5.0, 1e-5))
    model = MODELS[name](epsilon=3.0, delta=1e-6, expected_rows=1500, ledger=ledger)
    with pytest.raises(InputError, match="1,500 rows it will most likely answer 0 to everything"):
        model.fit(X, Y)
    assert ledger.history() == ()


@pytest.mark.parametrize("epsilon", [3.0, 300.0])
def test_an_oracle_that_is_asked_for_all_the_same_answers_zero(epsilon):
    model = MODELS["oracle"](
        epsilon=epsilon, delta=1e-6, expected_rows=1500, may_be_constant=True, rehearsal=0
    )
    with pytest.warns(RehearsalWarning):
        model.fit(X, Y)
    assert {(each.value, each.status) for each in model.ask_with_status(X[:200])} == {
        (0.0, "public")
    }


@pytest.mark.parametrize("count", [10, 1499, 1500])
@pytest.mark.parametrize("name", MODELS)
def test_whether_a_fit_is_refused_does_not_tell_how_many_rows_there_are(name, count):
    with pytest.raises(InputError) as told:
        MODELS[name](epsilon=0.5, delta=1e-6, max_rows=2000).fit(X[:count], Y[:count])
    assert "2,000 rows" in str(told.value)


def test_where_the_number_of_rows_is_public_it_is_used():
    with pytest.raises(InputError, match="900 rows"):
        MODELS["oracle"](epsilon=3.0, delta=1e-6, unit="replace").fit(X[:900], Y[:900])


@pytest.mark.parametrize("name", MODELS)
def test_what_may_learn_something_is_not_refused(name):
    own = {"threshold": 0.1, "max_updates": 30} if name == "oracle" else {}
    told = {"epsilon": 300.0, "delta": 1e-6, "expected_rows": 1500, "rehearsal": 0, **own}
    with pytest.warns(RehearsalWarning):
        model = MODELS[name](**told).fit(X, Y)
    assert len(set(model.predict(X[:200]))) == 2
