"""The silence of a private part is its own: no other thread can end it, none is silenced by it."""

from __future__ import annotations

import contextlib
import pickle
import sys
import threading
import time
import warnings
from warnings import warn as bound_early

import cloudpickle
import numpy as np
import pytest

from discreet._prefetch import prefetch
from discreet._quiet import quiet
from discreet._threads import map_in_order
from discreet.data import Bounds, Rows
from discreet.data.stored.worker import run_quietly
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger, NoLedger, State
from discreet.mechanisms import GaussianSum
from discreet.noise import SystemNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from discreet.questions import VectorSum

SECRET = "patient 17 earns 73519264"
BOUNDS = Bounds(L2Ball(1.0), 1)


def warn_in_every_way():
    """Warn of a private value from Python and from C, where NumPy's own settings do not help."""
    warnings.warn(SECRET, stacklevel=1)
    warnings.warn(SECRET, DeprecationWarning, stacklevel=2)
    bound_early(SECRET, RuntimeWarning, stacklevel=1)
    warnings.warn_explicit(SECRET, UserWarning, "rows.csv", 17)
    np.array([73519264.0], dtype=np.complex128).astype(np.float64)  # C: ComplexWarning
    np.float64(1e300) * np.float64(1e300)  # C: RuntimeWarning
    np.log(np.array([-1.0]))
    with warnings.catch_warnings():  # as libraries do
        warnings.simplefilter("always")
        warnings.warn(SECRET, stacklevel=1)
    with warnings.catch_warnings(record=True):
        warnings.filterwarnings("error", category=UserWarning)
        warnings.warn(SECRET, stacklevel=1)


class Talkative(SystemNoise):
    """Warns in the midst of the private part."""

    def gaussian(self, count, bits):
        warn_in_every_way()
        return super().gaussian(count, bits)


def ask(noise):
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    rows = Rows(np.full((3, 1), 0.5), bounds=BOUNDS)
    release(
        GaussianSum(), VectorSum(BOUNDS), rows, budget=Budget(1.0, 1e-6), ledger=ledger, noise=noise
    )
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]


@pytest.mark.parametrize("action", ["error", "always", "default", "once", "module"])
def test_no_filter_of_the_caller_reaches_a_private_part(action, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        ask(Talkative())
        kept = list(warnings.filters)
    assert caught == []
    assert kept[0][0] == action
    assert capfd.readouterr() == ("", "")


def others():
    """Return what other threads do to filters, and what they overhear."""

    def errors():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            time.sleep(0)

    def records():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("mine", stacklevel=1)
            time.sleep(0)
            overheard.extend(str(one.message) for one in caught)

    def resets():
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.filters.insert(0, ("error", None, Warning, None, 0))
            time.sleep(0)

    overheard = []
    return (errors, records, resets), overheard


def test_no_other_thread_ends_the_silence(capfd):
    """They exchange the filters of the process while private parts warn."""
    actions, overheard = others()
    is_over, before = threading.Event(), warnings.filters

    def again(action):
        while not is_over.is_set():
            with contextlib.suppress(Warning):
                action()

    threads = [threading.Thread(target=again, args=(action,)) for action in actions]
    with warnings.catch_warnings():
        for thread in threads:
            thread.start()
        try:
            for _ in range(40):
                ask(Talkative())
                with quiet():
                    warn_in_every_way()
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
    warnings.filters = before
    assert SECRET not in " ".join(overheard)
    assert SECRET not in " ".join(capfd.readouterr())


def test_other_threads_are_not_silenced():
    inside, heard = threading.Event(), threading.Event()

    class Waiting(SystemNoise):
        def gaussian(self, count, bits):
            inside.set()
            assert heard.wait(10)
            warnings.warn(SECRET, stacklevel=1)
            return super().gaussian(count, bits)

    thread = threading.Thread(target=ask, args=(Waiting(),))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        thread.start()
        assert inside.wait(10)
        warnings.warn("mine", stacklevel=1)
        np.array([1j]).astype(np.float64)
        heard.set()
        thread.join()
    assert [str(one.message)[:4] for one in caught] == ["mine", "Cast"]


def test_filters_are_left_as_they_were():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same, before = warnings.filters, list(warnings.filters)
        with quiet():
            warn_in_every_way()
            assert list(warnings.filters) == before
        ask(Talkative())
        assert warnings.filters is same
        assert list(same) == before
        with pytest.raises(UserWarning):
            warnings.warn("mine", stacklevel=1)


def test_no_registry_keeps_what_was_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        ask(Talkative())
    kept = [
        registry
        for module in list(sys.modules.values())
        for registry in [getattr(module, "__dict__", {}).get("__warningregistry__")]
        if registry
    ]
    assert SECRET not in repr(kept)
    assert "73519264" not in repr(kept)


def warned(_):
    warn_in_every_way()
    return 1


def test_threads_of_a_private_part_are_silent_too(capfd):
    """Those that decode ahead, that work on pieces, that sum blocks, and what Dask runs."""
    table = Rows(np.ones((2000, 1)), bounds=BOUNDS, threads=2, block_rows=100)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        with quiet():
            assert list(prefetch(map(warned, range(3)), depth=1)) == [1, 1, 1]
            assert list(map_in_order(warned, range(3), threads=2)) == [1, 1, 1]
        assert run_quietly(lambda: warned(0)) == 1
        opened = table.open(NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne())))
        total = opened.sum(lambda block: np.array([warned(block)]))
    assert total.tolist() == [20]
    assert caught == []
    assert capfd.readouterr() == ("", "")


def test_functions_that_warn_can_still_be_sent_to_other_processes():
    with quiet():
        pass
    scope = {"warnings": warnings}
    exec("def warn(): return warnings.WarningMessage", scope)
    sent = pickle.loads(cloudpickle.dumps(scope["warn"]))
    assert sent() is warnings.WarningMessage
    assert pickle.loads(cloudpickle.dumps(warnings)) is warnings
