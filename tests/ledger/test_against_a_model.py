"""Random charges, refunds, crashes and clones, against books that fit on a page."""

from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from discreet.errors import BudgetExceeded, ReceiptError
from discreet.ledger import Ledger, State
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure

PARTS = ("north", "south", None)
sixteenths = st.integers(1, 9)
anyone = st.integers(0, 2**32)


class Books(RuleBasedStateMachine):
    """A budget of one, charges in sixteenths: sums of them are exact."""

    @initialize()
    def open_books(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "patients.db"
        self.ledger = Ledger.create(self.path, Budget(1.0), parts=["north", "south"])
        self.charges = []  # [sixteenths, part, state]
        self.receipts = {}
        self.tokens = []  # of charge and token, in the order in which they were handed over

    def spent(self, part):
        return sum(
            cost
            for cost, where, state in self.charges
            if state is not State.REFUNDED and where in (None, part)
        )

    def chosen(self, anyone):
        return sorted(self.receipts)[anyone % len(self.receipts)]

    def move(self, number, before, after, act):
        if self.charges[number - 1][2] is before:
            act()
            self.charges[number - 1][2] = after
            return
        try:
            act()
        except ReceiptError:
            return
        raise AssertionError("a step was allowed that a charge does not have")

    @rule(cost=sixteenths, part=st.sampled_from(PARTS))
    def charge(self, cost, part):
        touched = PARTS[:2] if part is None else (part,)
        fits = all(self.spent(name) + cost <= 16 for name in touched)
        ledger = self.ledger if part is None else self.ledger.for_part(part)
        try:
            receipt = ledger.charge(Guarantee(Pure(cost / 16), AddRemoveOne()))
        except BudgetExceeded:
            assert not fits
            return
        assert fits
        assert receipt.number == len(self.charges) + 1
        self.charges.append([cost, part, State.RESERVED])
        self.receipts[receipt.number] = receipt

    @precondition(lambda self: self.receipts)
    @rule(anyone=anyone)
    def open_rows(self, anyone):
        number = self.chosen(anyone)
        self.move(number, State.RESERVED, State.OPENED, self.receipts[number].redeem)

    @precondition(lambda self: self.receipts)
    @rule(anyone=anyone, state=st.sampled_from([State.RELEASED, State.FAILED]))
    def settle(self, anyone, state):
        number = self.chosen(anyone)
        receipt = self.receipts[number]
        self.move(number, State.OPENED, state, lambda: self.ledger.settle(receipt, state))

    @precondition(lambda self: self.receipts)
    @rule(anyone=anyone)
    def hand_over(self, anyone):
        number = self.chosen(anyone)
        token, receipt = f"token {len(self.tokens)}", self.receipts[number]
        if self.charges[number - 1][2] is State.OPENED:
            self.tokens.append((number, token))
        self.move(number, State.OPENED, State.HANDED_OVER,
                  lambda: self.ledger.hand_over(receipt, token))  # fmt: skip

    @precondition(lambda self: self.receipts)
    @rule(anyone=anyone)
    def reclaim(self, anyone):
        number = self.chosen(anyone)
        receipt = self.receipts[number]
        if self.charges[number - 1][2] is State.OPENED:
            self.ledger.reclaim(receipt)
        else:
            self.move(number, State.HANDED_OVER, State.OPENED,
                      lambda: self.ledger.reclaim(receipt))  # fmt: skip

    @precondition(lambda self: self.tokens)
    @rule(anyone=anyone)
    def take_up(self, anyone):
        number, token = self.tokens[anyone % len(self.tokens)]
        cost, _, state = self.charges[number - 1]
        guarantee = Guarantee(Pure(cost / 16), AddRemoveOne())
        is_last = (number, token) == [each for each in self.tokens if each[0] == number][-1]
        before, old = State.HANDED_OVER if is_last else None, self.receipts.get(number)

        def act():
            self.receipts[number] = self.ledger.take_up(number, token, guarantee)

        self.move(number, before, State.OPENED, act)
        if state is State.HANDED_OVER and is_last and old is not None:
            with pytest.raises(ReceiptError, match="void"):
                self.ledger.settle(old, State.RELEASED)

    @precondition(lambda self: self.receipts)
    @rule(anyone=anyone)
    def refund(self, anyone):
        number = self.chosen(anyone)
        receipt = self.receipts[number]
        self.move(number, State.RESERVED, State.REFUNDED, lambda: self.ledger.refund(receipt))

    @precondition(lambda self: self.charges)
    @rule(anyone=anyone)
    def refund_by_number(self, anyone):
        number = anyone % len(self.charges) + 1
        self.move(number, State.RESERVED, State.REFUNDED, lambda: self.ledger.refund(number))

    @rule()
    def crash(self):
        """The process ends; its receipts are gone."""
        self.receipts = {}
        self.ledger = Ledger(self.path)

    @rule(how=st.sampled_from([copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]))
    def clone(self, how):
        self.ledger = how(self.ledger)

    @invariant()
    def the_books_agree(self):
        if not hasattr(self, "charges"):
            return
        found = [(entry.part, entry.state) for entry in self.ledger.history()]
        assert found == [(part, state) for _, part, state in self.charges]
        left = 1 - max(map(self.spent, PARTS[:2])) / 16
        assert abs(self.ledger.remaining(0.0) - left) < 1e-6
        waiting = [entry.number for entry in self.ledger.refundable()]
        assert waiting == [
            number
            for number, (_, _, state) in enumerate(self.charges, 1)
            if state is State.RESERVED
        ]

    def teardown(self):
        if hasattr(self, "ledger"):
            found = self.ledger.verify()
            assert found.is_sound, found.problems
            self.folder.cleanup()


TestBooks = Books.TestCase
TestBooks.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None, derandomize=True
)
