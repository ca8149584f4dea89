"""Where an oracle outlives its process: one data base holds the private model and its transcript.

Connections, locks and durability are those of every store (`storage/store.py`); a commit waits for
the disk. A new answer is one transaction: the line of the state is locked, what others added is
read, the answer is worked out and inserted, and only what was committed is told. To see whether
there is more to know is a plain read of that line. The digest of an entry covers all entries before
it, the first one the model and a salt: a ledger that has it on record can compare it, and nobody
can guess what it is of. What is stored is secret, all of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sql

from discreet import _json
from discreet._types import Vector
from discreet.errors import InputError, PrivacyError, StoreError
from discreet.interaction.answer_record import Seen
from discreet.interaction.declaration import OracleDeclaration
from discreet.interaction.oracle import OPEN, Answering, Kept
from discreet.interaction.packed_arrays import pack_arrays, unpack_arrays
from discreet.interaction.state_file import check_owned
from discreet.mechanisms.query_answering import CODES, TranscriptEntry, key_of
from discreet.noise import SystemNoise
from discreet.record import Release
from discreet.storage.store import Store
from discreet.storage.transaction import Statement, Transaction

FORMAT = 3
"""Format 2 had no salt, so that digests could not be shown to a ledger."""

METADATA = sql.MetaData()

MODELS = sql.Table(
    "discreet_oracle",
    METADATA,
    sql.Column("place", sql.Integer, primary_key=True, autoincrement=False),  # one model: zero
    sql.Column("format", sql.Integer, nullable=False),
    sql.Column("identity", sql.Text, nullable=False),
    sql.Column("facts", sql.Text, nullable=False),  # JSON
    sql.Column("model", sql.LargeBinary, nullable=False),  # secret
    sql.Column("digest", sql.Text, nullable=False),  # of all that is to the left
)

STATES = sql.Table(  # apart from the model, which is long and never written again
    "discreet_oracle_state",
    METADATA,
    sql.Column("place", sql.Integer, primary_key=True, autoincrement=False),  # one model: zero
    sql.Column("identity", sql.Text, nullable=False),
    sql.Column("answers", sql.Integer, nullable=False),
    sql.Column("head", sql.Text, nullable=False),  # the digest of the last entry
    sql.Column("status", sql.Text, nullable=False),
)

ENTRIES = sql.Table(
    "discreet_oracle_answers",
    METADATA,
    sql.Column("model", sql.Text, primary_key=True),
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("key", sql.Text, nullable=False),
    sql.Column("point", sql.LargeBinary, nullable=False),
    sql.Column("public", sql.LargeBinary, nullable=False),
    sql.Column("secret", sql.Double, nullable=False),  # secret
    sql.Column("value", sql.Double, nullable=False),
    sql.Column("status", sql.Text, nullable=False),
    sql.Column("scale", sql.Double, nullable=False),
    sql.Column("digest", sql.Text, nullable=False),
    sql.UniqueConstraint("model", "key"),
)

FACTS = {"version", "declared", "plan", "said", "ledger", "charge", "note", "arrays", "salt"}

DAMAGED = "the store {place} was cut off or changed; it cannot be asked. Restore it as a whole."

ANOTHER = "the store {place} holds another oracle than before; start again to ask that one."

OLDER = (
    "the store {place} has fewer answers than it had: its past was put back, and it would draw new "
    "noise for answers that were given. Restore its latest state."
)

TAKEN = "the store {place} holds an oracle already; take it up with open_oracle, or choose another."

OTHERWISE = (
    "version {version} of this library, which stored this oracle, planned it otherwise than this "
    "one; ask it with that version."
)

MISSING = "there is no oracle at {place}."


@dataclass(frozen=True, eq=False, repr=False)
class StoredOracle:
    """What a store says of its model: public facts, and the packed model, which is secret."""

    identity: str
    declared: OracleDeclaration
    said: Release
    ledger: str
    charge: int
    note: str
    packed: dict[str, Any]
    digest: str


class OracleStore(Store):
    """A data base with one oracle in it, or none yet."""

    error = StoreError
    noun = "oracle"
    content = "the answers"
    mark = MODELS

    @property
    def place(self) -> str:
        """Where it is, for sentences."""
        return repr(self.identity)

    def holds_oracle(self) -> bool:
        """Say whether there is a model to be asked."""
        if self.path is not None and not self.path.exists():
            return False
        self._check_owned()
        with self.read() as transaction:
            return _find_model(transaction, WHICH) is not None

    def _check_owned(self) -> None:
        if self.path is None:
            return
        for ending in ("", "-wal"):
            path = Path(f"{self.path}{ending}")
            with contextlib.suppress(FileNotFoundError):
                check_owned(path, path.stat())

    def make(self) -> NewOracle:
        """Claim the place for a new oracle, before anything is paid; nobody else can until then."""
        if self.path is not None and self.path.exists():
            self._check_owned()
        self.prepare()
        return NewOracle(self)

    def load(self) -> StoredOracle:
        """Return the model; nothing that is stored is believed without its digest."""
        if self.path is not None and not self.path.exists():
            raise StoreError(MISSING.format(place=self.place))
        self._check_owned()
        with self.read() as transaction:
            line = _find_model(transaction, sql.select(MODELS))
        if line is None:
            raise StoreError(MISSING.format(place=self.place))
        if line.format != FORMAT:
            raise StoreError(
                f"the store {self.place} has format {line.format}; this version of discreet reads "
                f"{FORMAT}."
            )
        if line.digest != _digest_model(line.identity, line.facts, bytes(line.model)):
            raise StoreError(DAMAGED.format(place=self.place))
        try:
            return _read_facts(line)
        except (InputError, KeyError, TypeError, ValueError, OverflowError):
            raise StoreError(DAMAGED.format(place=self.place)) from None

    def read_entries(
        self, identity: str, seen: Seen, learn: Callable[[list[TranscriptEntry], str], None]
    ) -> Seen:
        """Read what others have added: a plain read, for which nobody waits."""
        with self.read() as transaction:
            line = self._find_state(transaction, HEADS, identity, seen)
            fresh = self._read_entries(transaction, identity, seen, line)
            learn(fresh, line.status)
        return Seen(line.answers, line.head)

    def digest_at(self, identity: str, number: int) -> str:
        """Return the digest of an entry; empty if there is none."""
        with self.read() as transaction:
            found = transaction.fetch(DIGEST, whose=identity, which=number)
        return str(found[0].digest) if found else ""

    def add_entries(
        self,
        identity: str,
        seen: Seen,
        answer: Answering,
        *,
        confirm: bool = False,
    ) -> Seen:
        """Read what others have added, and add to it: all or nothing, on disk once this returns."""
        with self.write() as transaction:
            line = self._find_state(transaction, LOCKED_HEADS, identity, seen)
            fresh = self._read_entries(transaction, identity, seen, line)
            added, status = answer(fresh, line.status)
            count, head, rows = line.answers, line.head, []
            for entry in added:
                count += 1
                row = _row_of(identity, count, entry)
                head = row["digest"] = _digest_entry(head, row)
                rows.append(row)
            if rows:
                _insert(transaction, rows)
            is_new = bool(rows) or status != line.status
            state = {"count": count, "last": head, "said": status}
            if confirm and not is_new:
                # SQLite writes nothing, and waits for nothing, where a line stays as it is.
                transaction.write(ADVANCE, {**state, "last": ""})
            if confirm or is_new:
                transaction.write(ADVANCE, state)
        return Seen(count, head)

    def _find_state(
        self, transaction: Transaction, query: Statement, identity: str, seen: Seen
    ) -> Any:
        try:
            self._check_owned()
        except PrivacyError as error:
            raise StoreError(str(error)) from None  # the oracle goes on once that is mended
        found = transaction.fetch(query)
        if len(found) != 1 or found[0].identity != identity:
            raise StoreError(ANOTHER.format(place=self.place))
        (line,) = found
        is_other_past = line.answers == seen.count and line.head != seen.head
        if line.answers < seen.count or is_other_past:
            raise StoreError(OLDER.format(place=self.place))
        return line

    def _read_entries(
        self, transaction: Transaction, identity: str, seen: Seen, line: Any
    ) -> list[TranscriptEntry]:
        """Return the entries after those that are known, up to the last one of the state."""
        if line.answers == seen.count:
            return []
        if seen.count:  # the last known one, if it is still the same
            known = transaction.fetch(DIGEST, whose=identity, which=seen.count)
            if [row.digest for row in known] != [seen.head]:
                raise StoreError(OLDER.format(place=self.place))
        found, head = list[TranscriptEntry](), seen.head
        fresh = transaction.fetch(FRESH, whose=identity, first=seen.count, last=line.answers)
        for number, row in enumerate(fresh, start=seen.count + 1):
            entry = vars(row)
            if row.number != number or row.digest != _digest_entry(head, entry):
                raise StoreError(DAMAGED.format(place=self.place))
            found.append(_entry_of(entry))
            head = row.digest
        if (seen.count + len(found), head) != (line.answers, line.head):
            raise StoreError(DAMAGED.format(place=self.place))
        return found


WHICH = sql.select(MODELS.c.identity)
HEADS = sql.select(STATES.c.identity, STATES.c.answers, STATES.c.head, STATES.c.status)
"""What is needed of the state for each answer."""

LOCKED_HEADS = HEADS.with_for_update()
FRESH = (
    sql.select(ENTRIES)
    .where(
        ENTRIES.c.model == sql.bindparam("whose"),
        ENTRIES.c.number > sql.bindparam("first"),
        ENTRIES.c.number <= sql.bindparam("last"),
    )
    .order_by(ENTRIES.c.number)
)
DIGEST = sql.select(ENTRIES.c.digest).where(
    ENTRIES.c.model == sql.bindparam("whose"), ENTRIES.c.number == sql.bindparam("which")
)
INSERT = ENTRIES.insert()
ADVANCE = STATES.update().values(
    answers=sql.bindparam("count"), head=sql.bindparam("last"), status=sql.bindparam("said")
)


class NewOracle:
    """A place that is claimed: whoever holds it can put one oracle there, or let it go.

    The claim is an open transaction, so it ends with its process.
    """

    def __init__(self, store: OracleStore) -> None:
        self._store, self._stack = store, contextlib.ExitStack()
        self._transaction = self._stack.enter_context(store.write())
        try:
            self._claim(self._transaction)
        except BaseException:
            self.close()
            raise

    def _claim(self, transaction: Transaction) -> None:
        if not self._store.is_file:
            transaction.send("SET LOCAL idle_in_transaction_session_timeout = 0")
            (claim,) = transaction.fetch(f"SELECT pg_try_advisory_xact_lock({CLAIM}) AS is_ours")
            if not claim.is_ours:
                raise StoreError(f"somebody else is making an oracle at {self._store.place}.")
        if _find_model(transaction, WHICH) is not None:
            raise StoreError(TAKEN.format(place=self._store.place))
        if not transaction.has(MODELS):
            transaction.make(METADATA)

    def finish(
        self, declared: OracleDeclaration, said: Release, ledger: str, note: str, packed: Any
    ) -> Kept:
        """Put a model there, on disk once this returns."""
        identity, (listed, numbers) = uuid.uuid4().hex, pack_arrays(packed)
        facts = _json.dump(
            {
                "version": said.version,
                "declared": declared.to_json(),
                "plan": declared.fingerprint(),
                "said": json.loads(said.to_json()),
                "ledger": ledger,
                "charge": said.receipt_number,
                "note": note,
                "arrays": listed,
                "salt": SystemNoise().below(1 << 64, 4).tobytes().hex(),
            }
        )
        digest = _digest_model(identity, facts, numbers)
        self._transaction.write(
            MODELS.insert(),
            {
                "place": 0,
                "format": FORMAT,
                "identity": identity,
                "facts": facts,
                "model": numbers,
                "digest": digest,
            },
        )
        state = {"answers": 0, "head": digest, "status": OPEN}
        self._transaction.write(STATES.insert(), {"place": 0, "identity": identity, **state})
        self._stack.close()
        return Kept(self._store, identity, Seen(0, digest))

    def close(self) -> None:
        """Let the place go; what was not finished has never been there."""
        with contextlib.suppress(Exception):
            self._transaction.rollback()
        with contextlib.suppress(Exception):
            self._stack.close()


CLAIM = 0x6F7261636C65
"""The number of PostgreSQL's advisory lock for making an oracle in a data base."""


