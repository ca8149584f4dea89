"""Candidates fitted to secret parts: the law of the whole, and how rows are dealt."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from discreet.audit.cases.votes import choice_of_columns
from discreet.errors import CalibrationError, NotAccepted
from discreet.mechanisms import Mechanism, OutputPerturbation, Plan, RepeatAndSelect, TrainAndChoose
from discreet.mechanisms.base import YES
from discreet.mechanisms.held_out_errors import count_errors
from discreet.mechanisms.secret_parts import PartSizes
from discreet.mechanisms.train_and_choose import read_choice
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure, ReplaceOne, TrialLaw
from discreet.questions import Interval, LabelSet
from support.opened import open_rows

ADD, REPLACE = AddRemoveOne(), ReplaceOne()
CHOICE = choice_of_columns()
RUNS = 500


@dataclass(frozen=True)
class Response(Mechanism):
    """A coefficient of 1 or -1: randomised response about whether there is a row above zero."""

    name = "response"

    def accepts(self, question, unit):
        return YES

    def _plan(self, question, budget, unit):
        return ResponsePlan(Guarantee(Pure(budget.epsilon), unit), budget.epsilon)


@dataclass(frozen=True, eq=False)
class ResponsePlan(Plan):
    guarantee: Guarantee
    level: float

    def run(self, rows, noise):
        X, _ = rows.gather()
        says_so = int(noise.below(2**40, 1)[0]) < 2**40 * truth_of(self.level)
        return np.array([1.0 if bool((X > 0).any()) == says_so else -1.0])


def truth_of(level):
    return 1 / (1 + math.exp(-level))


RESPONSES = (Response(), Response())


def law_of_split(X, y, level, epsilon, is_shared=False):
    """Enumerate deals, answers and choices: chances of each candidate with each coefficient."""
    law = Counter()
    parts, tickets = (2, (3, 1)) if is_shared else (3, (1, 1, 1))
    for deal in itertools.product(range(parts), repeat=len(y)):
        chance = math.prod(tickets[part] / sum(tickets) for part in deal)
        fitted = [0, 0] if is_shared else [0, 1]
        held = [i for i, part in enumerate(deal) if part == parts - 1]
        for answers in itertools.product((1.0, -1.0), repeat=2):
            weight, scores = chance, []
            for column, (part, answer) in enumerate(zip(fitted, answers, strict=True)):
                holds = any(X[i][column] > 0 for i, dealt in enumerate(deal) if dealt == part)
                is_true = (answer > 0) == holds
                weight *= truth_of(level) if is_true else 1 - truth_of(level)
                predicted = [1.0 if X[i][column] * answer > 0 else -1.0 for i in held]
                scores.append(sum(p != y[i] for p, i in zip(predicted, held, strict=True)))
            weights = [math.exp(-epsilon * score) for score in scores]
            for column in (0, 1):
                law[column, answers[column]] += weight * weights[column] / sum(weights)
    return law


def hockey_stick(first, second, epsilon):
    return sum(max(first[key] - math.exp(epsilon) * second[key], 0.0) for key in first)


SMALL = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1.0])
LARGE = np.vstack([SMALL[0], [[1.0, 1.0]]]), np.append(SMALL[1], -1.0)


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_exact_law_of_a_search_is_within_its_profile_and_is_what_runs(is_shared):
    epsilon = 1.2
    mechanism = TrainAndChoose(RESPONSES, is_shared=is_shared)
    plan = mechanism.plan(CHOICE, Budget(epsilon), ADD)
    level = plan.models[0].plan.level
    assert level == pytest.approx(epsilon / 2 if is_shared else epsilon)
    laws = [law_of_split(*data, level, epsilon, is_shared) for data in (SMALL, LARGE)]
    for one in laws:
        assert sum(one.values()) == pytest.approx(1.0)
    for e in np.linspace(0, epsilon, 7):
        exact = max(hockey_stick(*laws, e), hockey_stick(*laws[::-1], e))
        assert exact <= plan.guarantee.delta(e) + 1e-12
    assert max(hockey_stick(*laws, 0.0), hockey_stick(*laws[::-1], 0.0)) > 0.01
    X, y = LARGE
    drawn = plan.run_many(open_rows(X, y, bounds=CHOICE.bounds, unit=ADD), RehearsalNoise(2), RUNS)
    counts = Counter((int(line[0]), float(line[2])) for line in drawn)
    for outcome, chance in laws[1].items():
        deviation = math.sqrt(RUNS * chance * (1 - chance))
        assert abs(counts[outcome] - RUNS * chance) < 4.5 * deviation  # once in 100,000


def test_trials_have_the_law_of_the_best_of_them():
    law = TrialLaw.with_mean(3.0)
    plan = RepeatAndSelect(RESPONSES, law).plan(CHOICE, Budget(1.2), ADD)
    assert plan.models[0].plan.level == pytest.approx(0.4)
    rate = plan.rate / 2**40
    assert rate == pytest.approx(0.4)
    X, y = np.array([[1.0, 1.0]]), np.array([1.0])
    # One row: held out once in four times, and then no model has seen it.
    truth, q = truth_of(plan.models[0].plan.level), math.exp(-rate)
    noise = {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-150, 151)}
    right = 0.0
    for share, says_yes, is_held in ((0.75, truth, False), (0.25, 1 - truth, True)):
        trial = Counter()
        for answer, chance in ((1.0, says_yes), (-1.0, 1 - says_yes)):
            errors = int(is_held and answer < 0)
            for step, height in noise.items():
                trial[errors + step, answer] += chance * height
        beyond, chances = 1.0, [law.chance(k) for k in range(200)]
        for score in sorted({score for score, _ in trial}):
            here = trial[score, 1.0] + trial[score, -1.0]
            best = sum(c * (beyond**k - max(beyond - here, 0.0) ** k)
                       for k, c in enumerate(chances))  # fmt: skip
            right += share * best * trial[score, 1.0] / here
            beyond = max(beyond - here, 0.0)
    rows = open_rows(X, y, bounds=CHOICE.bounds, unit=ADD)
    drawn = plan.run_many(rows, RehearsalNoise(4), RUNS)
    found = float((drawn[:, 2] > 0).mean())
    assert abs(found - right) < 4.5 * math.sqrt(right * (1 - right) / RUNS)  # once in 100,000


def test_each_row_is_dealt_by_itself_where_their_number_is_private():
    table = np.linspace(0, 1, 201)[:, None]
    bounds = replace(CHOICE.bounds, n_features=1, labels=None)
    few, many = (
        [
            set(part.gather()[0][:, 0])
            for part in PartSizes((3, 3, 2)).deal(
                open_rows(table[:count], None, bounds=bounds), ADD, RehearsalNoise(1)
            )
        ]
        for count in (200, 201)
    )
    assert [part - {1.0} for part in many] == few
    assert min(map(len, few)) > 20


def test_parts_have_fixed_sizes_where_the_number_of_rows_is_public():
    sizes = PartSizes((3, 3, 2))
    for count in (1, 7, 80, 81):
        dealt = sizes._deal_evenly(count, RehearsalNoise(count))
        assert dealt.size == count
        found = np.bincount(dealt, minlength=3)
        assert all(found[part] <= sizes.largest(part, count) for part in range(3))
    again = sizes._deal_evenly(80, RehearsalNoise(9))
    assert (again != sizes._deal_evenly(80, RehearsalNoise(8))).any()


def test_every_row_is_in_one_part():
    X = np.arange(20.0)[:, None] / 20
    bounds = replace(CHOICE.bounds, n_features=1, labels=None)
    for unit in (ADD, REPLACE):
        rows = open_rows(X, None, bounds=bounds, unit=unit)
        parts = PartSizes((2, 1)).deal(rows, unit, RehearsalNoise(3))
        seen = np.concatenate([part.gather()[0][:, 0] for part in parts])
        assert sorted(seen) == X[:, 0].tolist()


@pytest.mark.parametrize(
    ("labels", "y", "coefficients"),
    [
        (LabelSet([-1, 1]), [-1.0, 1.0, 1.0, -1.0, 1.0], [[1.0, -0.3, 0.1]]),
        (LabelSet([0, 1, 2]), [0.0, 1.0, 2.0, 2.0, 0.0], np.eye(3)),
        (Interval(-2, 6), [-2.0, 6.0, 0.5, 1.0, 3.0], [[9.0, -0.3, 0.1]]),
    ],
)
def test_errors_add_up_row_by_row_whatever_the_blocks(labels, y, coefficients):
    generator = np.random.default_rng(4)
    X, y = generator.uniform(-1, 1, size=(5, 3)), np.array(y)
    bounds = replace(CHOICE.bounds, n_features=3, labels=labels)
    coefficients = np.asarray(coefficients)
    whole = count_errors(open_rows(X, y, bounds=bounds, unit=ADD), coefficients, labels)
    single = [
        count_errors(open_rows(X[[i]], y[[i]], bounds=bounds, unit=ADD), coefficients, labels)
        for i in range(5)
    ]
    assert whole == sum(single)
    most = 1 if isinstance(labels, LabelSet) else 2**20
    assert all(0 <= one <= most for one in single)
    assert sum(single) > 0


def test_the_whole_costs_what_the_dearest_part_does():
    plan = TrainAndChoose(RESPONSES).plan(CHOICE, Budget(1.0), ADD)
    assert plan.guarantee.epsilon(0.0) == 1.0
    assert all(model.plan.level == 1.0 for model in plan.models)
    shared = TrainAndChoose(RESPONSES, is_shared=True).plan(CHOICE, Budget(1.0), ADD)
    assert all(model.plan.level == pytest.approx(0.5) for model in shared.models)
    assert shared.guarantee.epsilon(0.0) <= 1.0


def test_the_rate_of_the_choice_is_halved_where_records_are_replaced():
    rates = [
        TrainAndChoose(RESPONSES).plan(CHOICE, Budget(1.0), unit).rate for unit in (ADD, REPLACE)
    ]
    assert rates == [1, pytest.approx(0.5)]


@pytest.mark.parametrize("mechanism", [TrainAndChoose(), RepeatAndSelect()], ids=lambda m: m.name)
def test_candidates_that_allow_for_fewer_rows_than_their_part_are_refused(mechanism):
    few = replace(CHOICE.candidates[0].question.bounds, max_rows=2**10)
    small = replace(CHOICE.candidates[0], question=CHOICE.candidates[0].question.restate(few))
    small = replace(small, final=small.question)
    with pytest.raises(NotAccepted, match="fewer rows"):
        mechanism.plan(replace(CHOICE, candidates=(small, small)), Budget(1.0), ADD)


def test_a_candidate_whose_plan_is_refused_is_named():
    weak = replace(CHOICE.candidates[1].question, ridge=1e-9)
    candidates = (CHOICE.candidates[0], replace(CHOICE.candidates[1], question=weak, final=weak))
    with pytest.raises((CalibrationError, NotAccepted), match="candidate 1"):
        TrainAndChoose().plan(replace(CHOICE, candidates=candidates), Budget(0.01), ADD)
    with pytest.raises(NotAccepted, match="one learner for each"):
        TrainAndChoose((OutputPerturbation(),)).plan(CHOICE, Budget(1.0), ADD)


def test_a_poisson_number_of_trials_may_be_zero_and_says_so():
    plan = RepeatAndSelect(
        (OutputPerturbation("gaussian"),) * 2, TrialLaw.with_mean(1.5, None)
    ).plan(CHOICE, Budget(1.0, 1e-6), ADD)
    X, y = LARGE
    rows = open_rows(X, y, bounds=CHOICE.bounds, unit=ADD)
    found = [read_choice(plan.run(rows, RehearsalNoise(seed))) for seed in range(12)]
    assert {index for index, _ in found} >= {-1, 0}
    assert all((value is None) == (index == -1) for index, value in found)
    with pytest.raises(CalibrationError, match="no pure guarantee"):
        RepeatAndSelect(RESPONSES, TrialLaw.with_mean(2, None)).plan(CHOICE, Budget(1.0), ADD)


def test_padded_trials_change_nothing_but_their_number():
    law = TrialLaw.with_mean(2.0)
    plain, padded = (
        RepeatAndSelect(RESPONSES, law, pads).plan(CHOICE, Budget(1.0), ADD)
        for pads in (False, True)
    )
    assert padded.padded == law.quantile(0.999) > 2
    assert plain.guarantee == padded.guarantee
    X, y = LARGE
    rows = open_rows(X, y, bounds=CHOICE.bounds, unit=ADD)
    assert read_choice(padded.run(rows, RehearsalNoise(1)))[0] in (0, 1)
