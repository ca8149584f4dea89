"""Descriptions of tables: counts, shares, means and quantiles with intervals, for one charge.

They are read off the marginals of all columns, released at once; ``docs/describing.md`` says how.
"""

from discreet.statistics.column_description import ColumnDescription
from discreet.statistics.described_table import describe
from discreet.statistics.description import Description
from discreet.statistics.noisy_tree import NoisyNumber
from discreet.statistics.private_numbers import PrivateHistogram, PrivateNumber
from discreet.statistics.single_statistics import (
    private_count,
    private_histogram,
    private_mean,
    private_quantile,
)

__all__ = [
    "ColumnDescription",
    "Description",
    "NoisyNumber",
    "PrivateHistogram",
    "PrivateNumber",
    "describe",
    "private_count",
    "private_histogram",
    "private_mean",
    "private_quantile",
]
