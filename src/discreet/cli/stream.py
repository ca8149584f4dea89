"""``discreet stream``: learn from records in their order, with one payment for the whole stream."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import AsJson, note_warnings
from discreet.cli.new_files import NewFolder, check_new
from discreet.cli.shared_options import ChargedLedger, LedgerDataset, Purpose, SchemaFile
from discreet.cli.signals import StopRequests
from discreet.errors import InputError


def stream(
    schema_file: SchemaFile,
    data: Annotated[
        Path,
        typer.Argument(
            help="A CSV or Parquet file, a folder or quoted pattern of Parquet files in the order "
            "of their names, or - for rows of CSV on the standard input.",
            metavar="DATA",
        ),
    ],
    horizon: Annotated[
        int | None,
        typer.Option(help="How many records will ever be learnt from, at most.", metavar="RECORDS"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The new folder for the model and its card.", metavar="FOLDER"),
    ] = None,
    ledger: ChargedLedger = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Charge no ledger: nothing can be resumed then.")
    ] = False,
    epsilon: Annotated[
        float | None, typer.Option(help="The privacy budget of the whole stream; or in the schema.")
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="The delta of (epsilon, delta)-differential privacy. [1e-9]"),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Neighbouring streams: replace one record or zero_out one round; or in the schema."
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(help="For classes: logistic_regression or linear_svc. [the first]"),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="auto, follow_the_leader, online_quadratic, private_ocp, ...")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Records between two answers. [about 1000 answers in all]")
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="A new file for the secret state, if the stream is interrupted."),
    ] = None,
    pause: Annotated[
        bool, typer.Option("--pause", help="Save to --state at the end of DATA: more will come.")
    ] = False,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with a state that was saved; it can be used once.")
    ] = None,
    skip: Annotated[
        int | None,
        typer.Option(
            help="Pass over so many records of DATA; --resume needs it.", metavar="RECORDS"
        ),
    ] = None,
    dataset: LedgerDataset = None,
    purpose: Purpose = "",
    rehearse: Annotated[
        int | None,
        typer.Option(
            help="Simulate with seeded noise and an exact score: NOT PRIVATE, for synthetic data.",
            metavar="SEED",
        ),
    ] = None,
    score_epsilon: Annotated[
        float | None,
        typer.Option(
            help="Set so much aside, beside --epsilon, for a private progressive score at the end."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn from records in their order, charged once, before the first, for all of them.

    The ledger is charged epsilon and delta once. Noise is made for as many records as --horizon
    says, and a shorter stream costs the same. A record comes once, in its round: one that is given
    twice is not covered. Blocks are 256 rounds each, wherever records come from. How many were
    learnt from is public, and is shown on the way. An exact score of private records is never
    shown: simulate on synthetic ones with --rehearse, set --score-epsilon aside for a private one
    of records that were not yet learnt from, or pay for one later with `discreet score`.

    Ctrl-C saves the state to --state, for --resume; without --state it ends the stream and writes
    the model so far. The state is secret: do not read, copy or back it up.

    A file is checked against the schema before anything is paid. On the standard input, and in a
    CSV file under zero_out, every line after the header is one record, read by itself: one that is
    malformed counts as a record whose cells are missing (under zero_out, as an empty round), and is
    never refused.

    Example, not private, with a score and its plot, on what `discreet demo --write hospital` makes
    up:

        discreet stream hospital/schema.toml hospital/hospital.csv \\
            --horizon 15000 --unit replace --epsilon 1 --rehearse 1 --out rehearsal

    Paid for by a ledger of the same unit, and ready to be interrupted:

        discreet stream hospital/schema.toml hospital/hospital.csv \\
            --horizon 15000 --unit replace --epsilon 1 \\
            --ledger visits.db --state visits.state --out model

    After an interruption, whose last line says how many records to pass over:

        discreet stream hospital/schema.toml hospital/hospital.csv \\
            --unit replace --ledger visits.db \\
            --resume visits.state --skip 5120 --out model

    From a pipe, until Ctrl-C:

        tail -n +1 -f visits.csv | discreet stream hospital/schema.toml - \\
            --horizon 1000000 --unit replace --epsilon 1 \\
            --ledger visits.db --state visits.state --out model
    """
    from discreet.cli import stream_steps as steps  # slow to import, as all of these
    from discreet.cli.fit_steps import open_books
    from discreet.cli.progressive_score import ProgressiveScore
    from discreet.online import resume as take_up

    state = resume if state is None else state
    _check_files(out, state, resume, skip=skip, pause=pause, has_ledger=ledger is not None)
    schema = steps.read_schema(schema_file, unit)
    asked = steps.StreamOptions(horizon, epsilon, delta, learner, mechanism, batch, rehearse)
    books = open_books(ledger, no_ledger, rehearse, dataset, None, schema)
    if score_epsilon is not None and rehearse is not None:
        raise InputError(
            "--score-epsilon and --rehearse exclude one another: --rehearse shows a score."
        )
    paid = steps.set_aside(score_epsilon, schema, books, may_be_saved=state is not None)
    with ExitStack() as open_things:
        requests = open_things.enter_context(StopRequests())
        if resume is None or books is None:
            model = steps.make_learner(schema, asked)
            model.ledger = books
        else:
            asked.refuse_any()
            steps.check_saved(resume, books, schema)
        records = steps.open_records(schema, data, skip or 0)
        folder = None if out is None else open_things.enter_context(NewFolder(out))
        requests.hold_back()
        if resume is not None and books is not None:
            with note_warnings(UserWarning):  # a secret file that could not be removed
                model = take_up(resume, ledger=books)
        score = None if rehearse is None else ProgressiveScore(schema.target)
        begun = steps.StreamRun(
            model, schema, books, out, state, skip or 0, model.n_seen, score, paid
        )
        failure = begun.learn(records, requests, purpose)
        begun.end(
            folder, is_stopped=requests.is_stopped, failure=failure, pause=pause, as_json=as_json
        )


def _check_files(
    out: Path | None,
    state: Path | None,
    resume: Path | None,
    *,
    skip: int | None,
    pause: bool,
    has_ledger: bool,
) -> None:
    """Refuse a stream that could not go where it is to go."""
    if pause and state is None:
        raise InputError("--pause saves a state; say where with --state.")
    if out is None and not pause:
        raise InputError("where does the model go? Pass --out, or --pause and --state.")
    if resume is not None and skip is None:
        raise InputError(
            "--resume needs --skip: how many records of DATA were learnt from already? The line at "
            "the interruption says it; 0 if all are new."
        )
    if state is not None and not has_ledger:
        raise InputError("a state can be resumed once, which a ledger sees to; pass --ledger.")
    if state is not None and state != resume:
        check_new(state)
