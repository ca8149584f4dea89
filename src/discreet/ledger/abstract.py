"""What every ledger does, wherever it is kept.

The interface of privacy accounting, and the state machine of a charge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, Self

from discreet._page import LONGEST_TABLE, bar_html, notebook_html, sentence_html, table_html
from discreet.errors import InputError, PrivacyError, ReceiptError
from discreet.ledger.allowance import Allowance
from discreet.ledger.receipt import Receipt
from discreet.privacy import Guarantee, group_epsilon
from discreet.privacy.guarantee import in_three_digits


class State(Enum):
    """The life of a charge, which can be refunded until its rows are opened.

    An interaction that is saved is handed over; who resumes it opens it again. An oracle in a store
    is answering once it has told something.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import AddRemoveOne, Budget, Pure
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> receipt = ledger.charge(Guarantee(Pure(0.5), AddRemoveOne()))
    >>> ledger.history()[0].state
    <State.RESERVED: 'reserved'>
    >>> ledger.refund(receipt)
    >>> ledger.history()[0].state
    <State.REFUNDED: 'refunded'>
    """

    RESERVED = "reserved"
    OPENED = "opened"
    RELEASED = "released"
    FAILED = "failed"
    HANDED_OVER = "handed over"
    ANSWERING = "answering"
    REFUNDED = "refunded"


@dataclass(frozen=True)
class Entry:
    """One line of the history; nothing in it was read from a row.

    Parameters
    ----------
    number
        The number of the charge, from one on.
    guarantee
        What was promised, and so paid for.
    purpose
        What the caller said it was for.
    time
        When it was charged, in UTC.
    state
        How far it has come.
    part
        Of the data; None for the whole.
    version
        Of the library that charged it; empty in memory.
    actor
        Who charged it; empty in memory.
    digest
        Of its line in a chained history; empty in memory.
    rows_per_person
        How many records together the charge was made for.
    answers
        How many answers of an oracle are on record.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import AddRemoveOne, Budget, Pure
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> receipt = ledger.charge(Guarantee(Pure(0.5), AddRemoveOne()), purpose="a mean")
    >>> (entry,) = ledger.history()
    >>> entry.number, entry.purpose, entry.is_refundable
    (1, 'a mean', True)
    """

    number: int
    guarantee: Guarantee
    purpose: str
    time: datetime
    state: State
    part: str | None = None
    version: str = ""
    actor: str = ""
    digest: str = ""
    rows_per_person: int = 1
    answers: int = 0

    @property
    def epsilon(self) -> float:
        """What it cost somebody with as many records as one may have, at the quoted delta."""
        return total_epsilon(self.guarantee, self.rows_per_person)

    @property
    def is_refundable(self) -> bool:
        """Whether its rows were not opened."""
        return self.state is State.RESERVED

    def cells(self) -> tuple[str, ...]:
        """Return number, time, state, epsilon, delta and purpose as texts, for a table."""
        return (
            str(self.number),
            f"{self.time:%Y-%m-%d %H:%M:%S}",
            self.state.value,
            in_three_digits(self.epsilon),
            in_three_digits(self.guarantee.quoted_delta),
            self.purpose,
        )


def total_epsilon(guarantee: Guarantee, records: int, delta: float | None = None) -> float:
    """Return a guarantee's epsilon for so many records together, at the quoted delta if None."""
    if records == 1:
        return guarantee.epsilon(delta)
    delta = guarantee.quoted_delta if delta is None else delta
    return group_epsilon(guarantee.profile, records, delta)


FOREIGN = "this receipt was not written by this ledger."
ANOTHER = "this receipt was written for another guarantee."

NOT_DURABLE = (
    "only a ledger that outlives its process can see to it that a saved state is resumed once; use "
    'Ledger.create("patients.db", budget), or freeze the interaction.'
)
"""Why an interaction is not saved with a ledger that ends with its process."""


def check_move(state: State, before: State, after: State) -> None:
    """Refuse a step that the life of a charge does not have."""
    if state is not before:
        raise ReceiptError(
            f"this receipt is {state.value}; only one that is {before.value} can become "
            f"{after.value}. Charge again for another release."
        )


def check_end(state: State) -> None:
    """Refuse an end that is none."""
    if state not in (State.RELEASED, State.FAILED):
        raise InputError("a receipt ends as released or failed.")


def check_rows_per_person(ledger: AbstractLedger, source: str, said: int | None) -> None:
    """Refuse a number of records of one person that is not the one that a ledger charges for.

    Of a ledger whose unit is a record: one whose unit is a person charges for however many.
    """
    if None not in (said, ledger.rows_per_person) and said != ledger.rows_per_person:
        raise InputError(
            f"the ledger charges for at most {ledger.rows_per_person} records of one person, "
            f"{source} says {said}. Say the ledger's number if it is true, or create another "
            f"ledger with --rows-per-person {said}."
        )


