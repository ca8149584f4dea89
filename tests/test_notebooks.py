"""What notebooks show: whole, escaped, and the same numbers as everywhere else."""

from __future__ import annotations

import html
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from discreet._page import neutralise
from discreet.audit import AuditResult, Evidence, ExactResult, OneRunResult
from discreet.ledger import Ledger, MemoryLedger, NoLedger
from discreet.ledger.memory import LostLedger
from discreet.planning import Answer, Cell, Prediction, PublicFacts
from discreet.preprocessing import Numeric
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Guarantee, NoPrivacy, Pure
from discreet.record import Release
from discreet.report import card

MARKUP = '</table><script>alert("x")</script> & \u202e\x00'
PROMISE = Guarantee(Pure(0.5), AddRemoveOne(), (MARKUP,))


def ledger():
    made = MemoryLedger(Budget(1.0, 1e-6))
    made.charge(PROMISE, purpose=MARKUP)
    return made


def durable(folder):
    made = Ledger.create(folder / "a.db", Budget(1.0), dataset=MARKUP[:-2])
    made.charge(PROMISE, purpose=MARKUP.replace("\x00", ""))
    return made


RELEASE = Release(np.arange(3.0), PROMISE, "private_count", 1, "0", MARKUP, MARKUP, ledger=MARKUP)
AUDIT = AuditResult(
    subject=MARKUP, unit="add_remove", claimed=1.0, delta=0.0, lower_bound=0.91, claimed_mu=1.0,
    lower_mu=0.7, share=0.91, violated=False, power=0.99, ceiling=7.0, trials=100, confidence=0.9,
    seed=1, is_pair_checked=True, evidence=(Evidence(MARKUP, 5, 2, 10, 1e-3),),
)  # fmt: skip
GRID = np.array([0.0, 1.0])
FACTS = PublicFacts([Numeric(0, 1)] * 2, classes=["no", "yes"])


CELLS = (
    Cell(1.0, 500, MARKUP, 0.8, 0.01, 0.85, is_scaled=False),
    Cell(0.1, 500, "auto", None, None, 0.85, is_scaled=False, refusal=MARKUP),
)
ANSWER = Answer("epsilon", 0.5, "accuracy", 0.8, MARKUP, 0.803, 0.81, 0.85)


@pytest.fixture
def shown(tmp_path):
    return {
        "guarantee": PROMISE,
        "no guarantee": Guarantee(NoPrivacy(), AddRemoveOne()),
        "release": RELEASE,
        "number": replace(RELEASE, value=42),
        "card": card(replace(RELEASE, receipt_number=0), about=MARKUP),
        "ledger": ledger(),
        "durable": durable(tmp_path),
        "no ledger": NoLedger(),
        "lost": LostLedger(MARKUP),
        "audit": AUDIT,
        "one run": OneRunResult(
            lower_bound=0.1, share=0.5, claimed=1.0, delta=0.0, unit="add_remove", correct=3,
            guesses=5, canaries=10, looks=1, confidence=0.95, power=0.5, ceiling=2.0,
        ),
        "exact": ExactResult(GRID, GRID / 9, GRID / 5, GRID / 1e9, 0.5),
        "prediction": Prediction(FACTS, CELLS, (), 1, 0),
        "answer": ANSWER,
    }  # fmt: skip


class Tags(HTMLParser):
    """The tags of a piece of HTML, those that were closed, and its text."""

    def __init__(self, text):
        super().__init__()
        self.opened, self.closed, self.text, self.inner = [], [], "", ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        self.inner += dict(attrs).get("srcdoc") or ""

    def handle_endtag(self, tag):
        self.closed.append(tag)

    def handle_data(self, data):
        self.text += data


def test_everything_is_shown_escaped_and_closed(shown):
    for name, value in shown.items():
        found = Tags(value._repr_html_())
        assert sorted(found.opened) == sorted(found.closed), name
        assert "script" not in found.opened, name
        if found.inner:
            assert "script" not in Tags(found.inner).opened, name
        assert "\x00" not in found.text, name
        assert "\u202e" not in found.text, name


def test_a_ledger_shows_the_number_that_it_shows_everywhere(shown):
    for name in ("ledger", "durable"):
        books = shown[name]
        text = books._repr_html_()
        assert html.escape(books.allowance().sentence()) in text
        assert "width:50.0%" in text
        assert "reserved" in text


def test_of_a_long_history_the_last_charges_are_shown():
    books = MemoryLedger(Budget(1.0, 1e-6))
    for number in range(30):
        books.charge(Guarantee(Gaussian(0.001), AddRemoveOne()), purpose=f"purpose {number}")
    text = Tags(books._repr_html_()).text
    assert "The last of 30 charges" in text
    assert "purpose 29" in text
    assert "purpose 9" not in text


def test_a_card_is_its_own_page_and_promises_are_said_in_words(shown):
    assert shown["card"].html().startswith("<!DOCTYPE html>")
    assert Tags(shown["card"]._repr_html_()).inner == shown["card"].html()
    assert "epsilon = 0.5" in Tags(shown["guarantee"]._repr_html_()).text
    assert "No privacy is promised" in Tags(shown["no guarantee"]._repr_html_()).text
    assert "[0. 1. 2.]" in Tags(shown["release"]._repr_html_()).text
    assert "42" in Tags(shown["number"]._repr_html_()).text


def test_results_of_planner_and_audits_say_their_sentence(shown):
    for name in ("audit", "one run", "exact", "prediction", "answer"):
        text = Tags(shown[name]._repr_html_()).text
        said = neutralise(shown[name].sentence())
        assert all(part in text for part in said.split(". ")), name
