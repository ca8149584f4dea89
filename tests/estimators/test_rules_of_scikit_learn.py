"""Every estimator keeps every rule that scikit-learn checks, with the system's noise."""

from __future__ import annotations

import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import check_estimator

from discreet.linear_model import LogisticRegression, Ridge
from support.estimators import ALL, OF_ANY_WIDTH, declare, rehearsal, takes_weights
from support.rules import (
    NEEDS_MAX_WEIGHT,
    ONE_FIT_REPEATED,
    TWO_FITS,
    every_rule,
    expected_to_fail,
    keep_or_contradict,
    name_of,
    rules,
    with_fitting_noise,
)


def nearest_base(kind):
    """Return the class of ours that an estimator is derived from, and whether it tells classes."""
    ours = [base for base in kind.__mro__[1:] if base.__module__.startswith("discreet.")]
    return ours[0], is_classifier(kind())


EVERY = [OF_ANY_WIDTH.get(kind, kind) for kind in ALL]
EACH_BASE = {nearest_base(kind): kind for kind in reversed(EVERY)}
"""One estimator of each base class; what differs within one is its loss, penalty and policy."""

PURE = [declare(kind, unit="replace", delta=0.0) for kind in EACH_BASE.values()]
WEIGHTED = [
    declare(kind, delta=0.0, max_weight=10.0, rehearsal=0) for kind in EVERY if takes_weights(kind)
]


@rehearsal
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")  # nothing is stable
@every_rule([*(declare(kind) for kind in EVERY), *PURE])
def test_it_keeps_every_rule_of_scikit_learn_but_those_that_contradict_privacy(estimator, check):
    keep_or_contradict(with_fitting_noise(estimator, check), check)


@rehearsal
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{name_of(check)}")
        for estimator in WEIGHTED
        for check in rules(estimator, {*NEEDS_MAX_WEIGHT, *ONE_FIT_REPEATED})
    ],
)
def test_with_a_declared_largest_weight_it_keeps_the_rules_of_weights(estimator, check):
    keep_or_contradict(estimator, check)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(data_norm=1.0),
        Ridge(unit="replace", delta=0.0, data_norm=1.0, target_range=(-1.0, 1.0)),
    ],
)
def test_anybody_may_run_all_checks_if_told_which_compare_two_fits(model):
    expected = dict.fromkeys(TWO_FITS, "two fits have two noises") | expected_to_fail(model)
    results = check_estimator(model, expected_failed_checks=expected, on_skip=None)
    assert len(results) > 50
    assert sum(result["status"] == "passed" for result in results) > 40
