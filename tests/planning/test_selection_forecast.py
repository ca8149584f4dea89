"""Forecasts of choices and averages agree with the plans that they are about."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from discreet.errors import InputError
from discreet.feature_selection import PeelingSupport
from discreet.model_selection import SampleAndAggregate
from discreet.planning import forecast_average, forecast_peeling, forecast_votes
from discreet.privacy import Budget
from support.estimators import rehearsal

GENERATOR = np.random.default_rng(3)
X = GENERATOR.uniform(-1, 1, (3000, 30))


@rehearsal
def test_what_is_hopeful_is_found_and_what_is_not_is_not():
    y = np.where(X[:, 4] > 0, 1.0, -1.0)
    for rows, epsilon in ((3000, 1.0), (60, 0.5)):
        forecast = forecast_peeling(Budget(epsilon), size=1, columns=30, n=rows)
        found = [
            PeelingSupport(
                1, epsilon=epsilon, delta=0.0, entry_bound=1.0, target_range=(-1, 1), rehearsal=seed
            )
            .fit(X[:rows], y[:rows])
            .selected_[0]
            for seed in range(5)
        ]
        assert (found == [4] * 5) == forecast.is_hopeful
        assert ("at random" in forecast.claim()) == (not forecast.is_hopeful)
    assert forecast_peeling(Budget(math.inf), size=2, columns=9, n=10).error == 0


@rehearsal
def test_the_noise_of_an_average_is_as_forecast():
    budget = Budget(8.0, 1e-6)
    forecast = forecast_average(budget, outputs=31, width=4.0, n=3000, blocks=60)
    models = [
        SampleAndAggregate(
            Ridge(1e9),
            epsilon=8.0,
            delta=1e-6,
            bounds=(-2, 2),
            target_range=(-1, 1),
            blocks=60,
            rehearsal=seed,
        ).fit(X, np.zeros(3000))
        for seed in range(4)
    ]
    inside = np.concatenate([model.estimate_ for model in models])
    assert forecast.deviation < 0.5  # so that nothing is cut off at the bounds
    np.testing.assert_allclose(np.std(inside), forecast.deviation, rtol=0.3)
    assert "standard deviation" in forecast.claim()
    wide = forecast_average(budget, outputs=2, width=4.0, n=3000, aggregate="winsorised")
    assert wide.is_relative
    assert "quartiles" in wide.claim()


def test_a_vote_is_forecast_with_its_threshold():
    forecast = forecast_votes(Budget(1.0, 1e-6), n=5000, share=0.75, blocks=60)
    assert (forecast.needed, forecast.lead, forecast.chance) == (146, 29, 0.0)
    assert forecast.document()["rows_in_block"] == pytest.approx(5000 / 60)
    assert "146 blocks would do" in forecast.claim()
    with pytest.raises(InputError):
        forecast_votes(Budget(1.0), n=100)
