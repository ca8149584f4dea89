"""Attack a guarantee: what can be proved against it, and with how much power."""

from discreet.audit.certify import Evidence
from discreet.audit.pair import Pair
from discreet.audit.result import AuditResult
from discreet.audit.statistical import STANDARD_SCORES, audit

__all__ = ["STANDARD_SCORES", "AuditResult", "Evidence", "Pair", "audit"]
