"""Online learners that are small, and records for them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from discreet.errors import RehearsalWarning
from discreet.online import Experts, LinearRegression, LinearSVC, LogisticRegression

NAMES = ["age", "bmi", "dose"]
HORIZON = 60
_GENERATOR = np.random.default_rng(4)
X = _GENERATOR.uniform(-1, 1, size=(HORIZON, 3)) / 2
SIGNAL = X @ [0.9, -0.6, 0.2]
TWO = np.where(SIGNAL > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=NAMES)
RECORDS = FRAME.to_dict("records")

CLASSIFIERS = (LogisticRegression, LinearSVC)
LINEAR = (*CLASSIFIERS, LinearRegression)
ALL = (*LINEAR, Experts)


def make(kind, **parameters):
    """Return a learner with everything declared, for a short stream."""
    given = {"epsilon": 1.0, "delta": 1e-6, "horizon": HORIZON, "batch": 4}
    if kind is Experts:
        given |= {"experts": NAMES, "loss_range": (-1.0, 1.0)}
    else:
        given |= {"data_norm": 1.0, "features": NAMES}
        given |= (
            {"target_range": (-1.0, 1.0)}
            if kind is LinearRegression
            else {"classes": ["no", "yes"]}
        )
    return kind(**given | parameters)


def labels(kind):
    """Return what a learner learns from beside rows."""
    if kind is Experts:
        return None
    return SIGNAL if kind is LinearRegression else TWO


def learn(model, rows, y=None):
    """Give rows and labels to a learner, rehearsals without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        return model.partial_fit(rows) if y is None else model.partial_fit(rows, y)


def learn_each(model, records=RECORDS, y=None):
    """Give records to a learner one at a time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        for place, record in enumerate(records):
            model.learn_one(record) if y is None else model.learn_one(record, y[place])
    return model


def answer(model):
    """Return what is public of a learner as bytes."""
    return np.asarray(model.release_.value).tobytes()
