"""One wording for each kind of mistake in an argument.

Validation of arguments. Every check takes keyword arguments, so that the message can name what was
wrong: ``_checks.positive(radius=-1)`` says "radius must be a positive number; got -1.".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from discreet.errors import InputError, InputTypeError


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"{name} must be a number; got {_kind(value)}.")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is too large for a floating-point number.") from None


def _kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"


def finite(**numbers: object) -> None:
    """Refuse NaN and infinities."""
    for name, value in numbers.items():
        if not math.isfinite(_number(name, value)):
            raise InputError(f"{name} must be a finite number; got {value}.")


def positive(**numbers: object) -> None:
    """Refuse anything but a finite number above zero."""
    for name, value in numbers.items():
        if type(value) is float and 0 < value < math.inf:
            continue
        number = _number(name, value)
        if not (math.isfinite(number) and number > 0):
            raise InputError(f"{name} must be a positive number; got {value}.")


def positive_number(**numbers: object) -> float:
    """Return the one number given, refusing anything but a finite number above zero."""
    positive(**numbers)
    ((name, value),) = numbers.items()
    return _number(name, value)


def not_negative(**numbers: object) -> None:
    """Refuse anything but a finite number at or above zero."""
    for name, value in numbers.items():
        number = _number(name, value)
        if not (math.isfinite(number) and number >= 0):
            raise InputError(f"{name} must be zero or a positive number; got {value}.")


def epsilon(**numbers: object) -> None:
    """Refuse an epsilon that is not positive; infinity is allowed."""
    for name, value in numbers.items():
        number = _number(name, value)
        if not number > 0:
            raise InputError(
                f"{name} must be positive; got {value}. Use math.inf to switch noise off."
            )


def delta(**numbers: object) -> None:
    """Refuse a delta outside [0, 1)."""
    for name, value in numbers.items():
        number = _number(name, value)
        if not 0 <= number < 1:
            raise InputError(
                f"{name} must be at least 0 and below 1; got {value}. "
                "A usual choice is well below one over the number of records."
            )


def fraction(**numbers: object) -> None:
    """Refuse anything outside [0, 1]."""
    for name, value in numbers.items():
        number = _number(name, value)
        if not 0 <= number <= 1:
            raise InputError(f"{name} must lie between 0 and 1; got {value}.")


def whole(*, at_least: int, at_most: int | None = None, **numbers: object) -> None:
    """Refuse anything but an integer within the limits."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise InputTypeError(f"{name} must be a whole number; got {_kind(value)}.")
        number = int(value)
        if number < at_least or (at_most is not None and number > at_most):
            limits = f"at least {at_least}" + ("" if at_most is None else f" and at most {at_most}")
            raise InputError(f"{name} must be {limits}; got {value}.")


MANY, MOST_LISTED = 20, 30


def one_of(choices: Iterable[str], **values: object) -> None:
    """Refuse a value that is not among the choices; of very many, the nearest are listed."""
    known = tuple(choices)
    listed = ", ".join(map(repr, known) if len(known) <= MANY else known)
    for name, value in values.items():
        if isinstance(value, str) and value in known:
            continue
        if len(known) > MOST_LISTED:
            from difflib import get_close_matches  # on the way out alone

            near = get_close_matches(str(value), known, n=8, cutoff=0.0)
            listed = f"{len(known)} names, of which the nearest are {', '.join(near)}"
        raise InputError(f"{name} must be one of {listed}; got {value!r}.")


def truth(**values: object) -> None:
    """Refuse anything but a truth value, Python's or NumPy's."""
    import numpy as np  # slow to import

    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise InputTypeError(f"{name} must be True or False; got {_kind(value)}.")


def instance(kind: type, /, **values: object) -> None:
    """Refuse a value of another type."""
    for name, value in values.items():
        if not isinstance(value, kind):
            raise InputTypeError(f"{name} must be a {kind.__name__}; got {_kind(value)}.")
