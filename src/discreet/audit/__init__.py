"""Attack a guarantee: what can be proved against it, and with how much power.

Statistical audits (hypothesis tests on counts), exact audits (the hockey-stick divergence of a pair
of output distributions), and audits in one run (canaries, as in membership inference).
"""

from discreet.audit.exact import ExactResult, exact_audit, true_deltas
from discreet.audit.exact.search import SearchResult, problem_pairs, search
from discreet.audit.one_run import OneRunResult, audit_in_one_run, orthogonal_canaries
from discreet.audit.statistical.audit_result import AuditResult
from discreet.audit.statistical.certify import Claim, Evidence
from discreet.audit.statistical.claims_plot import draw
from discreet.audit.statistical.pair import Pair
from discreet.audit.statistical.statistical_audit import STANDARD_SCORES, audit

__all__ = [
    "STANDARD_SCORES",
    "AuditResult",
    "Claim",
    "Evidence",
    "ExactResult",
    "OneRunResult",
    "Pair",
    "SearchResult",
    "audit",
    "audit_in_one_run",
    "draw",
    "exact_audit",
    "orthogonal_canaries",
    "problem_pairs",
    "search",
    "true_deltas",
]
