"""What the gate lets out when it fails, and what it leaves behind."""

from __future__ import annotations

import threading
import warnings

import pytest

from discreet.data import Bounds, Rows
from discreet.errors import EntropyError
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.mechanisms import GaussianSum
from discreet.noise import SystemNoise
from discreet.privacy import Budget
from discreet.questions import VectorSum

BOUNDS = Bounds(L2Ball(1.0), 2)


def ask(noise):
    rows = Rows([[0.3, 0.4]], bounds=BOUNDS)
    return release(GaussianSum(), VectorSum(BOUNDS), rows, budget=Budget(1.0, 1e-6), noise=noise)


@pytest.mark.parametrize("error", [EntropyError, KeyboardInterrupt])
def test_no_variable_of_the_private_part_hangs_on_a_traceback(error):
    class Failing(SystemNoise):
        def gaussian(self, count, bits):
            raise error

    with pytest.raises(error) as caught:
        ask(Failing())
    names = set()
    trace = caught.value.__traceback__
    while trace is not None:
        names |= set(trace.tb_frame.f_locals)
        trace = trace.tb_next
    assert "units" not in names


def test_two_releases_at_once_leave_the_warning_filters_alone():
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()

    class First(SystemNoise):
        def gaussian(self, count, bits):
            first_in.set()
            second_in.wait(600)
            return super().gaussian(count, bits)

    class Second(SystemNoise):
        def gaussian(self, count, bits):
            second_in.set()
            first_out.wait(600)
            return super().gaussian(count, bits)

    with warnings.catch_warnings():  # whatever happens, put the filters back
        before = list(warnings.filters)
        one = threading.Thread(target=ask, args=(First(),))
        two = threading.Thread(target=ask, args=(Second(),))
        one.start()
        first_in.wait(600)
        two.start()
        one.join()
        first_out.set()
        two.join()
        assert list(warnings.filters) == before
