"""Learners for data that arrives one record at a time, differentially private.

A stream is declared: how many records there will be at most, what they can hold, who is protected.
Everything that a learner will ever say is paid for once, before the first record.
"""

from __future__ import annotations

from discreet.online.online_experts import Experts
from discreet.online.online_linear_regression import LinearRegression
from discreet.online.online_linear_svc import LinearSVC
from discreet.online.online_logistic_regression import LogisticRegression
from discreet.online.resuming import resume

__all__ = ["Experts", "LinearRegression", "LinearSVC", "LogisticRegression", "resume"]
