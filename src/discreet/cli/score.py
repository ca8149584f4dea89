"""``discreet score``: how good a fitted model is on other rows, privately."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.console import AsJson, note_seeded_noise, note_warnings, print_result, show_status
from discreet.cli.failures import Unwritten
from discreet.cli.new_files import check_new, write_text
from discreet.cli.shared_options import (
    ChargedLedger,
    KeyFile,
    LedgerDataset,
    LedgerPart,
    ModelFolder,
    NoLedgerCharged,
    Purpose,
    Rehearse,
    TableFiles,
)
from discreet.cli.signals import Unhurried
from discreet.errors import DiscreetError, InputError, LargeDeltaWarning

if TYPE_CHECKING:
    from discreet.metrics import Scores
    from discreet.report import Card

KINDS_OF_CARD = (".html", ".md", ".json")


def score(
    folder: ModelFolder,
    data: TableFiles,
    ledger: ChargedLedger = None,
    no_ledger: NoLedgerCharged = False,
    epsilon: Annotated[float, typer.Option(help="The privacy budget of these scores.")] = 1.0,
    delta: Annotated[
        float,
        typer.Option(
            help="The delta of (epsilon, delta)-differential privacy; above 0, Gaussian noise is "
            "used if it is smaller."
        ),
    ] = 0.0,
    metrics: Annotated[
        str,
        typer.Option(
            help="Names of scores, with commas between; all cost as much as one, but an area under "
            "the ROC curve needs finer counts."
        ),
    ] = "",
    level: Annotated[float, typer.Option(help="The confidence level of intervals.")] = 0.95,
    rows: Annotated[
        int | None, typer.Option(help="Roughly how many rows there are, from public knowledge.")
    ] = None,
    training: Annotated[
        bool,
        typer.Option(
            "--training", help="These rows were used in the fit: intervals are about them alone."
        ),
    ] = False,
    test_share: Annotated[
        float | None,
        typer.Option(
            help="Score only the records that `discreet fit` with this --test-share left out of "
            "DATA."
        ),
    ] = None,
    key_file: KeyFile = None,
    dataset: LedgerDataset = None,
    part: LedgerPart = None,
    card: Annotated[
        Path | None,
        typer.Option(
            help="A new .html, .md or .json file for the model's card with these scores.",
            metavar="FILE",
        ),
    ] = None,
    purpose: Purpose = "",
    rehearse: Rehearse = None,
    as_json: AsJson = False,
) -> None:
    """Score a model on private rows, with intervals, charged to a ledger before a row is used.

    DATA needs the columns of the model's schema, the target among them. Rows of the fit may be
    scored with --training; the privacy losses of the fit and of the scores then add up.

    Example:

        discreet score model holdout.csv --ledger patients.db --epsilon 0.5
    """
    from discreet import tables  # slow to import, as all of these
    from discreet.cli import fit_steps as steps
    from discreet.cli.model_folder import about, open_model, shapes_of
    from discreet.metrics import private_score
    from discreet.report import card as card_of

    if not 0 < level < 1:
        raise InputError(f"--level must be between 0 and 1; got {level}.")
    if card is not None:
        _check_card(card)
    model, schema = open_model(folder)
    books = steps.open_books(ledger, no_ledger, rehearse, dataset, part, schema)
    side = steps.find_side(schema, test_share, key_file, test=True)
    given = steps.open_data(tables.open_table(data, schema), side=side)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    paid = SimpleNamespace()
    with Unhurried(paid):
        with note_warnings(LargeDeltaWarning), show_status("Scoring"):
            scores = private_score(
                model,
                given["X"],
                given.get("y"),
                names or None,
                epsilon=epsilon,
                delta=delta,
                unit=schema.unit,
                ledger=books,
                target=given.get("target"),
                purpose=purpose or "discreet score",
                expected_rows=rows,
                on_training_rows=training,
                rehearsal=rehearse,
            )
            paid.release_ = scores.release_
        try:
            _tell(scores, level, as_json)
            if card is not None:
                said, shapes = about(schema, model), shapes_of(model)
                shown = card_of(model.release_, about=said, scores=scores, shapes=shapes)
                write_text(card, _text_of(shown, card))
        except BaseException as error:  # an impatient key too
            why = f" ({error})" if isinstance(error, DiscreetError) else ""
            problem = f"the scores could not be told or written{why}; what was released is paid for"
        else:
            return
        raise Unwritten(f"{problem} and kept {_rescue(scores)}")


def _check_card(path: Path) -> None:
    if path.suffix not in KINDS_OF_CARD:
        raise InputError(f"--card must end in {', '.join(KINDS_OF_CARD)}; got {path}.")
    check_new(path)


def _text_of(shown: Card, path: Path) -> str:
    """Return a card as the name of its file asks for."""
    made = {".html": shown.html, ".md": shown.markdown, ".json": shown.to_json}
    return made[path.suffix]()


def _rescue(scores: Scores) -> str:
    """Save the release somewhere else, and say where."""
    try:
        place = Path(tempfile.mkdtemp(prefix="discreet-rescued-")) / "scores.json"
        place.write_text(scores.release_.to_json(), encoding="utf-8")
    except Exception:
        typer.echo(scores.release_.to_json())
        return "on the standard output only, as JSON: copy it from there."
    return f"in {place}, as JSON."


def _tell(scores: Scores, level: float, as_json: bool) -> None:
    released, training = scores.release_, scores.on_training_rows
    if not released.is_private:
        note_seeded_noise("the scores")
    lines = scores.table(level)
    edges = _released_edges(scores)
    guarantee = released.guarantee
    document: dict[str, Any] = {
        "scores": lines,
        "level": level,
        "of": "these rows" if training else "rows like these",
        "epsilon": guarantee.epsilon() if released.is_private else None,
        "delta": guarantee.quoted_delta if released.is_private else None,
        "noise": scores.noise.law,
        "edges": edges,
        "counts": released.value[len(edges) :].tolist(),
    }
    print_result(
        "\n".join([*map(_line, lines), _about(level, training)]), document, as_json=as_json
    )


def _released_edges(scores: Scores) -> list[float]:
    """Return the edges of bins that follow the scores, which the value begins with."""
    from discreet.metrics import BinaryScores  # slow to import

    if isinstance(scores, BinaryScores) and scores.release_.mechanism == "following_histogram":
        return [float(edge) for edge in scores.bins.edges]
    return []


def _line(score: dict[str, Any]) -> str:
    ends = f"{score['value']:8.4g}   {score['low']:.4g} to {score['high']:.4g}"
    return f"{score['score']:<26}{ends}" + (f"   ({score['reason']})" if score["reason"] else "")


def _about(level: float, training: bool) -> str:
    whom = "these rows, on which the model was fitted" if training else "rows like these"
    return (
        f"Intervals cover the exact score with a chance of {100 * level:g} %, for {whom}; noise "
        "and binning are included."
    )
