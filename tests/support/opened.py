"""Rows opened with a receipt that costs nothing."""

from __future__ import annotations

from discreet.data import Rows
from discreet.ledger import NoLedger
from discreet.privacy import Guarantee, NoPrivacy


def open_rows(X, y=None, *, bounds, unit="add_remove", noise=None, **options):
    rows = Rows(X, y, bounds=bounds, unit=unit, **options)
    return rows.open(NoLedger().charge(Guarantee(NoPrivacy(), rows.unit)), noise)
