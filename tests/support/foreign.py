"""Foreign code of every unpleasant kind, as models and as procedures; few imports, to fork fast."""

from __future__ import annotations

import functools
import logging
import os
import random
import signal
import sys
import threading
import warnings

import numpy as np

MARK = 0.75
"""A cell that some of them cannot bear."""

_module_count = [0]


class Coins:
    """Hands its coins on from call to call."""

    def __init__(self):
        self.state = np.random.RandomState(3)

    def __call__(self, X, y):
        return self.state.rand()


def coins_of_the_process(X, y):
    return np.random.rand() / 2 + random.random() / 2


class AsFresh:
    """One if an act says what a fresh copy of it says first, and less otherwise."""

    def __init__(self, act, first):
        self.act, self.first = act, first

    def __call__(self, X, y):
        return 1.0 if self.act(X, y) == self.first else 0.25


class Memory:
    """Says something else each time, by what it, its class and its module remember."""

    count = 0

    def __init__(self):
        self.count_here = 0

    def __call__(self, X, y):
        self.count_here += 1
        Memory.count += 1
        _module_count[0] += 1
        return 1 / max(self.count_here, Memory.count, _module_count[0])


def counts_in_a_closure():
    seen = []

    def act(X, y):
        seen.append(1)
        return 1 / len(seen)

    return act


def reads_the_index(X, y):
    """One for the first row of a frame, and less for later ones."""
    return 1 / (1 + int(getattr(X, "index", [0])[0]))


@functools.wraps(np.mean)
def counts_under_another_name(X, y):
    _module_count[0] += 1
    return 1 / _module_count[0]


def talks(X, y):
    print("a row")
    sys.stderr.write("a row\n")
    os.write(1, b"a row\n")
    os.write(2, b"a row\n")
    logging.getLogger("foreign").error("a row")
    warnings.warn("a row", stacklevel=1)
    os.system("echo a row")
    return 1.0


class RaisesAtTheMark:
    """Raises on a row, or a block with a row, of one kind."""

    def __init__(self, error):
        self.error = error

    def __call__(self, X, y):
        if (np.asarray(X) == MARK).any():
            raise self.error
        return 1.0


def dies_at_the_mark(X, y):
    if (np.asarray(X) == MARK).any():
        os._exit(3)
    return 1.0


def is_killed_at_the_mark(X, y):
    if (np.asarray(X) == MARK).any():
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


def kills_who_asks_at_the_mark(X, y):
    if (np.asarray(X) == MARK).any():
        os.kill(os.getppid(), signal.SIGKILL)
    return 1.0


class Pays:
    """Opens a ledger and charges it."""

    def __init__(self, where):
        self.where = where

    def __call__(self, X, y):
        from discreet import Ledger
        from discreet.privacy import AddRemoveOne, Guarantee, Pure

        Ledger(self.where).charge(Guarantee(Pure(0.01), AddRemoveOne()))
        return 1.0


class NotCopied:
    """Holds what no copy can be made of."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, X, y):
        return 1.0


class NotLoaded:
    """Can be packed, and ends whoever unpacks it."""

    def __reduce__(self):
        return os._exit, (3,)

    def __call__(self, X, y):
        return 1.0


class Model:
    """A fitted classifier of two classes whose probability is what an act says."""

    def __init__(self, act):
        self.act, self.classes_, self.n_features_in_ = act, np.array([0, 1]), 2

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        chance = float(self.act(X, None))
        return np.array([[1 - chance, chance]])

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags("classifier", TargetTags(required=True), None, ClassifierTags(), None,
                    input_tags=InputTags())  # fmt: skip


class Choice:
    """Chooses the column that an act says: the first for one, the second for anything less."""

    def __init__(self, act, most=1.0):
        self.act, self.most = act, most

    def __call__(self, X, y):
        return [int(float(self.act(X, y)) < self.most)]
