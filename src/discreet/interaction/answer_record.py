"""How many answers an oracle has given, on record in the ledger that paid for it.

An older copy of a store does not know the answers that were given since, and would draw new noise
for them. So the ledger writes down how many there are, *before* they are told: each of the first
thousand, later whenever there are a thousandth more, and whenever an oracle is taken up. A store
with fewer answers than are on record is refused, also if it is a second copy that is asked beside
the first. What is not noticed: a copy that lacks less than one in a thousand of more than a
thousand answers; and one that is put back together with a ledger that is as old, which shows
against an anchor of the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import LedgerError, StoreError
from discreet.ledger import AbstractLedger

SHARE = 1000
"""One in so many answers may be told before the ledger knows of it."""

OLDER = (
    "the store has {count:,} answers and the ledger knows of {least:,}: its past was put back, and "
    "it would draw new noise for answers that were given. Restore its latest state."
)


@dataclass(eq=False)
class AnswerRecord:
    """What one process knows to be on record of an oracle."""

    ledger: AbstractLedger
    charge: int
    known: int = -1

    def keep(self, count: int) -> int:
        """Put so many answers on record, if that is due, and return how many are known to be.

        Only then may they be told; and if there are more on record than the store has, it is not
        the one whose answers were counted.
        """
        if count - self.known > self.known // SHARE:
            try:
                self.known = self.ledger.record_answers(self.charge, count)
            except LedgerError as error:
                raise StoreError(
                    f"answers are told once the ledger knows of them: {error}"
                ) from None
        return self.known
