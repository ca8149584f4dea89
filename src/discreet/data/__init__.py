"""Private rows: sealed until paid for, clipped when opened, and summed block by block."""

from discreet.data.block import Block, SparseVector, margin_roundings
from discreet.data.rows import OpenRows, Rows
from discreet.data.source import Kernel
from discreet.data.stored.dask import dask_rows
from discreet.data.stored.parquet import ParquetTable, parquet_rows
from discreet.data.summation import Terms, summation_error
from discreet.questions.bounds import Bounds, Interval, Labels, LabelSet

__all__ = [
    "Block",
    "Bounds",
    "Interval",
    "Kernel",
    "LabelSet",
    "Labels",
    "OpenRows",
    "ParquetTable",
    "Rows",
    "SparseVector",
    "Terms",
    "dask_rows",
    "margin_roundings",
    "parquet_rows",
    "summation_error",
]
