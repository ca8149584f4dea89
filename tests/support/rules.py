"""Rules of scikit-learn: which noise each is checked with, and which a private fit cannot keep."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import partial

import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import has_fit_parameter

from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.location import Threshold
from discreet.location.base import LocationEstimator

TWO_FITS = {
    "check_classifier_data_not_an_array",
    "check_regressor_data_not_an_array",
    "check_supervised_y_2d",
    "check_regressors_int",
    "check_fit_idempotent",
    "check_pipeline_consistency",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
"""What compares two fits of the same rows: with the system's noise no two are alike.

Every other check looks at one fit, at shapes, types or refusals, whatever the noise was. Scores are
not looked at, because the tags say ``poor_score``.
"""

ONE_FIT_REPEATED = {"check_methods_sample_order_invariance", "check_methods_subset_invariance"}
"""What scikit-learn leaves out where fits are not repeatable."""

CELLS = "one record would decide whether a fit is refused: a cell that is no number is no error"
TARGETS = "one record would decide whether a fit is refused: a target that is no number is no error"
ONE_COLUMN = "one number a record is a column by itself, and taken as one"
UNDECLARED = "weights need a declared largest one, which the noise is made for; pass max_weight"
DECLARED = "columns are declared: another table is refused in the words of the declaration"
WORDS_OF_ARRAYS = (
    "check_n_features_in_after_fitting",
    "check_complex_data",
    "check_estimators_empty_data_messages",
    "check_fit2d_predict1d",
)
"""What asks for scikit-learn's words about arrays of numbers."""

UNWEIGHED = "columns' marginals are those of records, whatever these weigh"
NEEDS_MAX_WEIGHT = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_classifiers_one_label_sample_weights",
)


def expected_to_fail(estimator):
    """Return the rules that contradict privacy, and why."""
    expected = {"check_dtype_object": CELLS}
    if isinstance(estimator, (LocationEstimator, Threshold)):
        expected["check_fit1d"] = ONE_COLUMN
    if isinstance(estimator, AdditiveEstimator):
        expected |= dict.fromkeys(WORDS_OF_ARRAYS, DECLARED)
        expected["check_sample_weight_equivalence_on_dense_data"] = UNWEIGHED
    if is_regressor(estimator):
        expected["check_supervised_y_no_nan"] = TARGETS
    if not has_fit_parameter(estimator, "sample_weight"):
        return expected
    kept_private = "that all weights are zero is a fact about the rows; a refusal would tell it"
    expected["check_all_zero_sample_weights_error"] = kept_private
    if estimator.max_weight is None:
        rules = NEEDS_MAX_WEIGHT if is_classifier(estimator) else NEEDS_MAX_WEIGHT[:-1]
        expected |= dict.fromkeys(rules, UNDECLARED)
    return expected


def keep_or_contradict(estimator, check):
    """Run a check, which must pass, or fail if it is among those that contradict privacy.

    That a failure is expected is said here and not with a mark, because for a marked test pytest
    spells out the whole traceback, which takes longer than the fits.
    """
    fails = name_of(check) in expected_to_fail(estimator)
    with pytest.raises((AssertionError, TypeError, ValueError)) if fails else nullcontext():
        check(estimator)


def name_of(check):
    """Return the name of a check."""
    return check.func.__name__ if isinstance(check, partial) else check.__name__


def every_rule(estimators):
    """Run a test for all checks of these estimators, each of which is put into words once."""
    return pytest.mark.parametrize(
        ("estimator", "check"),
        [
            pytest.param(own, check, id=f"{words}-{name_of(check)}")
            for estimator in estimators
            for words in [re.sub(r"\s", "", repr(estimator))]
            for own, check in estimator_checks_generator(estimator)
        ],
    )


def compares_fits(check):
    """Say whether a check compares two fits."""
    return name_of(check) in TWO_FITS


def with_fitting_noise(estimator, check):
    """Return the estimator itself, or one with repeatable noise where two fits are compared."""
    return clone(estimator).set_params(rehearsal=0) if compares_fits(check) else estimator


def rules(estimator, names):
    """Return these checks, as scikit-learn would run them for this estimator."""
    return [check for _, check in estimator_checks_generator(estimator) if name_of(check) in names]
