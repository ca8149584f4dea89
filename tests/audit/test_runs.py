"""Many runs: their seeds, their order, and what they complain about."""

from __future__ import annotations

from functools import partial

import joblib
import numpy as np
import pytest

from discreet.audit import Pair
from discreet.audit.statistical.runs import Estimator, Function, Vectorised, as_run, collect_outputs
from discreet.errors import AuditError

PAIR = Pair(np.zeros((1, 1)), np.zeros((2, 1)), "add_remove")


def seed_of(data, seed):
    return [len(data), seed]


class Seeds:
    def many(self, data, count, seed):
        return np.column_stack([np.full(count, len(data)), seed + np.arange(count)])


class Model:
    """As an estimator is: parameters, a fit, attributes that end in an underscore."""

    def __init__(self, name="rehearsal"):
        self.name, self.seed = name, None

    def get_params(self, deep=True):
        return {self.name: self.seed}

    def set_params(self, **parameters):
        self.seed = parameters[self.name]
        return self

    def fit(self, X, y=None):
        self.seen_ = [len(X), 0 if y is None else len(y)]
        self.seed_ = self.seed
        return self


def run_both(run, *, trials=50, seed=1, n_jobs=1):
    return collect_outputs(as_run(run), PAIR, trials, seed=seed, n_jobs=n_jobs, verbose=0)


@pytest.mark.parametrize("run", [seed_of, Seeds()])
@pytest.mark.parametrize("trials", [9, 16, 50, 333])
def test_every_trial_on_either_data_set_has_a_seed_of_its_own(run, trials):
    first, second = run_both(run, trials=trials)
    assert first.shape == second.shape == (trials, 2)
    assert (first[:, 0] == 1).all()
    assert (second[:, 0] == 2).all()
    seeds = np.concatenate([first[:, 1], second[:, 1]])
    assert len(set(seeds.tolist())) == 2 * trials
    assert 0 <= seeds.min() <= seeds.max() < 2**32


def test_another_seed_makes_other_runs_and_the_same_seed_the_same():
    one, again, other = (run_both(seed_of, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not set(one[:, 1]) & set(other[:, 1])


def test_without_a_seed_runs_are_new_each_time():
    one, other = (run_both(seed_of, seed=None)[0] for _ in range(2))
    assert (one != other).any()


@pytest.mark.parametrize("run", [seed_of, Seeds(), Model()])
def test_the_number_of_workers_changes_nothing(run):
    alone = run_both(run)
    with joblib.parallel_config(backend="threading"):
        together = run_both(run, n_jobs=2)
    np.testing.assert_array_equal(alone[0], together[0])
    np.testing.assert_array_equal(alone[1], together[1])


@pytest.mark.parametrize("name", ["rehearsal", "random_state"])
def test_an_estimator_is_copied_and_fitted_with_another_seed_each_time(name):
    model = Model(name)
    first, second = run_both(model)
    assert len(set(first[:, 0]) | set(second[:, 0])) == 100
    assert (first[:, 1] == 1).all()
    assert vars(model) == {"name": name, "seed": None}


def test_an_estimator_is_fitted_to_the_parts_of_a_tuple():
    pair = Pair((np.zeros((3, 1)), np.ones(3)), (np.zeros((2, 1)), np.ones(2)), "add_remove")
    first, _ = collect_outputs(as_run(Model()), pair, 20, seed=1, n_jobs=1, verbose=0)
    np.testing.assert_array_equal(first[0, 1:], [3, 3])


def test_a_run_is_recognised_by_what_it_can_do():
    assert isinstance(as_run(seed_of), Function)
    assert isinstance(as_run(Seeds()), Vectorised)
    assert isinstance(as_run(Model()), Estimator)
    ready = Function(seed_of)
    assert as_run(ready) is ready
    with pytest.raises(AuditError, match="got a value of type int"):
        as_run(3)


def test_whether_a_run_takes_a_seed_is_seen_from_its_arguments():
    assert as_run(seed_of).takes_seed
    assert as_run(partial(seed_of, seed=3)).takes_seed
    assert not as_run(len).takes_seed
    assert not as_run(dict).takes_seed
    assert Estimator(Model()).takes_seed


def test_a_run_that_raises_is_reported_with_its_data_set_and_its_cause():
    def fails(data):
        if len(data) == 2:
            raise KeyError("nothing here")
        return 0.0

    with pytest.raises(AuditError, match="KeyError on the second data set: 'nothing here'") as told:
        run_both(fails)
    assert isinstance(told.value.__cause__, KeyError)


def test_the_wrong_number_of_releases_is_refused():
    class Short:
        def many(self, data, count, seed):
            return np.zeros((count - 1, 1))

    with pytest.raises(AuditError, match=r"many\(\) was asked for 3 releases and returned 2"):
        run_both(Short())


def test_a_generator_that_was_copied_to_workers_is_noticed():
    random = np.random.default_rng(0)

    def noisy(data):
        return len(data) + random.laplace()

    assert np.unique(run_both(noisy, trials=400)[0]).size == 400
    with pytest.raises(AuditError, match="repeats its random numbers"):
        run_both(noisy, trials=400, n_jobs=2)
