"""Where keys and their rates are kept: an SQLite file of its own, or a PostgreSQL data base.

A file is the owner's alone. Keys survive a lost machine; the counters of rates, which commit by
themselves, a killed process.
"""

from __future__ import annotations

import os
import stat
from typing import Any

import sqlalchemy as sql

from discreet.errors import DiscreetError
from discreet.storage.store import Store

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

FORMAT = 1

ONE_AT_A_TIME = 0x646973637366
"""The number of PostgreSQL's advisory lock for making tables."""

TABLES = sql.MetaData()
MARK = sql.Table("discreet_service", TABLES, sql.Column("format", sql.Integer, nullable=False))
KEYS = sql.Table(
    "discreet_keys",
    TABLES,
    sql.Column("identity", sql.String(16), primary_key=True),
    sql.Column("digest", sql.String(64), nullable=False),
    sql.Column("name", sql.Text, nullable=False),
    sql.Column("scopes", sql.Text, nullable=False),
    sql.Column("created", sql.Double, nullable=False),
    sql.Column("expires", sql.Double),
    sql.Column("revoked", sql.Double),
    sql.Column("rate", sql.Double),
    sql.Column("burst", sql.Integer),
    sql.Column("ready", sql.Double, nullable=False),
)


class ServiceUnavailable(DiscreetError):
    """The keys of a service cannot be read or written: at this moment, or at this place.

    Examples
    --------
    >>> from discreet.service import KeyBook
    >>> KeyBook("nowhere/keys.db").list_keys()
    Traceback (most recent call last):
        ...
    discreet.service.key_store.ServiceUnavailable: there are no keys at 'keys.db'; ...
    """


class KeyStore(Store):
    """A file or a data base with keys in it, or none yet."""

    error = ServiceUnavailable
    noun = "book of keys"
    content = "the keys"
    mark = MARK
    patience = 5.0
    is_prompt = True

    @property
    def now(self) -> Any:
        """The server's clock, if there is a server; None if a file's users share one."""
        if self.is_file:
            return None
        return sql.cast(sql.extract("epoch", sql.func.clock_timestamp()), sql.Double)

    def check_permissions(self, status: os.stat_result) -> None:
        if status.st_mode & OTHERS_WRITE:
            raise ServiceUnavailable(
                f"others may write to {self.identity!r}, and so make keys; chmod 600 it first."
            )

    def make(self) -> None:
        """Make the tables where there are none, in a new file if need be."""
        self.prepare()
        with self.write() as transaction:
            if not self.is_file:
                transaction.send(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
            if not transaction.has(MARK):
                transaction.make(TABLES)
                transaction.write(MARK.insert(), {"format": FORMAT})

    def check(self) -> None:
        """Refuse a place that holds no keys, or those of another version."""
        if self.path is not None and not self.path.is_file():
            raise ServiceUnavailable(
                f"there are no keys at {self.identity!r}; make one with `discreet keys create`."
            )
        with self.read() as transaction:
            if not transaction.has(MARK):
                raise ServiceUnavailable(
                    f"{self.identity!r} holds no keys; make one with `discreet keys create`."
                )
            formats = {each.format for each in transaction.fetch(sql.select(MARK.c.format))}
        if formats != {FORMAT}:
            raise ServiceUnavailable(
                f"the keys at {self.identity!r} are of another version of Discreet."
            )
