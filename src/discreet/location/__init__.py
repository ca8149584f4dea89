"""Private medians and quantiles with the interface of scikit-learn."""

from discreet.location.median import Median
from discreet.location.quantile import Quantile

__all__ = ["Median", "Quantile"]
