"""There is one way to print an epsilon: three digits, up if it is spent, down if it is left."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.ledger import Ledger, MemoryLedger
from discreet.ledger.allowance import Allowance
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Pure,
    gaussian_multiplier,
)
from discreet.privacy.guarantee import down_to_three_digits, in_three_digits
from support.place import run

SOURCE = Path(discreet.__file__).parent

ELSEWHERE = {
    "ledger/filters.py": "looks for a short number, and prints none",
    "compat/diffprivlib/accountant.py": "its repr is that of another library",
}
"""Files with other formats of an epsilon, and why."""


def other_formats(text):
    """Yield the lines of f-strings that print an epsilon in another way."""
    for whole in ast.walk(ast.parse(text)):
        before = ""
        for part in getattr(whole, "values", []) if isinstance(whole, ast.JoinedStr) else []:
            if isinstance(part, ast.Constant):
                before = str(part.value)
                continue
            form = ast.unparse(part.format_spec) if part.format_spec else ""
            is_number = re.search(r"[gfe]'$", form)
            is_epsilon = "epsilon" in ast.unparse(part.value) or re.search(
                r"epsilon\W{0,3}$", before
            )
            if is_number and is_epsilon:
                yield part.lineno
            before = ""


def test_the_check_finds_other_formats():
    bad = 'f"epsilon = {value:g} and {self.epsilon:.3g}, {left:.4f} rows, {up(epsilon):>8}"'
    assert len(list(other_formats(bad))) == 2


def test_no_file_prints_an_epsilon_in_another_way():
    files = [path for path in SOURCE.rglob("*.py") if "audit" not in path.parts]
    found = {
        str(path.relative_to(SOURCE)) for path in files if any(other_formats(path.read_text()))
    }
    assert found == set(ELSEWHERE)


@given(st.floats(1e-300, 1e300))
def test_what_is_spent_is_printed_up_and_what_is_left_down(value):
    up, down = float(in_three_digits(value)), float(down_to_three_digits(value))
    assert value * (1 - 1e-9) <= up <= value * 1.02
    assert value / 1.02 <= down <= value
    assert in_three_digits(up) == in_three_digits(value)  # and stays as it is


def gaussian(epsilon):
    noise = gaussian_multiplier(Budget(epsilon, 1e-9))
    return Guarantee(Gaussian(1 / noise), AddRemoveOne())


def test_one_charge_is_shown_by_one_number(tmp_path):
    ledger = Ledger.create(tmp_path / "p.db", Budget(3.0, 1e-6))
    for epsilon in (0.1, 0.25, 0.5):
        ledger.charge(gaussian(epsilon))
    lines = run(tmp_path, "ledger history p.db").output.splitlines()
    shown = [re.search(r"epsilon (\S+) at", line)[1] for line in lines]
    assert shown == [entry.cells()[3] for entry in ledger.history()] == ["0.1", "0.25", "0.5"]


@pytest.mark.parametrize("spent", [0.1, 0.25, 0.5, 0.7])
def test_what_remains_is_a_short_number_that_is_accepted(spent):
    for guarantee in (gaussian(spent), Guarantee(Pure(spent), AddRemoveOne())):
        ledger = MemoryLedger(Budget(1.0, 1e-6))
        ledger.charge(guarantee)
        left = ledger.remaining()
        assert left == float(f"{left:.6g}")
        assert left <= ledger.allowance().epsilon
        unit = AddRemoveOne()
        ledger.charge(Guarantee(Approximate(left, 1e-9), unit, quoted_delta=1e-9))


def test_a_hair_of_a_budget_is_nothing():
    ledger = MemoryLedger(Budget(1.0))
    ledger.charge(Guarantee(Pure(1 - 1e-9), AddRemoveOne()))
    assert ledger.remaining() == 0
    for left in (ledger.allowance(), Allowance(1.11e-13, 1e-9, "any", Budget(1.5, 1e-6))):
        assert left.sentence().startswith("Nothing more may be released")
