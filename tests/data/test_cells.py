"""What one cell is, by itself; and that nothing but a cell is taken for one."""

from __future__ import annotations

import math
import signal
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.data import cells
from discreet.data.cells import is_row, label_of, number_of, numbers_of, read_spelling
from support.odd_cells import ODD, hostile

OWN = {
    "text": "0.5",
    "no number": "x",
    "an integer": 10**400,
    "a decimal": Decimal("sNaN"),
    "a fraction": Fraction(1, 3),
    "a short float": np.float32(0.5),
    "a long double": np.longdouble("1e4000"),
    "bytes": b"\xff",
    "a list": ["0.5"],
    "an array": np.array([0.5]),
    "derived text": hostile(str, "0.5"),
}


class TimedOut(OSError):
    """What the caller's handler of a signal raises; a TimeoutError is an OSError, too."""


def interrupted_at(line, read):
    """Read, and let a signal come before a line of the module of cells; say if that was reached."""
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename != cells.__file__:
            return None
        if event == "line":
            seen += 1
            if seen == line:
                signal.raise_signal(signal.SIGUSR1)
        return trace

    def apart():
        # A generator: what CPython takes to be handled after a trace function has raised in an
        # except clause is then forgotten with it.
        yield read()

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        next(apart())
    finally:
        sys.settrace(before)
    return seen >= line


@pytest.fixture
def time_out():
    def stop(*_):
        raise TimedOut

    before = signal.signal(signal.SIGUSR1, stop)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("cell", OWN.values(), ids=OWN)
@pytest.mark.parametrize(
    "read", [number_of, label_of, read_spelling, lambda cell: numbers_of([cell])]
)
def test_what_a_handler_of_a_signal_raises_is_no_cell(read, cell, time_out):
    line = 1
    while True:
        try:
            was_reached = interrupted_at(line, lambda: read(cell))
        except TimedOut:
            line += 1
            continue
        assert not was_reached, f"lost at line {line}"
        break
    assert line > 2
    assert sys.exc_info() == (None, None, None)


def test_a_derived_class_is_what_its_base_class_holds():
    assert number_of(hostile(float, 0.5)) == number_of(hostile(str, "0.5")) == 0.5
    assert number_of(hostile(int, -(10**400))) == -math.inf
    assert number_of(hostile(list, ["0.5"])) == 0.5
    for base, held in ((str, "yes"), (int, 3), (float, 0.5)):
        label = label_of(hostile(base, held))
        assert type(label) is base
        assert label == held
    assert label_of(hostile(bytes, b"yes")) == "yes"
    assert read_spelling(hostile(str, "TRUE")) == 1.0
    assert is_row(hostile(list, [1, 2]))


@pytest.mark.parametrize("what", [what for what in ODD if "time" in what or "duration" in what])
def test_a_time_is_neither_a_number_nor_a_label(what):
    assert math.isnan(number_of(ODD[what]))
    assert label_of(ODD[what]) is None