class AbstractLedger(ABC):
    """Charges releases to a privacy budget, and remembers them.

    ``charge`` checks and records in one atomic step, and returns only when the record would survive
    a crash. ``redeem`` and ``settle`` follow a receipt through its life.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger, NoLedger
    >>> from discreet.privacy import Budget
    >>> def is_enough(ledger: AbstractLedger) -> bool:
    ...     return ledger.remaining(delta=1e-6) >= 0.5
    >>> is_enough(MemoryLedger(Budget(0.1, 1e-6))), is_enough(NoLedger())
    (False, True)
    """

    @property
    @abstractmethod
    def identity(self) -> str:
        """What tells this ledger from others, without anything secret; empty if it keeps none."""

    @property
    def rows_per_person(self) -> int | None:
        """How many records one person has at most, and is charged for; None if nobody said."""
        return None

    @property
    def key(self) -> str:
        """A random name that a durable ledger keeps for ever, wherever it is; empty for others."""
        return ""

    def __copy__(self) -> Self:
        """A copy is the same ledger: a budget is not doubled by copying it."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @abstractmethod
    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        """Charge the cost of a release, or raise :class:`BudgetExceeded` and charge nothing."""

    @abstractmethod
    def redeem(self, receipt: Receipt) -> None:
        """Mark the rows of a receipt as opened; raises if it is forged, used or refunded."""

    @abstractmethod
    def settle(self, receipt: Receipt, state: State) -> None:
        """Record how an opened receipt ended, released or failed; the charge stands."""

    @abstractmethod
    def refund(self, receipt: Receipt) -> None:
        """Give a charge back whose rows were never opened."""

    is_durable: ClassVar[bool] = False
    """Whether the ledger outlives its process, so that an interaction can be handed over."""

    def hand_over(self, receipt: Receipt, token: str) -> None:
        """Let whoever shows the token take up what an opened receipt pays for, once."""
        raise PrivacyError(NOT_DURABLE)

    def take_up(self, number: int, token: str, guarantee: Guarantee) -> Receipt:
        """Return a new receipt for a charge that was handed over; older receipts are void.

        Parameters
        ----------
        number
            Of the charge.
        token
            What it was handed over with last.
        guarantee
            What was charged.
        """
        raise PrivacyError(NOT_DURABLE)

    def reclaim(self, receipt: Receipt) -> None:
        """Take back what was handed over, if nobody has taken it up; nothing if it was not."""
        raise PrivacyError(NOT_DURABLE)

    def record_answers(
        self, number: int, count: int, head: str, *, after: str = ""
    ) -> tuple[int, str]:
        """Write down how many answers the oracle of a charge has given, if they are more.

        Returns the count and the digest that are on record then.

        Parameters
        ----------
        number
            Of the charge.
        count, head
            How many answers there are, and a digest of them that tells nothing else.
        after
            The digest that must be on record until then; empty if there is none yet.
        """
        raise PrivacyError(NOT_DURABLE)

    @abstractmethod
    def history(self) -> tuple[Entry, ...]:
        """Return every charge ever made, in order."""

    @abstractmethod
    def remaining(self, delta: float | None = None) -> float:
        """Return an epsilon such that a release of that epsilon at ``delta`` would be accepted.

        Without a delta it is the number that commands, cards and pictures show; see
        :meth:`allowance`. A release far from its ideal, or whose Renyi curve is unknown, may still
        be refused.
        """

    def allowance(self) -> Allowance | None:
        """Return what may still be released, with a sentence; None if no budget is kept."""
        return None

    def _repr_html_(self) -> str:
        left, entries = self.allowance(), self.history()
        parts = []
        if left is not None:
            parts += [bar_html(left.share, left.sentence()), sentence_html(left.sentence())]
        if entries:
            caption = f"The last of {len(entries)} charges" if len(entries) > LONGEST_TABLE else ""
            header = ("charge", "when (UTC)", "what became of it", "epsilon", "delta", "purpose")
            rows = [entry.cells() for entry in entries[-LONGEST_TABLE:]]
            parts.append(table_html(caption, header, rows))
        else:
            parts.append(sentence_html("No charge is in this ledger."))
        return notebook_html(self.identity or "No ledger is kept", *parts)

    @abstractmethod
    def spent(self, delta: float) -> float:
        """Return the epsilon at ``delta`` of everything charged, as if fixed in advance."""
