"""``discreet predict``: what a fitted model says of other rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.console import AsJson, print_result, show_status
from discreet.cli.new_files import check_new, new_file
from discreet.cli.shared_options import ModelFolder, TableFiles
from discreet.errors import InputError

PREDICTION, PROBABILITY = "prediction", "probability_of_{}"


def predict(
    folder: ModelFolder,
    data: TableFiles,
    out: Annotated[
        Path | None, typer.Option(help="A new .csv or .parquet file; otherwise CSV is printed.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Predict the target of each row of a file, in its order.

    The model is public, so nothing is charged. The predictions are about the rows of DATA, and
    as private as these are: what protects the rows of the fit does not protect them.

    Example:

        discreet predict model hospital/holdout.csv --out predictions.csv
    """
    import numpy as np  # slow to import, as all of these

    from discreet import tables
    from discreet.cli.model_folder import open_model
    from discreet.data.stored.sources import format_of

    if out is not None:
        format_of(out, is_new=True)
        check_new(out, force=force)
    model, schema = open_model(folder)
    predict_proba = getattr(model, "predict_proba", None) if proba else None
    if proba and predict_proba is None:
        raise InputError("--proba is for classification; this model has no probabilities.")
    with show_status("Predicting"):
        rows = tables.open_table(data, schema, with_target=False).fit_arguments()["X"]
        columns: dict[str, Any] = {PREDICTION: model.predict(rows)}
        if predict_proba is not None:
            chances = predict_proba(rows)
            for place, label in enumerate(model.classes_.tolist()):
                columns[PROBABILITY.format(label)] = chances[:, place]
    if out is not None:
        with new_file(out, force=force) as temporary:
            tables.write(temporary, columns)
        count = len(columns[PREDICTION])
        document = {"predictions": str(out), "rows": count}
        print_result(f"Wrote {count} predictions to {out}.", document, as_json=as_json)
        return
    listed = {name: np.asarray(cells).tolist() for name, cells in columns.items()}
    typer.echo(json.dumps(listed) if as_json else tables.spell(listed), nl=as_json)
