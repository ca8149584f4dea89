"""Private choices of columns with the interface of scikit-learn's selectors."""

from discreet.feature_selection.peeling_support import PeelingSupport

__all__ = ["PeelingSupport"]
