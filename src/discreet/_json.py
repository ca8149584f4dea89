"""JSON as this library reads it: no repeated fields, no NaN, no infinities, nothing but objects.

Declared values are written as JSON from a closed list of kinds, none of them found by name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from discreet._types import Json
from discreet.errors import InputError, InputTypeError


def parse(text: object, what: str) -> Json:
    """Return the object that a text holds; ``what`` it is, with its article, goes into errors.

    Examples
    --------
    >>> parse('{"a": 1}', "a release")
    {'a': 1}
    >>> parse('{"a": NaN}', "a release")
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: a release must be a JSON text as written by to_json(); ...
    """
    if not isinstance(text, str):
        raise InputTypeError(f"{what} must be a JSON text; got {type(text).__name__}.")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_refuse_repeats,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
        )
    except (ValueError, RecursionError):
        document = None
    if document is None:
        raise InputError(
            f"{what} must be a JSON text as written by to_json(); this one is damaged, or was "
            "written by something else."
        )
    if not isinstance(document, dict):
        raise InputTypeError(f"{what} must be a JSON object.")
    return document


def check_fields(document: object, known: set[str], what: str) -> Json:
    """Return an object, refusing fields that are missing and fields that are not known.

    Examples
    --------
    >>> check_fields({"a": 1, "c": 2}, {"a", "b"}, "a release")
    Traceback (most recent call last):
        ...
    discreet.errors.InputTypeError: a release has the fields ['a', 'b']; missing ['b'], ...
    """
    if not isinstance(document, dict):
        raise InputTypeError(f"{what} must be a JSON object.")
    if set(document) != known:
        missing, extra = sorted(known - set(document)), sorted(set(document) - known)
        raise InputTypeError(
            f"{what} has the fields {sorted(known)}; missing {missing}, unknown {extra}."
        )
    return document


def dump(document: Json, *, indent: int | None = None) -> str:
    """Return the text of a document; numbers survive exactly."""
    return json.dumps(document, allow_nan=False, indent=indent)


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field comes twice")
    return found


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _parse_finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


PLAIN = re.compile(r"[<>=|]?(b1|[iu][1248]|f[248]|U[0-9]{1,5})\Z")
"""Types of arrays: truth values, whole numbers, numbers and text."""

DEEPEST = 20
MOST = 10_000_000


class ValueCodec:
    """Turns values into JSON and back: plain ones, arrays, and dataclasses of a closed list.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> codec = ValueCodec([L2Ball], "an artifact")
    >>> codec.encode(L2Ball(2.0))
    {'L2Ball': {'radius': 2.0}}
    >>> codec.decode({"L2Ball": {"radius": 2.0}})
    L2Ball(radius=2.0)
    >>> codec.decode({"os.system": {"command": "true"}})
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: an artifact may hold ...; got 'os.system'.
    """

    def __init__(
        self, kinds: Iterable[type[Any]], holder: str, unsaid: tuple[tuple[str, Any], ...] = ()
    ) -> None:
        self.values = {kind.__name__: kind for kind in kinds}
        self._holder, self._unsaid = holder, unsaid
        self._readers: dict[str, Callable[[Any, int], Any]] = {
            "list": lambda parts, depth: [self.decode(one, depth) for one in _as_list(parts)],
            "tuple": lambda parts, depth: tuple(self.decode(one, depth) for one in _as_list(parts)),
            "dict": self._decode_dict,
            "number": _decode_infinity,
            "array": lambda parts, _: decode_array(parts),
        }

    def encode(self, value: Any) -> Any:
        """Return a value as JSON."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return _encode_number(value)
        if isinstance(value, list):
            return {"list": [self.encode(one) for one in value]}
        if type(value) is tuple:
            return {"tuple": [self.encode(one) for one in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.encode(name), self.encode(one)] for name, one in value.items()]}
        if isinstance(value, np.ndarray):
            return {"array": encode_array(value)}
        kind = type(value)
        if self.values.get(kind.__name__) is kind:
            parts = {name: getattr(value, name) for name in _names(kind)}
            said = {name: part for name, part in parts.items() if (name, part) not in self._unsaid}
            return {kind.__name__: {name: self.encode(part) for name, part in said.items()}}
        raise InputError(
            f"a value of type {kind.__name__} cannot be stored; only numbers, text, lists, dicts "
            f"and what {self._holder} may hold of this library's own values can."
        )

    def decode(self, document: Any, depth: int = 0) -> Any:
        """Return the value that JSON stands for; anything not on the list is refused."""
        if depth > DEEPEST:
            raise InputError(f"the values of {self._holder} are nested more than {DEEPEST} deep.")
        if document is None or isinstance(document, bool | int | float | str):
            return document
        if not isinstance(document, dict) or len(document) != 1:
            raise InputError("a value must be plain, or an object with one field that names it.")
        ((kind, parts),) = document.items()
        if kind in self.values:
            return self._decode_value(self.values[kind], parts, depth + 1)
        if kind not in self._readers:
            known = sorted({*self._readers, *self.values})
            raise InputError(f"{self._holder} may hold {known}; got {kind!r}.")
        return self._readers[kind](parts, depth + 1)

    def _decode_value(self, kind: type[Any], parts: Any, depth: int) -> Any:
        known = set(_names(kind))
        if isinstance(parts, dict):
            known -= {name for name, _ in self._unsaid} - set(parts)
        named = check_fields(parts, known, f"a {kind.__name__}")
        return kind(**{name: self.decode(part, depth) for name, part in named.items()})

    def _decode_dict(self, parts: Any, depth: int) -> dict[Any, Any]:
        found = {}
        for pair in _as_list(parts):
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                raise InputError("a stored dict must be a list of pairs of a name and a value.")
            if pair[0] in found:
                raise InputError(f"a stored dict has the name {pair[0]!r} twice.")
            found[pair[0]] = self.decode(pair[1], depth)
        return found


