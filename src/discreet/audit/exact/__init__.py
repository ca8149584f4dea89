"""The true privacy profile of a pair of laws, beside the declared one."""

from discreet.audit.exact.audit import compare, exact_audit
from discreet.audit.exact.declared import declared_deltas, default_epsilons
from discreet.audit.exact.result import ExactResult
from discreet.audit.exact.true import largest_loss, true_deltas

__all__ = [
    "ExactResult",
    "compare",
    "declared_deltas",
    "default_epsilons",
    "exact_audit",
    "largest_loss",
    "true_deltas",
]
