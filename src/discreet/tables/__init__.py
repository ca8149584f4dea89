"""CSV and Parquet files, read against a schema and written."""

from discreet.tables.files import check, describe, measure, read, write
from discreet.tables.frame import Frame, Table

__all__ = ["Frame", "Table", "check", "describe", "measure", "read", "write"]
