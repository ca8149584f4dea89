"""CSV and Parquet files, read against a schema and written.

A CSV file is read whole. Parquet files, one or many, are opened as stored tables are
(:mod:`discreet.data.stored`), a few rows at a time. Rows that arrive on a pipe are read one by one.
A stream is cut into blocks by place, whatever it comes from.
"""

from discreet.tables.arriving_rows import ArrivingRows
from discreet.tables.declared_files import (
    OwnersTable,
    RowsAndLabels,
    are_files,
    check,
    classes_of_truth,
    describe,
    is_csv,
    measure,
    open_parquet,
    read_csv,
    read_for_owner,
    write,
)
from discreet.tables.declared_split import declared_sides, read_side, split_table
from discreet.tables.rounds import Rounds, cut_by_place
from discreet.tables.rows_in_order import open_in_order

__all__ = [
    "ArrivingRows",
    "OwnersTable",
    "Rounds",
    "RowsAndLabels",
    "are_files",
    "check",
    "classes_of_truth",
    "cut_by_place",
    "declared_sides",
    "describe",
    "is_csv",
    "measure",
    "open_in_order",
    "open_parquet",
    "read_csv",
    "read_for_owner",
    "read_side",
    "split_table",
    "write",
]
