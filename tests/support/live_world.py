"""A true oracle with a store, over two declared columns; and the same behind a service."""

from __future__ import annotations

import json
import os

import numpy as np

from discreet.kernel import GaussianProcessOracle
from discreet.kernels import RBF
from discreet.ledger import Ledger
from discreet.preprocessing import Numeric
from discreet.privacy import Budget
from discreet.service import KeyBook, ServiceLimits, create_app
from discreet.service.service_target import LiveOracle

COLUMNS = {"age": Numeric(18, 100), "stay": Numeric(0, 30)}
VARIABLE = "DISCREET_STUDY"


def begin(store, books, *, answers=200, rows=300):
    """Fit and store an oracle; its ledger is made, if it has one."""
    generator = np.random.default_rng(3)
    X = generator.uniform([18, 0], [100, 30], (rows, 2))
    y = np.where(X[:, 0] / 82 + X[:, 1] / 30 > 1.2, "back", "home")
    model = GaussianProcessOracle(
        1.0,
        1e-6,
        columns=list(COLUMNS.values()),
        kernel=RBF(1.0),
        C=0.05,
        classes=["home", "back"],
        max_queries=answers,
        max_rows=100_000,
        store=store,
        ledger=None if books is None else Ledger.create(books, Budget(2.0, 1e-5)),
    )
    return model.fit(X, y)


ROW = {"x1": 47.0, "x2": 3.5}
OTHER_ROW = {"x1": 71.0, "x2": 21.0}


def take_up(store, books=None):
    """Return the stored oracle, as the service answers from it."""
    ledger = None if books is None else Ledger(books)
    return LiveOracle.open(store, {"title": "Who comes back"}, ledger=ledger)


def build_worker():
    """Return the application of a worker, which the environment describes."""
    found = json.loads(os.environ[VARIABLE])
    limits = ServiceLimits(**found.get("limits", {}))
    return create_app(
        take_up(found["store"], found["books"]), KeyBook(found["keys"]), limits=limits
    )
