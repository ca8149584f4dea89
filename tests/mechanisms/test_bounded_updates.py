"""Bounded updates: the certificate, the public model, and adversaries who sit at the threshold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from audits.adaptive_queries import steer_updates
from audits.mutants.oracles import exact_divergence
from discreet.audit.cases.oracles import POINTS, queries_of, wide_pair
from discreet.errors import CalibrationError
from discreet.mechanisms import BoundedUpdates, GaussianProcess
from discreet.mechanisms.bounded_updates import farthest_noise
from discreet.mechanisms.query_answering import CODES, UPDATED
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Laplace, ThresholdedLaplace
from support.cases import case_labelled
from support.cases.base import data_of

CASE = case_labelled("bounded updates, add_remove")
BUDGET = Budget(1.0, 1e-6)


@pytest.mark.parametrize(
    ("order", "rate", "updates", "exact", "certified"),
    [(2.0, 0.05, 5, 0.0263, 0.0308), (4.0, 0.02, 20, 0.0341, 0.0375)],  # theory, K-1, item 5
)
def test_the_certificate_is_above_the_exact_divergence_and_near_it(
    order, rate, updates, exact, certified
):
    found = float(ThresholdedLaplace(rate, updates).rdp([order])[0])
    reached = exact_divergence(rate, updates, order)
    assert reached == pytest.approx(exact, abs=1e-4)
    assert found == pytest.approx(certified, abs=1e-4)
    assert reached <= found
    assert reached > updates * float(Laplace(rate).rdp([order])[0])  # paying for updates is wrong


@pytest.mark.parametrize("rate", [1e-3, 0.02, 0.2])
@pytest.mark.parametrize("updates", [1, 30])
def test_no_adversary_of_two_outcomes_beats_the_certificate(rate, updates):
    orders = np.array([1.2, 2.0, 4.0, 9.0])
    for order, bound in zip(orders, ThresholdedLaplace(rate, updates).rdp(orders), strict=True):
        assert exact_divergence(rate, updates, float(order)) <= bound


def test_orders_at_which_nothing_is_admissible_have_no_bound():
    assert math.isinf(ThresholdedLaplace(0.5, 3).rdp([20.0])[0])
    assert ThresholdedLaplace(0.5, 3).delta(0.5) == 1.0


def test_runs_together_have_the_answers_of_single_runs():
    plan = CASE.plan()
    rows = CASE.worst_pair[1].open(CASE)
    for threshold in (plan.grid.scale / 4, 2 * plan.grid.scale):
        one = replace(plan, threshold=threshold, updates=9)
        together = one.run_many(rows, RehearsalNoise(4), 1)
        np.testing.assert_allclose(together[0], one.run(rows, RehearsalNoise(4)), rtol=1e-12)


def test_there_are_never_more_updates_than_declared():
    plan = replace(CASE.plan(), threshold=1e-9)
    transcripts = plan.run_many(CASE.worst_pair[1].open(CASE), RehearsalNoise(1), 50)
    updated = (transcripts[:, :, 1] == CODES[UPDATED]).sum(axis=1)
    assert (updated == plan.updates).all()


def test_enough_updates_are_chosen_for_every_answer_to_be_near():
    question = replace(queries_of(POINTS), ridge=0.5, points=(), max_answers=100)
    plan = BoundedUpdates().plan(question, BUDGET, AddRemoveOne())
    far = farthest_noise(plan.grid.scale, question.max_answers)
    assert plan.threshold == pytest.approx(4 * far)
    assert plan.updates * 8 * far**2 >= (question.norm_bound * question.row_norm) ** 2
    better = GaussianProcess().plan(question, BUDGET, AddRemoveOne())
    assert better.scale < plan.grid.scale


def test_an_adversary_at_the_threshold_stays_within_the_certificate():
    """Means of e^(loss) over transcripts, against what the certificate allows at order two.

    150 games: a loss of a transcript is below 0.3 here, so the mean errs by less than 0.1.
    """
    question = replace(queries_of(POINTS), points=(), max_answers=50)
    plan = BoundedUpdates(updates=3).plan(question, BUDGET, AddRemoveOne())
    plan = replace(plan, threshold=plan.grid.scale)  # an update in every third round
    moment = steer_updates(
        plan, data_of(wide_pair(AddRemoveOne())), question.bounds, games=150, seed=2
    )
    allowed = math.exp(float(plan.guarantee.profile.rdp([2.0])[0]))
    assert moment <= allowed + 0.1


def test_a_pure_budget_is_refused():
    with pytest.raises(CalibrationError, match="use a small delta"):
        BoundedUpdates().plan(queries_of(POINTS), Budget(1.0), AddRemoveOne())
