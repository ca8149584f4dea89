"""Options that several commands share: which table, which ledger is charged, how much is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SchemaFile = Annotated[
    Path,
    typer.Argument(
        help="The schema: what is declared about the table, as `discreet init` proposes it.",
        metavar="SCHEMA",
    ),
]

TableFiles = Annotated[
    str,
    typer.Argument(
        help="A CSV or Parquet file; a folder, a quoted pattern or an address (s3://...) of "
        "Parquet files; or a .duckdb file, of which the schema may ask a query.",
        metavar="DATA",
    ),
]

ModelFolder = Annotated[
    Path, typer.Argument(help="The folder that `discreet fit` wrote.", metavar="MODEL")
]

NewModelFolder = Annotated[
    Path, typer.Option(help="The new folder for the model and its card.", metavar="FOLDER")
]

ChargedLedger = Annotated[
    str | None, typer.Option(help="The ledger to charge: a file, or postgresql://...")
]

NoLedgerCharged = Annotated[
    bool,
    typer.Option("--no-ledger", help="Charge no ledger: nothing limits repeated use of the rows."),
]

ModelKind = Annotated[
    str,
    typer.Option(
        "--model",
        help="linear: a coefficient for each column; additive: a curve for each, which may "
        "bend, and needs a delta.",
    ),
]

Delta = Annotated[
    float | None,
    typer.Option(
        help="The delta of (epsilon, delta)-differential privacy; 0 for pure differential privacy. "
        "[1e-9]"
    ),
]

LedgerDataset = Annotated[
    str | None, typer.Option(help="Which data set of the ledger, if it holds several.")
]

LedgerPart = Annotated[
    str | None, typer.Option(help="Charge this declared part: DATA must hold no other rows.")
]

Purpose = Annotated[str, typer.Option(help="A note in the ledger beside the charge.")]

MaxRows = Annotated[
    int | None,
    typer.Option(help="A public bound on the number of rows; of more, the first are used."),
]

Rehearse = Annotated[
    int | None,
    typer.Option(
        help="Simulate with seeded noise: reproducible and NOT PRIVATE, for synthetic data. "
        "Charges nothing.",
        metavar="SEED",
    ),
]

KeyFile = Annotated[
    Path | None,
    typer.Option(
        help="A file with the key that records are hashed with; by default the key is the name of "
        "the data in the schema, which is public.",
        metavar="FILE",
    ),
]
