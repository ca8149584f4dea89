"""Rows that live elsewhere.

EXPORTS LATER
"""

from discreet.data.stored.sources import SOURCES, is_table, map_rows, open_table
from discreet.data.stored.table import Encoding, OpenedTable, StoredTable, Wanted

__all__ = [
    "SOURCES",
    "Encoding",
    "OpenedTable",
    "StoredTable",
    "Wanted",
    "is_table",
    "map_rows",
    "open_table",
]
