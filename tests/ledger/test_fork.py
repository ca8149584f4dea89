"""A forked process holds a copy of the books, not the books."""

from __future__ import annotations

import multiprocessing
import sys

import pytest

from discreet.errors import PrivacyError
from discreet.ledger import MemoryLedger
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure


def _spend(ledger, answers):
    try:
        ledger.charge(Guarantee(Pure(1.0), AddRemoveOne()))
        answers.put("charged")
    except PrivacyError as error:
        answers.put(str(error))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork in a process with threads
def test_a_forked_copy_of_a_ledger_pays_for_nothing():
    context = multiprocessing.get_context("fork")
    ledger, answers = MemoryLedger(Budget(1.0)), context.SimpleQueue()
    child = context.Process(target=_spend, args=(ledger, answers))
    child.start()
    answer = answers.get()
    child.join()
    assert "another process" in answer
