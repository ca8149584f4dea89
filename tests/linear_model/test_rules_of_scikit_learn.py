"""Every estimator keeps every rule that scikit-learn checks."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet.linear_model import Ridge
from linear_model.estimators import EVERY, REGRESSORS, rehearsal

PURE = [model(unit="replace", delta=0.0) for model in EVERY]


def expected_failures(estimator):
    """One rule sets alpha to 0.01, which is too weak a penalty for any privacy and is refused."""
    if isinstance(estimator, REGRESSORS) and not isinstance(estimator, Ridge):
        return {"check_regressors_train": "alpha=0.01 is refused as too weak for epsilon=1"}
    return {}


@rehearsal
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@parametrize_with_checks(
    [*(model() for model in EVERY), *PURE], expected_failed_checks=expected_failures
)
def test_it_keeps_every_rule_of_scikit_learn(estimator, check):
    check(estimator)