def _names(kind: type[Any]) -> list[str]:
    """Return what a value of this class is made of: nothing, if it is no dataclass."""
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def _encode_number(value: float) -> Any:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        raise InputError("NaN cannot be stored as an argument.")
    return {"number": "inf" if value > 0 else "-inf"}


def _as_list(parts: Any) -> list[Any]:
    if not isinstance(parts, list):
        raise InputError("a stored list must be a list.")
    return parts


def _decode_infinity(parts: Any, depth: int) -> float:
    if parts not in ("inf", "-inf"):
        raise InputError("a number that is not finite must be 'inf' or '-inf'.")
    return float(parts)


BYTES_A_VALUE, BYTES_A_CHARACTER = 1024, 64


def room_for(values: list[Any]) -> int:
    """Return how many bytes an array of these values may take, whatever its type says.

    Text takes the room of the longest in every place, and a type may be wider than that: a small
    file could ask for more memory than there is.

    Examples
    --------
    >>> room_for([1, 2]), room_for(["a", "b" * 1000])
    (2048, 66112)
    """
    characters = sum(len(one) for one in values if isinstance(one, str))
    return BYTES_A_VALUE * len(values) + BYTES_A_CHARACTER * characters


def _type_of(array: Any) -> str:
    """Return the type of an array, or a narrower one for text that takes more room than it may."""
    if array.dtype.kind == "U":
        values = array.ravel().tolist()
        narrow = np.dtype(f"<U{max([1, *map(len, values)])}")
        for kind in (array.dtype, narrow):
            if kind.itemsize * array.size <= room_for(values):
                return str(kind.str)
        return "text"
    return "text" if _is_text(array) else str(array.dtype.str)


def encode_array(array: Any) -> Any:
    """Return a small array of numbers or text as JSON."""
    kind = _type_of(array)
    if kind != "text" and not PLAIN.match(kind):
        raise InputError(f"an array of type {array.dtype} cannot be stored; convert it first.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError("an array with NaN or infinities cannot be stored.")
    return {"type": kind, "shape": list(array.shape), "values": array.ravel().tolist()}


def _is_text(array: Any) -> bool:
    """Say whether an object array holds nothing but text, as names of columns do."""
    return array.dtype.kind == "O" and all(type(one) is str for one in array.ravel().tolist())


def decode_array(document: Any) -> Any:
    """Return an array that :func:`encode_array` wrote.

    Examples
    --------
    >>> decode_array(encode_array(np.array(["no", "yes"])))
    array(['no', 'yes'], dtype='<U3')
    """
    parts = check_fields(document, {"type", "shape", "values"}, "an array")
    kind, shape, values = parts["type"], _as_list(parts["shape"]), _as_list(parts["values"])
    if not isinstance(kind, str) or not (kind == "text" or PLAIN.match(kind)):
        raise InputError(f"an array must be of numbers or text; got type {kind!r}.")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise InputError("the shape of an array must be a list of lengths.")
    if len(shape) > 3 or math.prod(shape) != len(values) or len(values) > MOST:
        raise InputError(f"an array of shape {shape} cannot have {len(values)} values.")
    _check_types(kind, values)
    if kind != "text" and np.dtype(kind).itemsize * len(values) > room_for(values):
        raise InputError(f"an array of type {kind} takes far more room than its values.")
    try:
        array = np.array(values, dtype=object if kind == "text" else np.dtype(kind))
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"the values of an array are not of its type {kind}.") from None
    if array.dtype.kind in "iuU" and array.tolist() != values:
        raise InputError(f"the values of an array do not fit its type {kind}.")
    return array.reshape(shape)


def _check_types(kind: str, values: list[Any]) -> None:
    letter = "U" if kind == "text" else np.dtype(kind).kind
    allowed: dict[str, tuple[type, ...]] = {"U": (str,), "b": (bool,), "f": (float, int)}
    wanted = allowed.get(letter, (int,))
    if not all(type(one) in wanted for one in values):
        raise InputError(f"the values of an array are not of its type {kind}.")
