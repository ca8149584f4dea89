"""The secret state of an interaction as a file: for its owner alone, whole or not at all.

Two lines of text, then the body: a line of JSON, and the numbers of arrays as they lie in memory.
The digest of the body is what the ledger recognises a state by. It holds a random number, so that
nobody can guess it, and no state that was edited is recognised.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet import _checks, _json
from discreet._types import Json
from discreet.errors import InputError, PrivacyError
from discreet.interaction.declaration import Declaration, codec
from discreet.interaction.packed_arrays import pack_arrays, unpack_arrays
from discreet.ledger import AbstractLedger, Receipt
from discreet.mechanisms.interactive import Packed
from discreet.record import Release

FORMAT = 1

HEADER = (
    f"discreet interaction state {FORMAT}: SECRET. It holds what noise hides: do not read, copy, "
    "mail or back it up. It can be resumed once.\n"
).encode()

DIGEST = re.compile(rb"sha256 ([0-9a-f]{64}) ([0-9]{1,15})\n")

FIELDS = {"format", "random", "version", "declared", "plan", "said", "ledger", "charge", "note",
          "numbers", "arrays"}  # fmt: skip

DAMAGED = "this file is no saved interaction, or was cut off or changed; it cannot be resumed."

LARGEST = 2**34
"""Bytes of a file of a state, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class StoredState:
    """What a file says: public facts, and the packed state, which is secret."""

    declared: Declaration
    said: Release
    charge: int
    note: str
    token: str
    packed: Packed


def write_state(
    path: Path,
    declared: Declaration,
    said: Release,
    receipt: Receipt,
    packed: Packed,
    note: str = "",
) -> str:
    """Write a new file that only its owner can read, and return what the ledger knows it by."""
    arrays = {name: each for name, each in packed.items() if isinstance(each, np.ndarray)}
    numbers = {name: each for name, each in packed.items() if name not in arrays}
    listed, numbers_of_arrays = pack_arrays(arrays)
    facts = {
        "format": FORMAT,
        "random": uuid.uuid4().hex + uuid.uuid4().hex,
        "version": said.version,
        "declared": declared.to_json(),
        "plan": declared.fingerprint(),
        "said": json.loads(said.to_json()),
        "ledger": receipt.issuer.key,
        "charge": receipt.number,
        "note": note,
        "numbers": codec().encode(numbers),
        "arrays": listed,
    }
    body = _json.dump(facts).encode() + b"\n" + numbers_of_arrays
    token = hashlib.sha256(body).hexdigest()
    _write_new(path, HEADER + f"sha256 {token} {len(body)}\n".encode() + body)
    return token


def _write_new(path: Path, content: bytes) -> None:
    """Make a file appear whole, on disk, readable by its owner alone; never replace another."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(beside, flags | getattr(os, "O_BINARY", 0), 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _give_name(beside, path)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _give_name(beside: Path, path: Path) -> None:
    """Name a file that is whole; refuse if there is one of that name."""
    try:
        os.link(beside, path)
        return
    except FileExistsError:
        pass
    except (OSError, AttributeError, NotImplementedError):  # no links on this disk
        if not os.path.lexists(path):
            os.rename(beside, path)
            return
    raise InputError(f"there is a file {str(path)!r} already; choose another name.")


def _sync_folder(folder: Path) -> None:
    """Bring a name to disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def remove_state(path: Path) -> bool:
    """Remove a file that is void, or empty it: its state is secret all the same. Say if it went."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        try:
            os.truncate(path, 0)
        except OSError:
            return False
    _sync_folder(path.parent)
    return True


def check_removable(path: Path) -> None:
    """Refuse a state that could not be removed once it is taken up."""
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PrivacyError(
            f"{str(path)!r} is secret and void once it is resumed, and its folder is one that it "
            "cannot be removed from; move it to another first."
        )


def read_state(path: Path, ledger: AbstractLedger) -> StoredState:
    """Read a state that was saved against this ledger; nothing is believed of the file."""
    content = _read_owned(path)
    found = DIGEST.match(content, len(HEADER)) if content.startswith(HEADER) else None
    body = content[found.end() :] if found else b""
    if found is None or len(body) != int(found[2]):
        raise InputError(DAMAGED)
    token = hashlib.sha256(body).hexdigest()
    if token.encode() != found[1]:
        raise InputError(DAMAGED)
    first, _, rest = body.partition(b"\n")
    try:
        facts = _json.parse(first.decode(), "a saved interaction")
        _json.check_fields(facts, FIELDS, "a saved interaction")
        _check_ledger(facts, ledger)
        declared = Declaration.from_json(facts["declared"])
        said = Release.from_json(json.dumps(facts["said"]))
        packed = {**codec().decode(facts["numbers"]), **unpack_arrays(facts["arrays"], rest)}
        _checks.whole(charge=facts["charge"], at_least=1)
        _checks.instance(str, note=facts["note"])
    except (InputError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{DAMAGED} ({error})") from None
    _check_plan(facts, declared, said)
    return StoredState(declared, said, facts["charge"], facts["note"], token, packed)


def check_owned(path: Path, status: os.stat_result) -> None:
    """Raise if others than its owner may read a file that holds a secret."""
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        raise PrivacyError(
            f"others may read {str(path)!r}, which holds a secret; take the permission away "
            "(chmod 600), and find out who has read it."
        )


def _read_owned(path: Path) -> bytes:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        check_owned(path, status)
        if status.st_size > LARGEST:
            raise InputError(DAMAGED)
        return file.read()


def _check_ledger(facts: Json, ledger: AbstractLedger) -> None:
    if facts["ledger"] != ledger.key or not ledger.key:
        raise PrivacyError(
            "this interaction was paid for in another ledger, or for another data set of this one; "
            "resume it with that."
        )


def _check_plan(facts: Json, declared: Declaration, said: Release) -> None:
    if facts["plan"] != declared.fingerprint() or said.guarantee != declared.plan.guarantee:
        raise PrivacyError(
            f"version {facts['version']} of this library, which saved this interaction, planned it "
            "otherwise than this one; resume it with that version."
        )