def _find_model(transaction: Transaction, query: Statement) -> Any:
    """Return the one line of the table of models; None if there is none."""
    return next(iter(transaction.fetch(query)), None) if transaction.has(MODELS) else None


def _insert(transaction: Transaction, rows: list[dict[str, Any]]) -> None:
    transaction.write(INSERT, *rows)


def _digest_model(identity: str, facts: str, model: bytes) -> str:
    whole = hashlib.sha256(b"discreet oracle 1\n")
    for part in (identity.encode(), facts.encode(), model):
        whole.update(struct.pack("<Q", len(part)) + part)
    return whole.hexdigest()


def _digest_entry(before: str, row: Any) -> str:
    """Return the digest of an entry after the one with the digest ``before``."""
    numbers = struct.pack("<qddd", row["number"], row["secret"], row["value"], row["scale"])
    whole = hashlib.sha256(before.encode())
    named = (row["model"].encode(), row["key"].encode(), row["status"].encode())
    for part in (*named, bytes(row["point"]), bytes(row["public"]), numbers):
        whole.update(struct.pack("<Q", len(part)) + part)
    return whole.hexdigest()


def _row_of(identity: str, number: int, entry: TranscriptEntry) -> dict[str, Any]:
    point = key_of(entry.point)
    return {
        "model": identity,
        "number": number,
        "key": hashlib.sha256(identity.encode() + point).hexdigest(),
        "point": point,
        "public": np.ascontiguousarray(entry.public, dtype="<f8").tobytes(),
        "secret": entry.secret,
        "value": entry.value,
        "status": entry.status,
        "scale": entry.scale,
    }


