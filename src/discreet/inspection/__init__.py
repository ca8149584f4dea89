"""What a fit would do to a table, for the eyes of its owner, before any budget is spent.

Nothing here is private: what it says is as private as the table itself.
"""

from discreet.inspection.findings import Finding
from discreet.inspection.inspection_report import InspectionReport
from discreet.inspection.owners_check import check

__all__ = ["Finding", "InspectionReport", "check"]
