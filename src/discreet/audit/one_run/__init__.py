"""Audit a whole estimator by one fit: plant canaries at random, then guess which were planted.

The claim, and a proof of every bound used here, is in ``docs/auditing.md``.
"""

from discreet.audit.one_run.canaries import orthogonal_canaries
from discreet.audit.one_run.canary_scores import default_score
from discreet.audit.one_run.one_run_audit import audit_in_one_run
from discreet.audit.one_run.one_run_result import OneRunResult
from discreet.audit.one_run.p_value import epsilon_certified, one_run_p_value

__all__ = [
    "OneRunResult",
    "audit_in_one_run",
    "default_score",
    "epsilon_certified",
    "one_run_p_value",
    "orthogonal_canaries",
]
