"""What ``discreet`` can be asked for.

The Typer application: commands, help, exit codes.
"""

from __future__ import annotations

from typing import Annotated

import typer

import discreet
from discreet.cli.audit import audit
from discreet.cli.card import card
from discreet.cli.check import check
from discreet.cli.demo import demo
from discreet.cli.describe import describe
from discreet.cli.failures import Commands
from discreet.cli.fit import fit
from discreet.cli.init import init
from discreet.cli.keys import app as keys
from discreet.cli.late_help import LateHelp, PlainGroup
from discreet.cli.ledger import app as ledger
from discreet.cli.plan import plan
from discreet.cli.predict import predict
from discreet.cli.score import score
from discreet.cli.select import select
from discreet.cli.serve import serve
from discreet.cli.split import split
from discreet.cli.stream import stream
from discreet.cli.tune import tune

HELP = """Differentially private learning whose guarantees are true of the code as it runs.

The whole chain, on synthetic patients:

    discreet demo --write hospital
    discreet check hospital/schema.toml hospital/hospital.parquet
    discreet plan hospital/schema.toml --epsilon 1
    discreet ledger create patients.db --epsilon 1.5 --delta 1e-6 --protects "one patient"
    discreet fit hospital/schema.toml hospital/hospital.parquet \\
        --ledger patients.db --epsilon 1 --out model
    discreet card model
    discreet predict model hospital/holdout.csv --out predictions.csv

For a table of your own, `discreet init table.csv` proposes the schema. To choose columns first,
see `discreet select --help`. For records that arrive one after another, see
`discreet stream --help`. Only describe, select, fit, tune, stream, score and the first start of
an oracle with serve charge a ledger: each charges its epsilon and delta before a row is used, and
the charge stands if the command fails.

Exit codes: 0 done; 1 refused (over budget, refuted, unsound, a serious finding); 2 wrong input;
3 a file or a ledger cannot be read or written; 70 a bug.
"""

app = typer.Typer(
    name="discreet",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"discreet {discreet.__version__}")
        raise typer.Exit


@app.callback(help=HELP)
def _discreet(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    """Say what applies to every command."""


COMMANDS = (
    *(init, check, plan, split, describe, select, fit, tune, stream),
    *(card, predict, score, serve, audit, demo),
)
for command in COMMANDS:
    app.command(cls=LateHelp)(command)
for group in (ledger, keys):
    for info in group.registered_commands:
        info.cls = LateHelp
    app.add_typer(group, cls=PlainGroup)
