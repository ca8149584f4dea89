"""What estimators of every kind share: from constructor arguments to a release."""

from discreet.estimators.base import PlainEstimator, PrivateEstimator, WeightedEstimator
from discreet.estimators.registry import all_estimators

__all__ = ["PlainEstimator", "PrivateEstimator", "WeightedEstimator", "all_estimators"]
