"""Private feature selection with the interface of scikit-learn's selectors."""

from discreet.feature_selection.block_vote_support import BlockVoteSupport
from discreet.feature_selection.exponential_support import ExponentialSupport
from discreet.feature_selection.lasso_stability import LassoStability
from discreet.feature_selection.peeling_support import PeelingSupport

__all__ = ["BlockVoteSupport", "ExponentialSupport", "LassoStability", "PeelingSupport"]
