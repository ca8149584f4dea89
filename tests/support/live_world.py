"""A true oracle with a store, over two declared columns; and the same behind a service.

``python tests/support/live_world.py`` is not a program: :func:`build_worker` is what worker
processes of the studies load.
"""

from __future__ import annotations

import json
import os
from functools import partial

import numpy as np

from discreet.data import Rows
from discreet.gate import consult, reopen
from discreet.geometry import Box
from discreet.kernels import RBF, BoundedKernel
from discreet.ledger import Ledger
from discreet.losses import Logistic
from discreet.mechanisms import GaussianProcess
from discreet.preprocessing import BoundedScaler, Numeric
from discreet.privacy import Budget
from discreet.questions import Bounds, KernelQueries, LabelSet
from discreet.service import KeyBook, ServiceLimits, create_app
from discreet.service.live_oracle import LiveOracle
from discreet.service.query_rows import as_frame

COLUMNS = {"age": Numeric(18, 100), "stay": Numeric(0, 30)}
CLASSES = ("home", "back")
VARIABLE = "DISCREET_STUDY"


def encode(rows):
    """Return points in the square from -1 to 1."""
    return BoundedScaler(COLUMNS, data_norm=None).fit_transform(as_frame(rows, COLUMNS))


def begin(store, books, *, answers=200, rows=300):
    """Fit and store an oracle; its ledger is made."""
    ledger = Ledger.create(books, Budget(2.0, 1e-5))
    bounds = Bounds(Box([-1, -1], [1, 1]), 2, labels=LabelSet([-1, 1]), max_rows=100_000)
    kernel = BoundedKernel(RBF(gamma=1.0), radius=1.0)
    queries = KernelQueries(Logistic(), bounds, ridge=20.0, kernel=kernel, max_answers=answers)
    generator = np.random.default_rng(3)
    X = generator.uniform(-1, 1, (rows, 2))
    private = Rows(X, np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0), bounds=bounds)
    budget = Budget(1.0, 1e-6)
    return consult(GaussianProcess(), queries, private, budget=budget, store=store, ledger=ledger)


def take_up(store):
    """Return the stored oracle, as the service answers from it."""
    about = {"title": "Who comes back"}
    return LiveOracle(
        partial(reopen, store), columns=COLUMNS, classes=CLASSES, encode=encode, about=about
    )


def build_worker():
    """Return the application of a worker, which the environment describes."""
    found = json.loads(os.environ[VARIABLE])
    limits = ServiceLimits(**found.get("limits", {}))
    return create_app(take_up(found["store"]), KeyBook(found["keys"]), limits=limits)


# TEMPORARY until the notes of oracles are registered
import discreet.report.privacy_card as _pc  # noqa: E402

_true = _pc.theorem_of
_pc.theorem_of = lambda name: _true("gaussian_sum")
