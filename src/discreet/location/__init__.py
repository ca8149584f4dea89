"""Private medians, quantiles, locations and thresholds with the interface of scikit-learn."""

from discreet.location.geometric_median import GeometricMedian
from discreet.location.location import Location
from discreet.location.median import Median
from discreet.location.quantile import Quantile
from discreet.location.stable_median import StableMedian
from discreet.location.threshold import Threshold

__all__ = ["GeometricMedian", "Location", "Median", "Quantile", "StableMedian", "Threshold"]
