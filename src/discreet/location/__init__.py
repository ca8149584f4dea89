"""Private medians and quantiles with the interface of scikit-learn."""

from discreet.location.geometric_median import GeometricMedian
from discreet.location.median import Median
from discreet.location.quantile import Quantile

__all__ = ["GeometricMedian", "Median", "Quantile"]
