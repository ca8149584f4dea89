"""Private models that add one curve for each column: as readable as linear ones, and bent."""

from discreet.additive.additive_classifier import AdditiveClassifier
from discreet.additive.additive_estimator import Explanation
from discreet.additive.additive_regressor import AdditiveRegressor
from discreet.additive.column_shape import ColumnShape
from discreet.additive.pair_effect import PairEffect

__all__ = ["AdditiveClassifier", "AdditiveRegressor", "ColumnShape", "Explanation", "PairEffect"]
