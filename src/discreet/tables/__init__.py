"""Tables in files, read against a schema and written.

:func:`open_table` asks the files of a table; which formats there are, and what each does otherwise,
is said in :mod:`discreet.data.stored`. Rows that arrive on a pipe are read one by one. A stream is
cut into blocks by place, whatever it comes from.
"""

from discreet.tables.arriving_rows import ArrivingRows, open_in_order
from discreet.tables.declared_files import (
    DeclaredTable,
    OwnersTable,
    RowsAndLabels,
    open_for_owner,
    open_table,
)
from discreet.tables.declared_split import declared_sides, read_side, split_table
from discreet.tables.rounds import Rounds, cut_by_place
from discreet.tables.undeclared_files import (
    classes_of_truth,
    describe,
    has_names_as_text,
    measure,
    spell,
    write,
)

__all__ = [
    "ArrivingRows",
    "DeclaredTable",
    "OwnersTable",
    "Rounds",
    "RowsAndLabels",
    "classes_of_truth",
    "cut_by_place",
    "declared_sides",
    "describe",
    "has_names_as_text",
    "measure",
    "open_for_owner",
    "open_in_order",
    "open_table",
    "read_side",
    "spell",
    "split_table",
    "write",
]
