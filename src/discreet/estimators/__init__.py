"""What estimators of every kind share: from constructor arguments to a release."""

from discreet.estimators.base import PrivateEstimator, fit_with_weights
from discreet.estimators.registry import all_estimators

__all__ = ["PrivateEstimator", "all_estimators", "fit_with_weights"]
