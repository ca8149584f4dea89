"""Arrays of numbers in one file, read without trust.

The ``.npz`` format, a zip archive of ``.npy`` members, never compressed and never unpickled.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet._types import Array, Json
from discreet.errors import InputError


def to_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays as the bytes of an ``.npz`` file; the same arrays give the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in sorted(arrays.items()):
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    return file.getvalue()


def shapes_of(arrays: Mapping[str, Array]) -> Json:
    """Return the shape of each array, to be compared when the file is read."""
    return {name: list(np.shape(array)) for name, array in sorted(arrays.items())}


def from_bytes(data: bytes, shapes: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays of a file, if they are the ones announced: float64, finite, so shaped.

    Examples
    --------
    >>> data = to_bytes({"coef_": np.array([1.0, 2.0])})
    >>> from_bytes(data, {"coef_": [2]})
    {'coef_': array([1., 2.])}
    >>> from_bytes(data, {"coef_": [3]})
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: the array coef_ has another shape or type than announced.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = sorted(member.filename for member in archive.infolist())
            if names != sorted(f"{name}.npy" for name in shapes):
                raise InputError(f"the file of arrays must hold {sorted(shapes)} and nothing else.")
            return {name: _read_member(archive, name, tuple(shapes[name])) for name in shapes}
    except InputError:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError):
        pass
    raise InputError("the file of arrays is damaged or was cut short.")


def _read_member(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> Array:
    size = 8 * math.prod(shape)
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > size + 4096:
        raise InputError(f"the array {name} has another size than announced.")
    stream = io.BytesIO(archive.read(member))
    if np.lib.format.read_magic(stream) != (1, 0):
        raise InputError(f"the array {name} is of a format that is not read.")
    found, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if found != shape or dtype != np.dtype("<f8") or (is_fortran and len(shape) > 1):
        raise InputError(f"the array {name} has another shape or type than announced.")
    rest = stream.read()
    if len(rest) != size:
        raise InputError(f"the array {name} is cut short, or too long.")
    array = np.frombuffer(rest, dtype="<f8").astype(np.float64).reshape(shape)
    if not np.isfinite(array).all():
        raise InputError(f"the array {name} has entries that are not finite.")
    return array
