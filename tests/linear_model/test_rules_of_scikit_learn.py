"""Every estimator keeps every rule that scikit-learn checks."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from linear_model.estimators import EVERY, MIXERS, rehearsal
from support.scikit_learn import expected_failed_checks

PURE = [model(unit="replace", delta=0.0) for model in (*EVERY, *MIXERS)]


@rehearsal
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@parametrize_with_checks(
    [*(model() for model in (*EVERY, *MIXERS)), *PURE],
    expected_failed_checks=expected_failed_checks,
)
def test_it_keeps_every_rule_of_scikit_learn(estimator, check):
    check(estimator)
