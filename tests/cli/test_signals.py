"""Signals stop a fit until there is a release, and wait from then on."""

from __future__ import annotations

import os
import signal

import pytest

from discreet.cli.signals import SIGNALS, Unhurried
from discreet.ledger import Ledger
from discreet.linear_model import LinearClassifier
from support.malformed import FIT
from support.place import run


class Model:
    """What a fit leaves behind."""


@pytest.mark.parametrize("number", SIGNALS)
def test_before_a_release_a_signal_stops(number):
    with pytest.raises(KeyboardInterrupt), Unhurried(Model()):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_after_a_release_a_signal_waits(number):
    before, model = signal.getsignal(number), Model()
    with Unhurried(model):
        model.release_ = "paid"
        os.kill(os.getpid(), number)
        model.is_written = True
    assert model.is_written
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("number", SIGNALS)
def test_a_model_is_written_though_a_signal_came_after_its_release(place, monkeypatch, number):
    fit = LinearClassifier.fit

    def impatient(self, *arguments, **options):
        fit(self, *arguments, **options)
        os.kill(os.getpid(), number)
        return self

    monkeypatch.setattr(LinearClassifier, "fit", impatient)
    assert run(place, FIT).code == 0
    assert (place / "model" / "card.html").exists()


def test_a_fit_that_is_stopped_before_its_release_leaves_nothing_but_the_charge(place, monkeypatch):
    def stopped(self, *arguments, **options):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(LinearClassifier, "fit", stopped)
    result = run(place, FIT)
    assert (result.code, result.output) == (130, "")
    assert not (place / "model").exists()
    assert Ledger(place / "patients.db").history() == ()
