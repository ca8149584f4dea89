"""``discreet score``: how good a fitted model is on other rows, privately."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.console import AsJson, print_note, print_result, show_status
from discreet.errors import InputError


def score(
    folder: Annotated[Path, typer.Argument(help="What `discreet fit` wrote.", metavar="MODEL")],
    data: Annotated[
        Path,
        typer.Argument(
            help="A CSV or Parquet file, or a folder or quoted pattern of Parquet files.",
            metavar="DATA",
        ),
    ],
    ledger: Annotated[
        str | None, typer.Option(help="Who pays: a ledger file, or postgresql://...")
    ] = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Keep no books; nothing limits repetition then.")
    ] = False,
    epsilon: Annotated[float, typer.Option(help="What these scores may spend.")] = 1.0,
    metrics: Annotated[
        str, typer.Option(help="Names of scores, with commas between; all cost as much as one.")
    ] = "",
    level: Annotated[float, typer.Option(help="The chance with which an interval covers.")] = 0.95,
    rows: Annotated[
        int | None, typer.Option(help="Roughly how many rows there are, from public knowledge.")
    ] = None,
    training: Annotated[
        bool,
        typer.Option("--training", help="These rows were used in the fit: intervals say no more."),
    ] = False,
    dataset: Annotated[
        str | None, typer.Option(help="Which data set of the ledger, if it holds several.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(help="Charge this declared part: DATA must hold no other rows.")
    ] = None,
    purpose: Annotated[str, typer.Option(help="What the ledger writes beside the charge.")] = "",
    rehearse: Annotated[
        int | None,
        typer.Option(
            help="A seed: repeatable noise, NOT PRIVATE, for made-up data.", metavar="SEED"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score a model on private rows, with intervals, charged to a ledger before a row is used.

    DATA needs the columns of the model's schema, the target among them. Rows of the fit may be
    scored with --training; they pay for the fit and for the scores.

    Example:

        discreet score model holdout.csv --ledger patients.db --epsilon 0.5
    """
    from discreet import tables  # slow to import, as all of these
    from discreet.cli import fit_steps as steps
    from discreet.cli.model_folder import open_model
    from discreet.metrics import private_score

    if not 0 < level < 1:
        raise InputError(f"--level must be between 0 and 1; got {level}.")
    model, schema = open_model(folder)
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    tables.check(data, schema)
    given = steps.open_data(schema, data, on_cluster=False)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    with show_status("Scoring"):
        scores = private_score(
            model,
            given["X"],
            given.get("y"),
            names or None,
            epsilon=epsilon,
            unit=schema.unit,
            ledger=books,
            target=given.get("target"),
            purpose=purpose or "discreet score",
            n_hint=rows,
            on_training_rows=training,
            rehearsal=rehearse,
        )
    if not scores.release_.is_private:
        print_note("This was a rehearsal: the noise can be repeated, so this is NOT PRIVATE.")
    lines = scores.table(level)
    document: dict[str, Any] = {
        "scores": lines,
        "level": level,
        "of": "these rows" if training else "rows like these",
        "epsilon": epsilon if scores.release_.is_private else None,
        "counts": scores.release_.value.tolist(),
    }
    print_result(
        "\n".join([*map(_line, lines), _about(level, training)]), document, as_json=as_json
    )


def _line(score: dict[str, Any]) -> str:
    ends = f"{score['value']:8.4g}   {score['low']:.4g} to {score['high']:.4g}"
    return f"{score['score']:<26}{ends}" + (f"   ({score['reason']})" if score["reason"] else "")


def _about(level: float, training: bool) -> str:
    whom = "these rows, on which the model was fitted" if training else "rows like these"
    return f"Intervals cover with a chance of {100 * level:g} %, for {whom}; noise is included."
