"""A small declared stream, records for it, and sessions that do what they should not."""

from __future__ import annotations

import numpy as np

from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.losses import Logistic
from discreet.privacy import Budget
from discreet.questions import Problem, Stream
from support.batch_sums import BatchSumsSession

BOUNDS = Bounds(L2Ball(1.0), 3, labels=LabelSet([-1, 1]), intercept=0.5)
PROBLEM = Problem(Logistic(), BOUNDS, ridge=1.0)
STREAM = Stream(PROBLEM, horizon=200, batch=8)
BUDGET = Budget(1.0, 1e-6)


def records(count, seed=0):
    """Records, of which some are out of bounds, spoilt or of an undeclared class."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((count, 3)) * 3
    X[::17, 1] = np.nan
    return X, generator.choice([-1.0, 1.0, 5.0], count)


def misbehave(monkeypatch, act):
    """Let every session do ``act(session, X, y)`` before it learns."""
    learn = BatchSumsSession._learn

    def first_act(session, X, y):
        act(session, X, y)
        learn(session, X, y)

    monkeypatch.setattr(BatchSumsSession, "_learn", first_act)
