"""Which of scikit-learn's checks an estimator of this library must not pass, and why."""

from __future__ import annotations

from sklearn.base import is_regressor

CELLS = "one record would decide whether a fit is refused: a cell that is no number is no error"
TARGETS = "one record would decide whether a fit is refused: a target that is no number is no error"


def expected_failed_checks(estimator):
    """Return the checks that contradict privacy, each with the reason."""
    failing = {"check_dtype_object": CELLS}
    if is_regressor(estimator):
        failing["check_supervised_y_no_nan"] = TARGETS
    return failing
