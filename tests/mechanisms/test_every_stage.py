"""What is true of every mechanism that releases more than once."""

from __future__ import annotations

import numpy as np

from support.cases import every
from support.cases.staged import StagedCase
from support.checks import (
    check_joint_audit,
    check_joint_sensitivity,
)

every_case = every(StagedCase)


@every_case
def test_without_noise_neighbours_stay_within_the_declared_sensitivity(case):
    plan = case.plan()
    generator = np.random.default_rng(2024)
    pairs = [case.worst_pair, *(case.random_pair(generator) for _ in range(60))]
    check_joint_sensitivity(case, plan, pairs)


@every_case
def test_the_worst_pair_attains_the_declared_sensitivity(case):
    plan = case.plan()
    assert case.apart(plan, case.worst_pair) >= case.attained * case.sensitivity(plan)


@every_case
def test_the_true_profile_of_the_worst_pair_is_within_the_guarantee(case):
    plan = case.plan()
    check_joint_audit(case, plan)
    if case.is_pure:
        assert (
            case.apart(plan, case.worst_pair)
            >= min(0.99, case.attained) * plan.guarantee.profile.pure_epsilon
        )
