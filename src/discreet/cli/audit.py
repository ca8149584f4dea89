"""``discreet audit``: attack a mechanism of the library and print what is certain about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.console import REFUSED, AsJson
from discreet.cli.late_help import MECHANISMS


def audit(
    mechanism: Annotated[str, typer.Argument(help=f"One of {MECHANISMS}.", metavar="MECHANISM")],
    epsilon: Annotated[float, typer.Option(help="The epsilon that the mechanism claims.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The delta that it claims, if not pure.")] = 1e-6,
    unit: Annotated[
        str, typer.Option(help="Neighbouring data sets: add_remove or replace one record.")
    ] = "add_remove",
    trials: Annotated[int, typer.Option(help="Releases on each of the two data sets.")] = 20_000,
    confidence: Annotated[
        float, typer.Option(help="The probability with which no true claim is refuted.")
    ] = 0.999,
    seed: Annotated[int, typer.Option(help="The same seed gives the same audit.")] = 0,
    jobs: Annotated[int, typer.Option(help="How many processes run trials.")] = 1,
    events: Annotated[bool, typer.Option("--events", help="Print the events tested.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw claimed and certified epsilons to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Audit a mechanism on the worst neighbouring data sets that are known for it.

    Runs the mechanism many times on two data sets that differ in one record, learns to tell them
    apart, and certifies, with exact confidence bounds, how large epsilon is at least. A certified
    bound above the claim is a bug. Exits with 1 if a claim is refuted. The data are synthetic,
    and nothing is charged.

    Example:

        discreet audit gaussian_sum --epsilon 1 --trials 100000
    """
    from discreet.audit import draw  # slow to import
    from discreet.audit.cases import cases

    found = [
        case.audit(
            trials=trials, confidence=confidence, seed=seed, n_jobs=jobs, verbose=int(not as_json)
        )
        for case in cases(mechanism, unit, epsilon, delta)
    ]
    if plot is not None:
        draw(found, plot)
    if as_json:
        typer.echo(json.dumps([json.loads(result.to_json()) for result in found], indent=2))
    else:
        for result in found:
            typer.echo(str(result))
            if events:
                typer.echo(result.table())
    if any(result.violated for result in found):
        raise typer.Exit(REFUSED)