def _entry_of(row: Any) -> TranscriptEntry:
    if row["status"] not in CODES:
        raise StoreError("an answer in a store has a status that this version does not know.")
    point, public = _read_numbers(row["point"]), _read_numbers(row["public"])
    return TranscriptEntry(point, public, row["secret"], row["value"], row["status"], row["scale"])


def _read_numbers(stored: Any) -> Vector:
    return np.frombuffer(bytes(stored), dtype="<f8").astype(np.float64)


def _read_facts(line: Any) -> StoredOracle:
    facts = _json.parse(line.facts, "a stored oracle")
    _json.check_fields(facts, FACTS, "a stored oracle")
    said = Release.from_json(json.dumps(facts["said"]))
    try:
        declared = OracleDeclaration.from_json(facts["declared"])
    except InputError:
        raise PrivacyError(OTHERWISE.format(version=facts["version"])) from None
    promised, planned = said.guarantee, declared.plan.guarantee
    is_same = (promised.profile, promised.unit) == (planned.profile, planned.unit)
    if facts["plan"] != declared.fingerprint() or not is_same:
        raise PrivacyError(OTHERWISE.format(version=facts["version"]))
    packed = unpack_arrays(facts["arrays"], bytes(line.model))
    return StoredOracle(
        line.identity, declared, said, facts["ledger"], facts["charge"], facts["note"], packed,
        line.digest,
    )  # fmt: skip
