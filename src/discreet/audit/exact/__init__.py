"""The true privacy profile of a pair of laws, beside the declared one.

A profile is the hockey-stick divergence of two output distributions at every epsilon.
"""

from discreet.audit.exact.comparison import compare, exact_audit
from discreet.audit.exact.declared_profile import declared_deltas, default_epsilons
from discreet.audit.exact.exact_result import ExactResult
from discreet.audit.exact.true_profile import largest_loss, true_deltas

__all__ = [
    "ExactResult",
    "compare",
    "declared_deltas",
    "default_epsilons",
    "exact_audit",
    "largest_loss",
    "true_deltas",
]
