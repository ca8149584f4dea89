"""What ``discreet`` can be asked for."""

from __future__ import annotations

import typer

from discreet.cli.audit import audit

app = typer.Typer(
    name="discreet",
    help="Differentially private convex learning whose guarantees are true of the code as it runs.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def _discreet() -> None:
    """Differentially private convex learning whose guarantees are true of the code as it runs."""


app.command()(audit)
