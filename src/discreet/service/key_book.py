"""The keys of a service: made, revoked, listed, and checked with their rates at every request.

A rate is kept as the time at which a key will have room again (the generic cell rate algorithm),
in one statement that checks and counts: so it holds exactly over all workers. A key that was
revoked is refused by the next request, whichever worker takes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from discreet import _checks
from discreet.errors import InputError
from discreet.service.access_key import (
    SCOPES,
    AccessKey,
    check_scopes,
    digest_of,
    draw_key,
    identity_of,
    is_same_digest,
)
from discreet.service.key_store import KEYS, KeyStore
from discreet.service.refusal import NO_KEY, NO_SCOPE, TOO_FAST, Refusal
from discreet.service.service_limits import ServiceLimits, check_rate
from discreet.storage.transaction import Transaction

LONGEST_NAME = 200

ROUNDING = 1e-6
"""Seconds by which times since 1970 may be off; it does not add up."""


class KeyBook:
    """The keys at one place.

    Parameters
    ----------
    where
        The path of an SQLite file, or the address of a PostgreSQL data base.
    clock
        What says the time, for tests; a server's own clock goes first.

    Examples
    --------
    >>> import tempfile
    >>> book = KeyBook(Path(tempfile.mkdtemp()) / "keys.db")
    >>> made, key = book.create_key("ward 3", scopes=["predict"])
    >>> book.admit(key, "predict", 1, ServiceLimits()).name
    'ward 3'
    >>> book.revoke(made.identity)
    >>> book.admit(key, "predict", 1, ServiceLimits())
    Traceback (most recent call last):
        ...
    discreet.service.refusal.Refusal: no_key
    """

    def __init__(self, where: str | Path, clock: Callable[[], float] = time.time) -> None:
        self._store = KeyStore(where)
        self._clock, self._statements = clock, _Statements(self._store.now)

    @property
    def place(self) -> str:
        """Where the keys are, without passwords."""
        return self._store.identity

    def check(self) -> None:
        """Refuse a place that holds no keys."""
        self._store.check()

    def close(self) -> None:
        """Close what is open."""
        self._store.close()

    def create_key(
        self,
        name: str,
        *,
        scopes: Sequence[str] = SCOPES,
        lifetime: float | None = None,
        rate: float | None = None,
        burst: int | None = None,
    ) -> tuple[AccessKey, str]:
        """Make a key; return what is stored of it, and the key, which is shown this once.

        Parameters
        ----------
        name
            Who gets it, in the operator's words.
        scopes
            What it allows.
        lifetime
            Seconds until it expires; None for never.
        rate, burst
            Rows a second, and at once; None for those of the service.
        """
        check_scopes(tuple(scopes))
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(f"a key needs a printable name of at most {LONGEST_NAME} letters.")
        if lifetime is not None:
            _checks.positive(lifetime=lifetime)
            _checks.finite(lifetime=lifetime)
        check_rate(rate, burst)
        self._store.make()
        self._store.check()
        now = self._clock()
        identity, key = draw_key()
        expires = None if lifetime is None else now + lifetime
        made = AccessKey(identity, name, tuple(scopes), now, expires, None, rate, burst)
        facts = {**vars(made), "scopes": ",".join(scopes), "digest": digest_of(key), "ready": 0.0}
        with self._store.write() as transaction:
            transaction.write(KEYS.insert(), facts)
        return made, key

    def revoke(self, identity: str) -> None:
        """Revoke a key; every worker refuses it from now on."""
        statement = (
            KEYS.update()
            .where(KEYS.c.identity == identity, KEYS.c.revoked.is_(None))
            .values(revoked=self._clock())
        )
        self._store.check()
        with self._store.write() as transaction:
            changed = transaction.write(statement)
        if changed.rowcount != 1 and identity not in {key.identity for key in self.list_keys()}:
            raise InputError("there is no key of this identity; `discreet keys list` shows them.")

    def list_keys(self) -> list[AccessKey]:
        """Return what is stored of every key, the oldest first."""
        self._store.check()
        with self._store.read() as transaction:
            found = transaction.fetch(sql.select(KEYS).order_by(KEYS.c.created))
        return [_read_key(line) for line in found]

    def admit(
        self, key: str, scope: str, rows: int, limits: ServiceLimits, booked: int = 0
    ) -> AccessKey:
        """Return the key if it is valid, allows this, and has room for so many rows.

        Parameters
        ----------
        key
            As the client sent it.
        scope
            What it is needed for.
        rows
            How many rows are asked for; they are counted.
        limits
            The rate of keys that have none of their own.
        booked
            How many rows of the same request were counted before; whoever must wait is told how
            long for all of them.

        Raises
        ------
        Refusal
            If it is not.
        ServiceUnavailable
            If that cannot be found out; then nothing is answered.
        """
        identity = identity_of(key)
        if identity is None:
            raise Refusal(NO_KEY)
        with self._store.single() as statements:
            facts: dict[str, Any] = {"which": identity, **self._moment()}
            found = statements.fetch(self._statements.find, **facts)
            line = found[0] if found else None
            is_known = is_same_digest(key, None if line is None else line.digest)
            if line is None or not is_known:
                raise Refusal(NO_KEY)
            known = _read_key(line)
            if not known.is_valid(line.now):
                raise Refusal(NO_KEY)
            if scope not in known.scopes:
                raise Refusal(NO_SCOPE)
            if not rows:
                return known  # it was looked at again
            rate, burst = known.rate or limits.rate, known.burst or limits.burst
            facts |= {"span": burst / rate, "step": rows / rate}
            if statements.write(self._statements.book, facts).rowcount == 1:
                return known
            raise self._explain(statements, identity, rows + booked, rate, burst)

    def _moment(self) -> dict[str, float]:
        """Return the time as a parameter of statements; nothing if a server says the time."""
        return {"moment": self._clock()} if self._store.now is None else {}

    def _explain(
        self, statements: Transaction, identity: str, rows: int, rate: float, burst: int
    ) -> Refusal:
        """Return why a key was not booked: it is not valid any more, or it must wait."""
        lines = statements.fetch(self._statements.find, which=identity, **self._moment())
        if not lines or not _read_key(lines[0]).is_valid(lines[0].now):
            return Refusal(NO_KEY)
        if rows > burst:
            return Refusal(
                TOO_FAST, f"This key may ask for {burst} rows at once; send fewer.", retry_after=1
            )
        (found,) = lines
        ready = min(max(found.ready, found.now), found.now + burst / rate)
        wait = ready + (rows - burst) / rate - found.now
        return Refusal(TOO_FAST, retry_after=max(1, math.ceil(wait)))


class _Statements:
    """What is asked of every request's key, written once for a data base."""

    def __init__(self, clock: Any) -> None:
        now = sql.bindparam("moment", type_=sql.Double) if clock is None else clock
        which = KEYS.c.identity == sql.bindparam("which")
        self.find = sql.select(KEYS, now.label("now")).where(which)
        horizon = now + sql.bindparam("span", type_=sql.Double)
        # A clock that was set back must not lock a key out for longer than its burst lasts.
        start = sql.case(
            (KEYS.c.ready > horizon, horizon), (KEYS.c.ready > now, KEYS.c.ready), else_=now
        )
        after = start + sql.bindparam("step", type_=sql.Double)
        self.book = (
            KEYS.update()
            .where(
                which,
                KEYS.c.revoked.is_(None),
                sql.or_(KEYS.c.expires.is_(None), KEYS.c.expires > now),
                after <= horizon + sql.literal_column(repr(ROUNDING), sql.Double),
            )
            .values(ready=after)
        )
        """Counts rows of a valid key, if it has room for them."""


def _read_key(line: Any) -> AccessKey:
    return AccessKey(
        identity=line.identity,
        name=line.name,
        scopes=tuple(line.scopes.split(",")),
        created=line.created,
        expires=line.expires,
        revoked=line.revoked,
        rate=line.rate,
        burst=line.burst,
    )
