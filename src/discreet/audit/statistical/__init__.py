"""Audits by counting: run both data sets many times, and certify what the counts prove."""
