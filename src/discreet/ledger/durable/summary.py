"""The summary of a data set that charges are decided on, bound into its history.

A snapshot of the balance, sealed by a digest in the hash chain. A charge does not read the whole
history; it believes a summary of it: what was declared, the number of charges and the balance. Each
line of the history carries the digest of the summary as it was after that line, and whoever reads
the summary compares it with the last line. To change the summary alone, or the last line alone,
makes the ledger unusable; to change both so that they agree again leaves a history that ``verify``
finds wrong, unless all of it is rewritten, which shows against an anchor
(:mod:`discreet.ledger.durable.anchor`).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sql

from discreet.errors import LedgerError
from discreet.ledger.account import Balance, balance_from_json, balance_to_json
from discreet.ledger.durable import sql_tables
from discreet.ledger.durable.dataset import DataSet
from discreet.ledger.durable.hash_chain import BEGINNING, digest_of, parse_or_none
from discreet.ledger.durable.high_water_mark import NOTHING, Mark
from discreet.ledger.durable.sql_tables import BOOKS, DATASETS, EVENTS

SEAL = "books"
"""The field of a line with the digest of the summary after it."""

_last, _before, _seen = EVENTS.alias("last"), EVENTS.alias("before"), EVENTS.alias("seen")


def _is_line(line: Any, number: Any) -> Any:
    return sql.and_(line.c.dataset == DATASETS.c.id, line.c.line == number)


SUMMARY = (
    sql.select(
        DATASETS,
        sql.select(sql.func.count()).select_from(BOOKS).scalar_subquery().label("formats"),
        sql.select(sql.func.min(BOOKS.c.format)).scalar_subquery().label("format"),
        _last.c.text.label("last_text"),
        _last.c.digest.label("last_digest"),
        _before.c.digest.label("before_digest"),
        _seen.c.digest.label("seen_digest"),
    )
    .select_from(
        DATASETS.outerjoin(_last, _is_line(_last, DATASETS.c.lines))
        .outerjoin(_before, _is_line(_before, DATASETS.c.lines - sql.literal_column("1")))
        .outerjoin(_seen, _is_line(_seen, sql.bindparam("seen")))
    )
    .where(DATASETS.c.id == sql.bindparam("id"))
)
"""The summary, and the lines that it is compared with."""


def seal(facts: str, charges: int, balance: str) -> str:
    """Return the digest of what charges are decided on."""
    return hashlib.sha256(json.dumps([facts, charges, balance]).encode()).hexdigest()


def dump_declaration(declared: DataSet) -> str:
    """Return a declaration as it is stored."""
    return json.dumps(declared.to_json())


def dump_balance(balance: Balance) -> str:
    """Return a balance as it is stored."""
    return json.dumps(balance_to_json(balance))


def check_summary(found: list[Any], facts: str, seen: Mark, place: str) -> Any:
    """Return a summary; not if it is of another ledger than was opened, or not as its history says.

    ``facts`` is what was declared when it was created, ``seen`` the last line that this process
    has seen.
    """
    summary = next(iter(found), None)
    if summary is None or summary.facts != facts:
        raise LedgerError(f"the ledger at {place!r} was exchanged; open it again.")
    if (summary.formats, summary.format) != (1, sql_tables.FORMAT):
        raise LedgerError(f"the ledger at {place!r} was migrated; open it again.")
    if seen != NOTHING and summary.seen_digest != seen.digest:
        raise LedgerError(rollback_message(place, seen))
    if not _is_bound(summary):
        raise LedgerError(
            f"the summary of the ledger at {place!r} is not what its history says; run verify."
        )
    return summary


def rollback_message(place: str, seen: Mark) -> str:
    """Say that a ledger lacks a line that was there."""
    return (
        f"the ledger at {place!r} lacks line {seen.line} as this process has seen it: an older "
        "copy was put in its place, or it was rewritten. Find the newer one."
    )


def _is_bound(summary: Any) -> bool:
    document = parse_or_none(summary.last_text)
    before = BEGINNING if summary.lines == 1 else summary.before_digest
    return (
        isinstance(document, dict)
        and isinstance(before, str)
        and summary.last_digest == summary.head == digest_of(before, summary.last_text)
        and document.get("line") == summary.lines
        and document.get(SEAL) == seal(summary.facts, summary.charges, summary.balance)
    )


def balance_of(summary: Any) -> Balance:
    """Read the balance of a summary."""
    try:
        return balance_from_json(parse_or_none(summary.balance))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        raise LedgerError("the balance of this ledger cannot be read.") from None
