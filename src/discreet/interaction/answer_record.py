"""How many answers an oracle has given, on record in the ledger that paid for it.

An older copy of a store does not know the answers that were given since, and would draw new noise
for them. So the ledger writes down how many there are, *before* they are told: each of the first
thousand, later whenever there are a thousandth more, and whenever an oracle is taken up. With them
goes the digest of the last one, which covers all before it and is salted in the store. A store with
fewer answers than are on record, or with others, is refused: also a second copy that is asked
beside the first, and as much. What is not noticed: a copy that lacks less than one in a thousand of
more than a thousand answers; and one that is put back together with a ledger that is as old, which
shows against an anchor of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.errors import LedgerError, StoreError
from discreet.ledger import AbstractLedger

SHARE = 1000
"""One in so many answers may be told before the ledger knows of it."""

OLDER = (
    "the store has {count:,} answers and the ledger knows of {least:,}, which are not among them: "
    "its past was put back, or it is a second copy, and it would draw new noise for answers that "
    "were given. Restore its latest state."
)


@dataclass(frozen=True)
class Seen:
    """How far a transcript was read: the number of entries, and the digest of the last one."""

    count: int = 0
    head: str = ""


@dataclass(eq=False)
class AnswerRecord:
    """What one process knows to be on record of an oracle."""

    ledger: AbstractLedger
    charge: int
    known: Seen | None = None

    def keep(self, seen: Seen, digest_at: Callable[[int], str]) -> None:
        """Put answers on record, if that is due; only then may they be told.

        What others have put there must be in this store, or it is not the one whose answers were
        counted.
        """
        while self._is_due(seen):
            known = self.known or Seen()
            try:
                found = Seen(
                    *self.ledger.record_answers(
                        self.charge, seen.count, seen.head, after=known.head
                    )
                )
            except LedgerError as error:
                raise StoreError(
                    f"answers are told once the ledger knows of them: {error}"
                ) from None
            if found.count and found != seen and digest_at(found.count) != found.head:
                raise StoreError(OLDER.format(count=seen.count, least=found.count))
            self.known = found

    def _is_due(self, seen: Seen) -> bool:
        return self.known is None or seen.count - self.known.count > self.known.count // SHARE
