"""The option ``--cluster``: workers of Dask read the files, and sum them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.tables import DeclaredTable

Cluster = Annotated[
    str | None,
    typer.Option(
        help="The address of a Dask scheduler, tcp://HOST:PORT, whose workers read DATA: a folder "
        "or pattern of Parquet files at the same place for all of them."
    ),
]

PATIENCE = 10
"""How many seconds a scheduler may take to answer."""


def connect(address: str | None) -> Any:
    """Compute with the workers of that scheduler while this context lasts; here if there is none.

    Examples
    --------
    >>> with connect(None):
    ...     pass
    """
    return nullcontext() if address is None else _connect_to(address)


@contextmanager
def _connect_to(address: str) -> Iterator[None]:
    client = _find_client(address)
    if client is None:
        raise InputError(
            f"no Dask scheduler answers at {address}. Start one with `dask scheduler` and workers "
            "with `dask worker`, and pass the address that it prints."
        )
    with client:
        yield


def _find_client(address: str) -> Any:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ModuleNotFoundError:
        distributed = None
    if distributed is None:
        raise InputError("--cluster needs Dask; install it with pip install 'discreet[dask]'.")
    try:
        return distributed.Client(address, timeout=PATIENCE)
    except (OSError, TypeError, ValueError):  # a wrong address, or nobody there
        return None


def check_spread(address: str | None, table: DeclaredTable) -> None:
    """Refuse a table that workers cannot share, if there are some."""
    if address is not None and not table.stored.can_be_spread:
        raise InputError(
            "--cluster is for a folder or pattern of files that workers can share; got one file."
        )
