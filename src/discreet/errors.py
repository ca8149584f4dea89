"""Every way Discreet says no.

Two families. :class:`InputError` is a mistake in an argument: it is a ``ValueError``, nothing was
charged, nothing was read. :class:`PrivacyError` is a privacy condition that does not hold: it is
raised, never warned about, and no message carries a value read from a row.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(DiscreetError, ValueError):
    """An argument has the wrong value or shape; the message says what was expected."""


class InputTypeError(DiscreetError, TypeError):
    """An argument has the wrong type; the message says what was expected."""


class PrivacyError(DiscreetError):
    """A condition that privacy rests on does not hold, so nothing is released."""


class BudgetExceeded(PrivacyError):
    """The ledger cannot pay for the request; no row was read."""


class RehearsalRefused(PrivacyError):
    """A ledger was asked to record a release that carries no privacy."""


class ReceiptError(PrivacyError):
    """A receipt is used twice, forged, or meant for other rows."""


class SealedError(PrivacyError, TypeError):
    """Somebody tried to look at sealed rows, or to copy a secret."""


class UnitMismatch(PrivacyError):
    """Guarantees about different privacy units were combined."""


class CalibrationError(PrivacyError):
    """No amount of noise that this machine can represent meets the budget."""


class NotAccepted(PrivacyError):
    """The mechanism has no proof for this question; the message says why and what to use."""


class EntropyError(PrivacyError):
    """The operating system's randomness or the cipher is not working."""


class ReleaseFailed(PrivacyError):
    """The private part stopped before a release; the charge stands."""


class SourceChanged(PrivacyError):
    """Stored rows changed or broke while they were read; nothing is released, the charge stands."""


class LedgerError(DiscreetError):
    """The books cannot be opened, read or written; no row was read."""


class AuditError(DiscreetError):
    """An audit could not be carried out; nothing was certified."""


class RehearsalWarning(UserWarning):
    """A result was made with repeatable noise and is not private."""
