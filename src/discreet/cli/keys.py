"""``discreet keys``: who may ask a service, and what for."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.console import AsJson, one_line, print_result
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.service import KeyBook

PLACE = typer.Argument(
    help="The keys: a file, postgresql://user@host/name, or oracle.toml.", metavar="KEYS"
)
Where = Annotated[str, PLACE]
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

app = typer.Typer(
    name="keys",
    help="Keys of a service: who may ask it, and what for.",
    no_args_is_help=True,
)


@app.command()
def create(
    where: Where,
    name: Annotated[str, typer.Option(help="Who gets it.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="predict, status or metrics; repeat it. [predict and status]"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="After how long: 90d, 12h, 30m. Never, unless told.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Rows a second, if not the service's own rate.")
    ] = None,
    burst: Annotated[int | None, typer.Option(help="Rows at once, if not the service's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and show it, once: what is stored is a digest of it. Charges nothing.

    Example:

        discreet keys create keys.db --name "ward 3" --scope predict --expires 90d
    """
    made, key = _open(where).create_key(
        name,
        scopes=scope or ("predict", "status"),
        lifetime=None if expires is None else parse_lifetime(expires),
        rate=rate,
        burst=burst,
    )
    print_result(key, {"key": key, **made.to_json(time.time())}, as_json=as_json)


@app.command()
def revoke(
    where: Where,
    identity: Annotated[str, typer.Argument(help="As `keys list` shows it.", metavar="ID")],
    as_json: AsJson = False,
) -> None:
    """Revoke a key; every worker of every service that uses these keys refuses it at once.

    Charges nothing.

    Example:

        discreet keys revoke keys.db 0123456789abcdef
    """
    _open(where).revoke(identity)
    said = f"The key {one_line(identity)} is revoked."
    print_result(said, {"id": identity, "state": "revoked"}, as_json=as_json)


@app.command(name="list")
def list_keys(where: Where, as_json: AsJson = False) -> None:
    """List keys: who has them, what they allow, until when. Charges nothing.

    No key can be read from this.

    Example:

        discreet keys list keys.db
    """
    now = time.time()
    found = [key.to_json(now) for key in _open(where).list_keys()]
    lines = [
        one_line(
            f"{key['id']}  {key['state']:8s}  {','.join(key['scopes']):22s}  "
            f"{'until ' + key['expires'] if key['expires'] else 'for ever':26s}  {key['name']}"
        )
        for key in found
    ]
    print_result("\n".join(lines) or "No key yet.", {"keys": found}, as_json=as_json)


def parse_lifetime(text: str) -> float:
    """Return the seconds that a text like 90d or 12h means.

    Examples
    --------
    >>> parse_lifetime("12h")
    43200.0
    """
    found = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if found is None or int(found.group(1)) == 0:
        raise InputError(f"--expires must be a number and s, m, h or d, as in 90d; got {text!r}.")
    return float(int(found.group(1)) * SECONDS[found.group(2)])


def _open(where: str) -> KeyBook:
    from discreet.service import KeyBook  # slow to import

    if where.endswith(".toml"):
        from discreet.service.oracle_file import read_oracle_file

        where = read_oracle_file(where).keys
    return KeyBook(where)
