"""The audit of a peer, with stand-ins for it: nothing is installed and nothing is downloaded."""

from __future__ import annotations

import doctest
import json
import sys
import types

import audit_diffprivlib
import diffprivlib_settings
import implied_noise
import numpy as np
import own_environment
import pytest
from implied_noise import LikelihoodRatio, Objective, SharedNoise
from scipy.optimize import minimize


class StandIn:
    """Takes what the peer's estimators take; coefficients are ``answer(y)``, plus noise."""

    def __init__(self, *, epsilon, random_state, **parameters):
        self.generator = np.random.default_rng(random_state)
        self.parameters = parameters

    def fit(self, X, y):
        self.coef_ = self.answer(X, y) + self.generator.laplace(size=(1, 1))
        self.intercept_ = np.array([7.0])
        return self


class Blind(StandIn):
    def answer(self, X, y):
        return 0.0


class Telling(StandIn):
    def answer(self, X, y):
        return 50 * (X.sum() + y[0])


@pytest.fixture
def module_of(monkeypatch):
    def make(estimator):
        module = types.ModuleType("stand_in_for_a_peer")
        module.LogisticRegression = module.LinearRegression = estimator
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module.__name__

    return make


def settings_named(module, part):
    found = [s for s in diffprivlib_settings.settings(module) if part in s.name]
    assert found
    return found


