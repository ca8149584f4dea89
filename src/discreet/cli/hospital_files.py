"""The synthetic hospital in files: its table, other patients, and what is declared about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet import tables
from discreet.cli.console import print_result, show_status
from discreet.cli.new_files import NewFolder
from discreet.datasets import HOSPITAL, hospital
from discreet.schema import CLASSIFICATION, Schema, Target, write

TARGET = "back_within_90_days"

SCHEMA = Schema(
    dict(HOSPITAL),
    Target(TARGET, CLASSIFICATION, classes=("no", "yes")),
    name="hospital",
    protects="one patient",
    rows_per_person=1,
)

PREAMBLE = """A synthetic hospital: nobody in it exists.
What a clinician would declare about it without opening the table."""


def write_hospital(folder: Path, patients: int, as_json: bool) -> None:
    """Write so many patients to a new folder, a quarter of them held out."""
    with NewFolder(folder) as new, show_status("Making up patients"):
        columns = _columns(patients)
        cut = 3 * patients // 4
        train = {name: cells[:cut] for name, cells in columns.items()}
        rest = {name: cells[cut:] for name, cells in columns.items()}
        new.give_room()
        new.inside.mkdir()
        tables.write(new.inside / "hospital.csv", train)
        tables.write(new.inside / "hospital.parquet", train)
        tables.write(new.inside / "holdout.csv", rest)
        schema = write(SCHEMA, preamble=PREAMBLE)
        (new.inside / "schema.toml").write_text(schema, encoding="utf-8")
        new.publish()
    names = ["hospital.csv", "hospital.parquet", "holdout.csv", "schema.toml"]
    print_result(
        f"Wrote {', '.join(names)} to {folder}: {cut} synthetic patients, "
        f"{patients - cut} held out.",
        {"folder": str(folder), "files": names, "rows": cut, "held_out": patients - cut},
        as_json=as_json,
    )


def _columns(patients: int) -> dict[str, Any]:
    table = hospital(patients)
    columns: dict[str, Any] = {}
    for place, name in enumerate(table.columns):
        cells = [None if cell != cell else cell for cell in table.X[:, place].tolist()]
        columns[name] = np.array(cells, dtype=object)
    columns[TARGET] = np.where(table.y, "yes", "no")
    return columns
