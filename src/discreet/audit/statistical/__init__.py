"""Audits by counting: run both data sets many times, and certify what the counts prove.

Hypothesis tests with sample splitting and Clopper-Pearson intervals.
"""