def test_names_tell_settings_apart():
    names = [setting.name for setting in diffprivlib_settings.settings()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("setting", diffprivlib_settings.settings(), ids=lambda s: s.name)
def test_pairs_are_neighbours_within_the_declared_bounds(setting):
    assert setting.pair.is_checked
    assert setting.pair.unit.name == "replace"
    parameters = setting.run.parameters
    for X, y in (setting.pair.first, setting.pair.second):
        if setting.run.estimator == "LogisticRegression":
            assert np.linalg.norm(X, axis=1).max() <= parameters["data_norm"]
            assert np.unique(y).size >= 2
        else:
            for values, (low, high) in ((X, parameters["bounds_X"]), (y, parameters["bounds_y"])):
                assert low <= values.min()
                assert values.max() <= high


def test_a_fit_returns_coefficients_then_intercepts_and_repeats_with_its_seed(module_of):
    data = np.zeros((2, 1)), np.array([0, 1])
    module = module_of(Blind)
    with_intercept = diffprivlib_settings.Fit(module, "LinearRegression", {"bounds_X": (0, 1)})
    without = diffprivlib_settings.Fit(
        module, "LinearRegression", {"fit_intercept": False}, width=3
    )
    assert with_intercept(data, seed=1)[1] == 7.0
    assert without(data, seed=1)[0] == with_intercept(data, seed=1)[0]
    assert without(data, seed=1)[0] != without(data, seed=2)[0]
    assert without(data, seed=1)[1:].tolist() == [0.0, 0.0]


def test_what_is_told_is_certified_and_what_is_not_is_not_refuted(module_of, capsys):
    part = "bounds (0, 1), no intercept"
    found = audit_diffprivlib.audited(
        settings_named(module_of(Telling), part), trials=400, seed=1
    ) + audit_diffprivlib.audited(settings_named(module_of(Blind), part), trials=400, seed=1)
    assert [entry["verdict"] for entry in found] == ["certified above its claim", "not refuted"]
    assert found[0]["certified"] > 1 > found[1]["certified"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "setting",
        "claimed",
        "certified",
        "confidence",
        "trials",
        "verdict",
    ]
    assert lines[1].endswith("400  certified above its claim")
    assert lines[3].endswith("400  not refuted")


def test_checks_are_printed_and_kept(capsys):
    assert audit_diffprivlib.observed({"sky": lambda: "blue"}) == {"sky": "blue"}
    assert capsys.readouterr().out == "sky: blue\n"


def fitted(objective, X, hit, noise):
    """Minimise the perturbed objective itself, by another way than the scores' formulas."""
    rows = np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X

    def value(w):
        free = w[: X.shape[1]]
        curb = objective.penalty * free @ free + objective.ridge * w @ w
        return np.logaddexp(0, -(2 * hit - 1) * (rows @ w)).sum() + curb / 2 + noise @ w

    return minimize(value, np.zeros(rows.shape[1]), tol=1e-12).x


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_fit_implies_its_noise(fit_intercept):
    objective = Objective.planned(1.0, data_norm=5.0, C=1.0, classes=1, fit_intercept=fit_intercept)
    assert objective.ridge > 0
    generator = np.random.default_rng(0)
    X, hit = generator.standard_normal((6, 2)), np.array([0.0, 1, 0, 1, 1, 0])
    noise = generator.standard_normal(2 + fit_intercept)
    fit = fitted(objective, X, hit, noise)
    assert np.allclose(objective.noise(fit[None], X, hit)[0], noise, atol=1e-4)


def test_volumes_are_the_derivative_of_implied_noise():
    objective = Objective(penalty=0.7, ridge=0.2, scale=1.0, fit_intercept=True)
    X, hit, fit = np.array([[1.0], [-2.0]]), np.array([1.0, 0.0]), np.array([[0.3, -0.4]])
    step = 1e-6 * np.eye(2)
    slopes = (objective.noise(fit + step, X, hit) - objective.noise(fit - step, X, hit)) / 2e-6
    volume = np.log(abs(np.linalg.det(slopes)))
    assert np.isclose(objective.log_volume(fit, X)[0], volume, atol=1e-6)


def test_classes_that_share_noise_give_the_data_away():
    (setting,) = settings_named("not_imported", "n_jobs 2")
    score = next(score for score in setting.scores if isinstance(score, SharedNoise))
    generator = np.random.default_rng(0)
    noises = [generator.standard_normal(1) * 10 for _ in range(4)]
    for data, sign in ((setting.pair.first, -1), (setting.pair.second, 1)):
        X, y = data
        fits = np.array([
            np.concatenate([fitted(score.objective, X, (y == c).astype(float), noise)
                            for c in (0, 1, 2)])
            for noise in noises
        ])  # fmt: skip
        assert (sign * score.learn(fits, fits)(fits) > 3).all()


def test_fits_without_a_minimum_are_scored_with_finite_numbers():
    (setting,) = settings_named("not_imported", "data_norm 1, intercept")
    (score,) = setting.scores
    assert isinstance(score, LikelihoodRatio)
    values = np.array([[3.0, 1e16], [3.0, -1e16], [0.0, 0.0], [1e300, 1e300]])
    with np.errstate(all="ignore"):
        assert np.isfinite(score.learn(values, values)(values)).all()


def test_the_likelihood_ratio_is_that_of_the_two_densities():
    (setting,) = settings_named("not_imported", "data_norm 1, no intercept")[:1]
    (score,) = setting.scores
    grid = np.linspace(-80, 80, 40_001)[:, None]
    ratio = np.exp(score.learn(grid, grid)(grid))
    scale = score.objective.scale
    assert not setting.pair.first[0].any()  # so that noise is minus the fit, the penalty being one
    first = np.exp(-np.abs(grid[:, 0]) / scale) / (2 * scale)
    width = grid[1, 0] - grid[0, 0]
    assert np.isclose(first.sum() * width, 1.0, atol=1e-3)
    assert np.isclose((ratio * first).sum() * width, 1.0, atol=1e-3)
    assert np.isclose(ratio[20_000], 1.25 * np.exp(-0.5 / scale))


def test_examples_of_the_scores_run():
    assert doctest.testmod(implied_noise).failed == 0


def test_an_environment_is_ready_only_for_what_was_installed(tmp_path):
    assert not own_environment.is_ready(tmp_path, ["peer==1"])
    (tmp_path / ".ready").write_text("peer==1")
    assert own_environment.is_ready(tmp_path, ["peer==1"])
    assert not own_environment.is_ready(tmp_path, ["peer==2"])
    assert not own_environment.is_inside(tmp_path)


def test_packages_are_named_without_a_host():
    for path in audit_diffprivlib.HERE.glob("*.py"):
        assert "://" not in path.read_text()
        assert "index-url" not in path.read_text()
