"""The exceptions and warnings of the library: every way it says no.

Two families. :class:`InputError` is a mistake in an argument: it is a ``ValueError``, nothing was
charged, nothing was read. :class:`PrivacyError` is a privacy condition that does not hold: it is
raised, never warned about, and no message carries a value read from a row.
"""

from __future__ import annotations

__all__ = [
    "AuditError",
    "BudgetExceeded",
    "CalibrationError",
    "DiscreetError",
    "EntropyError",
    "InputError",
    "InputTypeError",
    "InteractionEnded",
    "IntervalRefused",
    "LargeDeltaWarning",
    "LedgerError",
    "NotAccepted",
    "PrivacyError",
    "ReceiptError",
    "RehearsalRefused",
    "RehearsalWarning",
    "ReleaseFailed",
    "SealedError",
    "SourceChanged",
    "StoreError",
    "UnitMismatch",
]


class DiscreetError(Exception):
    """Base of every error this library raises on purpose.

    Examples
    --------
    >>> from discreet.privacy import Budget
    >>> try:
    ...     Budget(-1.0)
    ... except DiscreetError as refusal:
    ...     print(refusal)
    epsilon must be positive; got -1.0. Use math.inf to switch noise off.
    """


class InputError(DiscreetError, ValueError):
    """An argument has the wrong value or shape; the message says what was expected.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> L2Ball(-1.0)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: radius must be a positive number; got -1.0.
    """


class InputTypeError(DiscreetError, TypeError):
    """An argument has the wrong type; the message says what was expected.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> L2Ball("one")
    Traceback (most recent call last):
        ...
    discreet.errors.InputTypeError: radius must be a number; got a value of type str.
    """


class IntervalRefused(DiscreetError):
    """What was released cannot carry a confidence interval; the model itself stands.

    Whether it can is decided from released numbers alone.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.linear_model import LogisticRegression
    >>> X, y = np.eye(20, 2), np.arange(20) % 2
    >>> model = LogisticRegression(1.0, 1e-6, data_norm=1.5, classes=[0, 1], intervals=True)
    >>> model.fit(X, y).confidence_interval()
    Traceback (most recent call last):
        ...
    discreet.errors.IntervalRefused: too few rows for an interval at this budget: ...
    """


class PrivacyError(DiscreetError):
    """A condition that privacy rests on does not hold, so nothing is released.

    Examples
    --------
    >>> issubclass(BudgetExceeded, PrivacyError), issubclass(PrivacyError, DiscreetError)
    (True, True)
    """


class BudgetExceeded(PrivacyError):
    """The ledger cannot pay for the request; no row was read.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> ledger.charge(Guarantee(Pure(2.0), AddRemoveOne()), purpose="a count")
    Traceback (most recent call last):
        ...
    discreet.errors.BudgetExceeded: ...
    """


class RehearsalRefused(PrivacyError):
    """A ledger was asked to record a release that carries no privacy.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import AddRemoveOne, Budget, Guarantee, NoPrivacy
    >>> ledger = MemoryLedger(Budget(1.0))
    >>> ledger.charge(Guarantee(NoPrivacy(), AddRemoveOne()), purpose="a talk")
    Traceback (most recent call last):
        ...
    discreet.errors.RehearsalRefused: ...
    """


class ReceiptError(PrivacyError):
    """A receipt is used twice, forged, or meant for other rows.

    Examples
    --------
    >>> from discreet.data import Bounds, Rows
    >>> from discreet.geometry import L2Ball
    >>> from discreet.ledger import NoLedger
    >>> from discreet.privacy import AddRemoveOne, Guarantee, Pure
    >>> rows = Rows([[0.5]], bounds=Bounds(L2Ball(1.0), n_features=1))
    >>> receipt = NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne()), purpose="a sum")
    >>> rows.open(receipt).close()
    >>> rows.open(receipt)
    Traceback (most recent call last):
        ...
    discreet.errors.ReceiptError: ...
    """


class SealedError(PrivacyError, TypeError):
    """Somebody tried to look at sealed rows, or to copy a secret.

    Examples
    --------
    >>> from discreet.data import Bounds, Rows
    >>> from discreet.geometry import L2Ball
    >>> rows = Rows([[0.5]], bounds=Bounds(L2Ball(1.0), n_features=1))
    >>> rows[0]
    Traceback (most recent call last):
        ...
    discreet.errors.SealedError: rows cannot be looked at, counted, copied or stored; ...
    """


