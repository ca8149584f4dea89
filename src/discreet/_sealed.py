"""What refuses to be looked at, copied or stored, as far as Python lets a class refuse."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from discreet.errors import SealedError


class Sealed:
    """Refuses every way of being looked at that Python lets a class refuse.

    Examples
    --------
    >>> class Letter(Sealed):
    ...     _sealed = "a letter is not copied."
    >>> import copy
    >>> copy.copy(Letter())
    Traceback (most recent call last):
        ...
    discreet.errors.SealedError: a letter is not copied.
    """

    __slots__ = ()
    _sealed: ClassVar[str] = "a secret cannot be looked at, copied or stored."

    def _refuse(self, *_: object) -> NoReturn:
        raise SealedError(self._sealed)

    __iter__ = __len__ = __getitem__ = __contains__ = __array__ = _refuse
    __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    __hash__ = None  # type: ignore[assignment]
