"""The best of a random number of trials: its law by enumeration, and dp-accounting's numbers."""

import math

import numpy as np
import pytest
from dp_accounting import dp_event, rdp

from discreet.errors import InputError
from discreet.privacy import Approximate, Gaussian, Pure, SelectedTrial, TrialLaw, within
from discreet.privacy.pure import Pure as PureProfile

SHAPES = [1.0, 0.5, 0.0, None]
every_shape = pytest.mark.parametrize("shape", SHAPES)


def law_of_best(outcomes, law):
    """Return the chances of the best of K trials, of no trial last; outcomes are in order."""
    cumulative = np.append(0.0, np.cumsum(outcomes))
    counts = np.arange(0, 400)
    weights = np.array([law.chance(int(count)) for count in counts])
    best = (weights * cumulative[:, None] ** counts).sum(axis=1)
    return np.append(np.diff(best), weights[0])


def hockey_stick(first, second, epsilon):
    return np.maximum(first - math.exp(epsilon) * second, 0.0).sum()


def pairs_of_laws(level):
    """Yield trials with finitely many outcomes whose log chances differ by ``level`` at most."""
    odds = math.exp(level)
    yield np.array([1.0, odds]) / (1 + odds), np.array([odds, 1.0]) / (1 + odds)
    generator = np.random.default_rng(5)
    for _ in range(20):
        first = generator.dirichlet(np.ones(4))
        tilted = first * np.exp(level / 2 * generator.choice([-1, 1], size=4))
        yield first, tilted / tilted.sum()


@every_shape
@pytest.mark.parametrize("mean", [1.5, 6.0])
def test_the_exact_law_of_the_best_of_pure_trials_is_within_the_profile(shape, mean):
    law = TrialLaw.with_mean(mean, shape)
    profile = SelectedTrial(Pure(0.4), law.rate, law.shape)
    for one, other in pairs_of_laws(0.4):
        laws = law_of_best(one, law), law_of_best(other, law)
        assert laws[0].sum() == pytest.approx(1.0, abs=1e-9)
        for epsilon in (0.0, 0.2, 0.5, 0.8, 1.0):
            exact = max(hockey_stick(*laws, epsilon), hockey_stick(*laws[::-1], epsilon))
            assert exact <= profile.delta(epsilon) + 1e-12


def test_a_promise_of_one_trial_does_not_hold_for_the_best_of_many():
    # The test above can fail: half of what selection costs is not enough.
    law = TrialLaw.with_mean(6.0)
    one, other = next(pairs_of_laws(0.4))
    laws = law_of_best(one, law), law_of_best(other, law)
    assert max(hockey_stick(*laws, 0.4), hockey_stick(*laws[::-1], 0.4)) > 1e-3


@every_shape
def test_the_renyi_curve_of_gaussian_trials_is_dp_accountings(shape):
    law = TrialLaw.with_mean(8.0, shape)
    orders = tuple(range(2, 300))
    accountant = rdp.RdpAccountant(orders)
    kind = math.inf if shape is None else shape
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(10.0), law.mean, kind)
    accountant.compose(event)
    ours = SelectedTrial(Gaussian(0.1), law.rate, law.shape).rdp(orders)
    if shape is None:  # the exact profile of a trial, and not one by way of its Renyi curve
        assert (ours <= accountant.rdp).all()
    else:  # ours is that of the next order that is kept
        np.testing.assert_allclose(ours[14:], accountant.rdp[14:], rtol=0.05)


@every_shape
def test_epsilon_is_that_of_dp_accounting_or_less(shape):
    law = TrialLaw.with_mean(8.0, shape)
    accountant = rdp.RdpAccountant()
    kind = math.inf if shape is None else shape
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(5.0), law.mean, kind)
    accountant.compose(event)
    theirs = accountant.get_epsilon(1e-6)
    ours = SelectedTrial(Gaussian(0.2), law.rate, law.shape).epsilon(1e-6)
    assert ours <= theirs * 1.001
    assert shape is None or ours >= theirs * 0.98


@pytest.mark.parametrize("shape", [0.0, 0.25, 1.0])
def test_a_pure_trial_costs_two_and_its_shape_times_as_much(shape):
    law = TrialLaw.with_mean(5.0, shape)
    assert SelectedTrial(Pure(0.3), law.rate, law.shape).epsilon(0.0) == (2 + shape) * 0.3


def test_a_failure_of_a_trial_counts_as_often_as_there_are_trials():
    law = TrialLaw.with_mean(5.0)
    profile = SelectedTrial(Approximate(0.1, 1e-7), law.rate, law.shape)
    assert profile.failure == pytest.approx(5e-7, rel=1e-6)
    assert profile.delta(5.0) == pytest.approx(5e-7, rel=1e-6)
    assert isinstance(profile.core.of, PureProfile)


def test_a_distance_is_stated_afterwards():
    with pytest.raises(InputError, match="then its distance"):
        SelectedTrial(within(Gaussian(0.1), 1e-20), 0.5, 1.0)


@every_shape
def test_a_law_of_trials_adds_up_and_has_its_mean(shape):
    law = TrialLaw.with_mean(7.0, shape)
    chances = np.array([law.chance(count) for count in range(600)])
    assert chances.sum() == pytest.approx(1.0, abs=1e-9)
    assert (chances * np.arange(600)).sum() == pytest.approx(7.0, rel=1e-6)
    assert law.mean == pytest.approx(7.0, rel=1e-6)
    assert np.cumsum(chances)[law.quantile(0.9)] >= 0.9 > np.cumsum(chances)[law.quantile(0.9) - 1]


@pytest.mark.parametrize(
    ("mean", "shape", "words"),
    [(1.0, 1.0, "above 1"), (1e6, 1.0, "at most"), (4.0, 1.5, "between 0 and 1"),
     (4.0, -0.1, "between 0 and 1"), (math.nan, 1.0, "mean")],
)  # fmt: skip
def test_laws_that_are_none_are_refused(mean, shape, words):
    with pytest.raises(InputError, match=words):
        TrialLaw.with_mean(mean, shape)


def test_a_law_that_cannot_be_drawn_exactly_is_refused():
    with pytest.raises(InputError, match="drawn from exactly"):
        TrialLaw(1 / 3, 1.0)