class UnitMismatch(PrivacyError):
    """Guarantees about different privacy units were combined.

    Examples
    --------
    >>> from discreet.privacy import Guarantee, Pure
    >>> Guarantee(Pure(1.0), "add_remove").compose(Guarantee(Pure(1.0), "replace"))
    Traceback (most recent call last):
        ...
    discreet.errors.UnitMismatch: guarantees compose only for one privacy unit; ...
    """


class CalibrationError(PrivacyError):
    """No amount of noise that this machine can represent meets the budget.

    Examples
    --------
    >>> from discreet.privacy import Budget, gaussian_multiplier
    >>> gaussian_multiplier(Budget(1.0, delta=0.0))
    Traceback (most recent call last):
        ...
    discreet.errors.CalibrationError: no amount of noise gives epsilon = 1 at delta = 0; ...
    """


class NotAccepted(PrivacyError):
    """The mechanism has no proof for this question; the message says why and what to use.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.mechanisms import PrivateCount
    >>> from discreet.privacy import AddRemoveOne, Budget
    >>> from discreet.questions import Bounds, VectorSum
    >>> question = VectorSum(Bounds(L2Ball(1.0), n_features=1))
    >>> PrivateCount().plan(question, Budget(1.0), AddRemoveOne())
    Traceback (most recent call last):
        ...
    discreet.errors.NotAccepted: ...
    """


class EntropyError(PrivacyError):
    """The operating system's randomness or the cipher is not working."""


class ReleaseFailed(PrivacyError):
    """The private part stopped before a release; the charge stands."""


class InteractionEnded(PrivacyError):
    """An interaction learns no more: it was frozen, saved or failed; the charge stands."""


class SourceChanged(PrivacyError):
    """Stored rows changed or broke while they were read; nothing is released, the charge stands."""


class LedgerError(DiscreetError):
    """The ledger cannot be opened, read or written; no row was read.

    Examples
    --------
    >>> from discreet.ledger import Ledger
    >>> Ledger("nowhere.db").remaining(delta=1e-6)
    Traceback (most recent call last):
        ...
    discreet.errors.LedgerError: ...
    """


class StoreError(DiscreetError):
    """The store of an oracle cannot be opened, read or written; nothing new was answered.

    Whether a new answer was kept when this is raised is not known. Ask again: the store says.

    Examples
    --------
    >>> from discreet.gate import reopen
    >>> reopen("nowhere.oracle")
    Traceback (most recent call last):
        ...
    discreet.errors.StoreError: there is no oracle at 'nowhere.oracle'.
    """


class AuditError(DiscreetError):
    """An audit could not be carried out; nothing was certified.

    Examples
    --------
    >>> from discreet.audit import audit
    >>> from discreet.privacy import AddRemoveOne, Guarantee, Pure
    >>> claim = Guarantee(Pure(1.0), AddRemoveOne())
    >>> audit(lambda data: "text", ([1.0], [1.0, 2.0]), claim, trials=1000)
    Traceback (most recent call last):
        ...
    discreet.errors.AuditError: ...
    """


class LargeDeltaWarning(UserWarning):
    """A delta is so large that the promise may be empty; nothing is charged yet.

    Above 1e-4 every delta is questioned, and above one over the number of records, where that is
    public or declared.

    Examples
    --------
    >>> import warnings
    >>> from discreet.data import Bounds, Rows
    >>> from discreet.gate import release
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.privacy import Budget
    >>> from discreet.questions import VectorSum
    >>> bounds = Bounds(Box([0], [1]), n_features=1)
    >>> rows = Rows([[0.5]], bounds=bounds)
    >>> with warnings.catch_warnings(action="error", category=LargeDeltaWarning):
    ...     release(GaussianSum(), VectorSum(bounds), rows, budget=Budget(1.0, 0.01))
    Traceback (most recent call last):
        ...
    discreet.errors.LargeDeltaWarning: delta = 0.01 allows one record in 100 to be ...
    """


class RehearsalWarning(UserWarning):
    """A result was made with seeded noise and is not private.

    Examples
    --------
    >>> import warnings
    >>> from discreet.location import Median
    >>> with warnings.catch_warnings(action="ignore", category=RehearsalWarning):
    ...     model = Median(bounds=(0, 10), rehearsal=0).fit([[3.0], [4.0]])
    >>> model.release_.is_private
    False
    """
