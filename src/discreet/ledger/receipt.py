"""Proof that a release has been paid for; it opens rows once.

A capability for one use, which only its ledger can recognise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from discreet.errors import SealedError
from discreet.privacy import Guarantee

if TYPE_CHECKING:
    from discreet.ledger.abstract import AbstractLedger


@dataclass(frozen=True, eq=False)
class Receipt:
    """One charge in one ledger.

    A receipt proves nothing by itself: whoever is shown one asks its issuer, which knows whether it
    wrote the receipt, for which guarantee, and whether it has been used.

    Parameters
    ----------
    number
        The number of the charge; zero from a :class:`NoLedger`.
    guarantee
        What was paid for.
    issuer
        The ledger that wrote it.
    token
        What its ledger recognises it by.
    digest
        Of its entry in a chain of hashes; empty where there is none.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import AddRemoveOne, Budget, Pure
    >>> receipt = MemoryLedger(Budget(1.0)).charge(Guarantee(Pure(0.5), AddRemoveOne()))
    >>> receipt.number, receipt.guarantee.epsilon()
    (1, 0.5)
    """

    number: int
    guarantee: Guarantee
    issuer: AbstractLedger = field(repr=False)
    token: str = field(repr=False)
    digest: str = ""

    def redeem(self) -> None:
        """Use the receipt up; raises unless the issuer recognises it as unused."""
        self.issuer.redeem(self)

    def __reduce__(self) -> NoReturn:
        raise SealedError("a receipt cannot be copied or stored; it opens rows once, here.")
