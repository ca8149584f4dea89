"""Many processes charge one budget at once: all that fits is admitted, and nothing more."""

from __future__ import annotations

import os

import pytest

from discreet.ledger import Ledger
from discreet.privacy import Budget
from support.charging import EPSILON, charge_at_once

PROCESSES, CHARGES = 32, int(os.environ.get("DISCREET_CHARGES", "12"))
"""Charges of each process; ``make faults`` asks for two hundred."""

FITTING = PROCESSES * CHARGES // 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork in a process with threads
def test_all_that_fits_is_admitted_and_nothing_more(place):
    ledger = Ledger.create(place, Budget(FITTING * EPSILON), dataset="patients")
    admitted, _ = charge_at_once(place, "patients", PROCESSES, CHARGES)
    assert admitted == FITTING  # to the last charge
    found = ledger.verify()
    assert found.is_sound, found.problems
    assert found.charges == FITTING
    assert ledger.remaining(0.0) < EPSILON
