"""A small oracle for tests, and a process of its own that is killed at a given step."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np

from discreet.data import Bounds, LabelSet, Rows
from discreet.gate import consult, reopen
from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel
from discreet.losses import Logistic
from discreet.mechanisms import BoundedUpdates, GaussianProcess
from discreet.privacy import Budget
from discreet.questions import KernelQueries

BUDGET = Budget(1.0, 1e-6)

MECHANISMS = {
    "gaussian_process": GaussianProcess(),
    "bounded_updates": BoundedUpdates(updates=4, threshold=40.0),  # no noise is that large
    "many updates": BoundedUpdates(updates=4, threshold=1e-9),
}

LASTING = ("gaussian_process", "bounded_updates")
"""Those that answer a dozen points and are open still."""


def small_queries(max_answers=30, **changes):
    bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=1000)
    facts = {"ridge": 5.0, "kernel": BoundedKernel(RBF(2.0), 1.0)} | changes
    return KernelQueries(Logistic(), bounds, max_answers=max_answers, **facts)


def small_rows(question, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(60, 2)) / 2
    return Rows(X, np.sign(X[:, 0] * X[:, 1]), bounds=question.bounds)


def begin(name="gaussian_process", max_answers=30, **options):
    """Fit a small oracle."""
    question = small_queries(max_answers)
    return consult(MECHANISMS[name], question, small_rows(question), budget=BUDGET, **options)


def grid_of_points(count, seed=1):
    return np.random.default_rng(seed).uniform(-0.6, 0.6, size=(count, 2))


STEPS = ("locked", "drawn", "inserted", "committed", "told")
"""Instants of an answer, one after the other."""


def kill_at(step):
    """Make this process kill itself at a step of its next answer."""
    from discreet.interaction import oracle, oracle_store
    from discreet.storage.transaction import FileTransaction, ServerTransaction

    def kill(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    def after(work):
        def doubled(*arguments, **options):
            work(*arguments, **options)
            kill()

        return doubled

    store = oracle_store.OracleStore
    if step == "locked":
        store._read_entries = kill
    elif step == "drawn":
        oracle_store._insert = kill
    elif step == "inserted":
        oracle_store._insert = after(oracle_store._insert)
    elif step == "committed":
        for kind in (FileTransaction, ServerTransaction):
            kind.commit = after(kind.commit)
    else:
        oracle._ask = after(oracle._ask)


if __name__ == "__main__":  # python oracles.py store step seed: asks five points, and is killed
    place, step, seed = sys.argv[1:]
    taken = reopen(place)
    if step != "none":
        kill_at(step)
    for answer in taken.ask(grid_of_points(5, int(seed))):
        print(answer.value.hex(), answer.status)
