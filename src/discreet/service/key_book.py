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
from discreet.service.refusal import NO_KEY, NO_SCOPE, TOO_FAST, Refusal
from discreet.service.service_database import KEYS, ServiceDatabase
from discreet.service.service_limits import ServiceLimits

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
        self._database = ServiceDatabase(where)
        self._clock = clock

    @property
    def place(self) -> str:
        """Where the keys are, without passwords."""
        return self._database.identity

    def check(self) -> None:
        """Refuse a place that holds no keys."""
        self._database.check()

    def close(self) -> None:
        """Close what is open."""
        self._database.close()

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
        for limit, value in (("lifetime", lifetime), ("rate", rate)):
            if value is not None:
                _checks.positive(**{limit: value})
                _checks.finite(**{limit: value})
        if burst is not None:
            _checks.whole(at_least=1, burst=burst)
        self._database.make()
        self._database.check()
        now = self._clock()
        identity, key = draw_key()
        expires = None if lifetime is None else now + lifetime
        made = AccessKey(identity, name, tuple(scopes), now, expires, None, rate, burst)
        facts = {**vars(made), "scopes": ",".join(scopes), "digest": digest_of(key), "ready": 0.0}
        with self._database.connect(lasting=True) as connection:
            connection.execute(KEYS.insert().values(facts))
        return made, key

    def revoke(self, identity: str) -> None:
        """Revoke a key; every worker refuses it from now on."""
        statement = (
            KEYS.update()
            .where(KEYS.c.identity == identity, KEYS.c.revoked.is_(None))
            .values(revoked=self._clock())
        )
        self._database.check()
        with self._database.connect(lasting=True) as connection:
            changed = connection.execute(statement).rowcount
        if changed != 1 and identity not in {key.identity for key in self.list_keys()}:
            raise InputError("there is no key of this identity; `discreet keys list` shows them.")

    def list_keys(self) -> list[AccessKey]:
        """Return what is stored of every key, the oldest first."""
        self._database.check()
        with self._database.connect() as connection:
            found = connection.execute(sql.select(KEYS).order_by(KEYS.c.created)).all()
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
        with self._database.connect() as connection:
            line = connection.execute(_FIND, {"which": identity}).first()
            is_known = is_same_digest(key, None if line is None else line.digest)
            if line is None or not is_known:
                raise Refusal(NO_KEY)
            found = _read_key(line)
            rate, burst = found.rate or limits.rate, found.burst or limits.burst
            server = self._database.now
            now = self._clock() if server is None else server
            if scope not in found.scopes:
                # Who has no right to ask must not learn more than that the key is not valid.
                reason = NO_SCOPE if found.is_valid(self._clock()) else NO_KEY
                raise Refusal(reason)
            if connection.execute(_book(identity, now, rows, rate, burst)).rowcount == 1:
                return found
            raise self._explain(connection, identity, now, rows + booked, rate, burst)

    def _explain(
        self,
        connection: sql.Connection,
        identity: str,
        now: Any,
        rows: int,
        rate: float,
        burst: int,
    ) -> Refusal:
        """Return why a key was not admitted: it is not valid any more, or it must wait."""
        moment = sql.literal(now) if isinstance(now, float) else now
        found = connection.execute(
            sql.select(KEYS, moment.label("now")).where(KEYS.c.identity == identity)
        ).first()
        if found is None or not _read_key(found).is_valid(found.now):
            return Refusal(NO_KEY)
        if rows > burst:
            return Refusal(
                TOO_FAST, f"This key may ask for {burst} rows at once; send fewer.", retry_after=1
            )
        ready = min(max(found.ready, found.now), found.now + burst / rate)
        wait = ready + (rows - burst) / rate - found.now
        return Refusal(TOO_FAST, retry_after=max(1, math.ceil(wait)))


_FIND = sql.select(KEYS).where(KEYS.c.identity == sql.bindparam("which"))


def _book(identity: str, now: Any, rows: int, rate: float, burst: int) -> Any:
    """Return the statement that counts rows of a valid key, if it has room for them."""
    horizon = now + burst / rate
    # A clock that was set back must not lock a key out for longer than its burst lasts.
    start = sql.case(
        (KEYS.c.ready > horizon, horizon), (KEYS.c.ready > now, KEYS.c.ready), else_=now
    )
    after = start + rows / rate
    return (
        KEYS.update()
        .where(
            KEYS.c.identity == identity,
            KEYS.c.revoked.is_(None),
            sql.or_(KEYS.c.expires.is_(None), KEYS.c.expires > now),
            after <= horizon + ROUNDING,
        )
        .values(ready=after)
    )


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
