"""Schema files: what is declared about a table, by hand, before anybody looks at it."""

from discreet.schema.proposal import propose
from discreet.schema.schema import CLASSIFICATION, REGRESSION, Schema, Target, Undeclared
from discreet.schema.spreadsheet import write_sheet
from discreet.schema.toml_reader import parse, parse_sheet, read
from discreet.schema.toml_writer import write

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "Schema",
    "Target",
    "Undeclared",
    "parse",
    "parse_sheet",
    "propose",
    "read",
    "write",
    "write_sheet",
]
