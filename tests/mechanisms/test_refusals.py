"""Refusal is part of the output: whether a plan releases does not depend on its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Bounds, Interval
from discreet.geometry import Box, L2Ball, LinfBall
from discreet.linear_model import QuantileRegressor
from discreet.losses import Huber, SmoothedPinball
from discreet.mechanisms import ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.penalised import PenalisedMinimiser
from discreet.mechanisms.minimising.proximal_search import ProximalSearch
from discreet.mechanisms.sampling.guide import find_guide
from discreet.mechanisms.sampling.lattice import region_around
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions.problem import Problem
from support.refusals import NAMES, Setting, Table, attack, hardened, outcome

pytestmark = pytest.mark.filterwarnings("ignore")  # rows may hold anything


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_of_every_mechanism_are_both_released(name):
    tried = 0
    for seed in range(100, 130):
        found = attack(seed, name=name, tables=6)
        if found is None:
            continue
        assert not found.wrong
        tried += found.pairs
        if tried >= 10:
            break
    assert tried >= 10


def in_a_box(loss, *, unit, mechanism, columns=1, count=300, size=3.0, ridge=1.0):
    bounds = Bounds(L2Ball(1.0), columns, labels=Interval(-size, size), max_rows=count + 1)
    problem = Problem(loss, bounds, ridge=ridge, penalty=Indicator(LinfBall(size)))
    plan = mechanism.plan(problem, Budget(1.0), unit)
    return Setting(mechanism, problem, unit, Budget(1.0), count, plan)


NARROW = (
    in_a_box(SmoothedPinball(0.5, 0.001), unit=ReplaceOne(), mechanism=OutputPerturbation()),
    in_a_box(Huber(1e-4), unit=AddRemoveOne(), mechanism=OutputPerturbation(), ridge=1e-4),
    in_a_box(SmoothedPinball(0.1, 0.01), unit=AddRemoveOne(), columns=2, count=2000, ridge=300.0,
             mechanism=ObjectivePerturbation()),
)  # fmt: skip
every_narrow = pytest.mark.parametrize("setting", NARROW, ids=str)


def meeting(setting, centre, count=None):
    """Rows that all bend at one point."""
    count, columns = count or setting.count, setting.bounds.n_features
    return Table(np.full((count, columns), columns**-0.5), np.full(count, centre))


def refusals(setting, centres):
    tables = (meeting(setting, centre) for centre in centres)
    return [what for what in (outcome(setting, table, 1) for table in tables) if what != "released"]


CENTRES = np.linspace(2.1, 2.9, 12)


@every_narrow
def test_where_curvatures_jump_within_a_few_floats_plans_release_too(setting):
    assert not refusals(setting, CENTRES)


@every_narrow
def test_a_search_for_rows_without_a_certificate_comes_to_nothing(setting):
    draw = np.random.default_rng(7)
    for centre in (2.2, 2.7):
        table, share = hardened(setting, meeting(setting, centre), draw, seed=3, steps=25)
        assert share <= 1
        assert outcome(setting, table, 3) == "released"


def with_the_tolerance_of_old(monkeypatch):
    """An eighth of the spacing of floats, and what no solver was sure to reach."""

    def tight(plain):
        return plain.float_error + plain.spacing / 8

    def tight_too(penalised):
        return tight(penalised.plain) + 2 * penalised._through_prox

    monkeypatch.setattr(Minimiser, "tolerance", property(tight))
    monkeypatch.setattr(PenalisedMinimiser, "tolerance", property(tight_too))
    monkeypatch.setattr(ProximalSearch, "_solve_slowly", lambda *_: iter(()))  # it would take hours


def test_a_tolerance_that_some_rows_cannot_meet_is_caught(monkeypatch):
    with_the_tolerance_of_old(monkeypatch)
    assert 0 < len(refusals(NARROW[0], CENTRES)) < len(CENTRES)
    assert any(
        found is not None and found.wrong
        for found in (attack(seed, name="output_perturbation", tables=8) for seed in (6, 20))
    )


def test_one_record_does_not_decide_whether_a_quantile_is_learnt():
    # With the tolerance of old the first table was refused whatever the noise, the second never.
    model = QuantileRegressor(
        epsilon=1, delta=0, unit="replace", smoothing=0.01, domain=Box([-3.0], [3.0]),
        mechanism="output_perturbation", fit_intercept=False, max_rows=2000, alpha=10.0,
        target_range=(-3.0, 3.0), rehearsal=1, data_norm=1.0
    )  # fmt: skip
    X, y = np.ones((2000, 1)), np.full(2000, 2.140677966101695)
    other = y.copy()
    other[0] = 3.0
    for targets in (y, other):
        assert np.abs(model.fit(X, targets).coef_).max() <= 3


@dataclass(frozen=True)
class Flat:
    """An energy whose slope is so small that its square vanishes."""

    problem: Problem

    def second_order(self, point, blur):
        return 0.0, np.full(point.size, 1e-200), np.eye(point.size)


def test_slopes_whose_squares_vanish_have_a_guide():
    # Draws for such rows once ended with an error; others did not.
    guide = find_guide(Flat(NARROW[0].question), region_around(np.array([5.0]), 2.0, None))
    assert np.isfinite(guide.spread).all()
    assert guide.spread.min() >= 1


ANY_NUMBER = st.one_of(
    st.floats(allow_subnormal=True),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-160, 1e308, -1e308, 1.0, -1.0, 3.0, -3.0]),
)
ROWS = st.lists(st.tuples(ANY_NUMBER, ANY_NUMBER), min_size=1, max_size=12)


@every_narrow
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, other=st.tuples(ANY_NUMBER, ANY_NUMBER), repeats=st.sampled_from([1, 20]))
def test_any_numbers_at_all_are_released(setting, rows, other, repeats):
    columns = setting.bounds.n_features
    for table in ([*rows, other] * repeats, rows * repeats, [*rows[:-1], other] * repeats):
        X, y = np.array(table).T
        assert outcome(setting, Table(np.tile(X[:, None], columns), y), 5) == "released"
