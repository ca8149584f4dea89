"""Rows that live elsewhere: tables in CSV and Parquet files, distributed ones in Dask.

The entry point is :func:`open_table`: ``fit``, ``predict`` and the command line look at every such
table through it, by its footers, types and partitions, before anything is paid. A new source is a
class derived from :class:`StoredTable` and a line in ``SOURCES``; a file format says of itself what
the command line has to know (``file_table.py``). A file of text is read whole before anything is
paid (``csv.py``), and is then like a frame in memory. What happens in each pass over other rows,
after the ledger was charged::

    files.py        1.parquet    2.parquet    3.parquet    still those that were checked?
                        |            |            |
    parquet.py          v            v            v        one thread decodes columns, and
                    [ batch ]    [ batch ]    [ batch ]    prefetches a batch (_parallel.py)
                        |
                        v                                  cut alike in every pass, wherever
    table.py        Piece  Piece  Piece  Piece  Piece      files and row groups end; encoded
                        |                                  row by row (Encoding, data/arrow.py)
                        v
    stream.py       FedStream                              clipped; kept in memory if it fits,
                        |                                  else a sample of it
                        +------> RemadeStream              rows of a second stage, made of those
                        |             |                    of the first and clipped again
                        v             v
    spill.py        SpiltStream  SpiltStream               written to a temporary file once, read
                        |             |                    back in later passes
                        v             v
    _parallel.py    map_in_order                           a few threads
                        |
                        v
    data/block.py   Block  Block  Block  Block  ...        a piece in parts that fit a cache; none
                        |                                  crosses pieces
                        v
    summation.py    kernel(block) + kernel(block) + ...    in their order: integers exactly, floats
                        |                                  compensated
                        v
                    one total                              noise is added to it, once

With Dask the rows stay where they are, and only sums travel::

    dask.py         partition    partition    partition    checked by types, nothing computed
                        |            |            |
    worker.py           v            v            v        on the workers: cells as declared,
                    prepare_part prepare_part prepare_part encoded, clipped, marked
                        |            |            |
                        v            v            v
                    sum_blocks   sum_blocks   sum_blocks   the same blocks, kernels and sums
                        |            |            |
                        '------------+------------'
                                     v
                                merge_sums                 eight neighbours at a time
                                     |
    partitions.py                    v                     on the driver: totals in the order of
                                 one total                 the partitions, and the noise
"""

from discreet.data.stored.sources import SOURCES, is_table, map_rows, open_table
from discreet.data.stored.table import Encoding, OpenedTable, RowPlace, StoredTable, Wanted

__all__ = [
    "SOURCES",
    "Encoding",
    "OpenedTable",
    "RowPlace",
    "StoredTable",
    "Wanted",
    "is_table",
    "map_rows",
    "open_table",
]
