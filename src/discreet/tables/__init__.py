"""CSV and Parquet files, read against a schema and written."""

from discreet.tables.files import (
    are_files,
    check,
    describe,
    has_first_line,
    measure,
    read,
    stored,
    write,
)
from discreet.tables.frame import Frame, Table

__all__ = [
    "Frame",
    "Table",
    "are_files",
    "check",
    "describe",
    "has_first_line",
    "measure",
    "read",
    "stored",
    "write",
]
