"""``oracle.toml``: what an oracle learns from, what it may spend, and how it is served."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from discreet import _checks
from discreet._types import Json
from discreet.errors import DiscreetError, InputError
from discreet.schema import read
from discreet.service.service_limits import ServiceLimits

LARGEST_FILE = 2**20
MECHANISMS = ("gaussian_process", "bounded_updates")
OF_ORACLE = {
    *("schema", "table", "store", "ledger", "dataset", "purpose", "mechanism", "epsilon", "delta"),
    *(
        "max_queries",
        "C",
        "loss",
        "radius",
        "threshold",
        "max_updates",
        "expected_rows",
        "max_rows",
    ),
    "may_be_constant",
}
NEEDED = {"schema", "table", "store", "ledger"}


@dataclass(frozen=True)
class OracleFile:
    """What an operator wrote down about an oracle."""

    schema: Path
    table: Path
    store: str
    ledger: str
    dataset: str | None
    keys: str
    kernel: Json
    mechanism: str
    settings: Json
    purpose: str
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    def about(self) -> Json:
        """Return what the card says the oracle is about, from the schema."""
        schema = read(self.schema)
        columns = ", ".join(schema.columns)
        return {
            "title": f"An oracle of {schema.target.name} ({schema.name})",
            "description": f"Answers about {schema.target.name}, asked by {columns}.",
            "protects": schema.protects,
            "rows_per_person": schema.rows_per_person,
            "data": schema.name,
        }


def read_oracle_file(path: str | Path) -> OracleFile:
    """Read the file of an oracle; paths in it are beside it.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "oracle.toml"
    >>> _ = place.write_text('''
    ... [oracle]
    ... schema = "schema.toml"
    ... table = "patients.parquet"
    ... store = "oracle.db"
    ... ledger = "patients.db"
    ... epsilon = 1.0
    ... [kernel]
    ... name = "rbf"
    ... gamma = 0.5
    ... [service]
    ... pad = 0.1
    ... ''')
    >>> found = read_oracle_file(place)
    >>> found.kernel, found.limits.pad, Path(found.keys).name
    ({'name': 'rbf', 'gamma': 0.5}, 0.1, 'oracle.keys.db')
    """
    path = Path(path).resolve()
    with path.open("rb") as file:
        text = file.read(LARGEST_FILE)
    try:
        document = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        document = None
    if document is None:
        raise InputError(f"{path}: this is no TOML text.")
    try:
        return _read(document, path.parent)
    except (DiscreetError, TypeError) as error:
        raise InputError(f"{path}: {error}") from None


def _read(document: Json, folder: Path) -> OracleFile:
    _check_names(document, {"oracle", "kernel", "service"}, {"oracle", "kernel"}, "the file")
    oracle, kernel, service = (document.get(name, {}) for name in ("oracle", "kernel", "service"))
    for name, table in (("oracle", oracle), ("kernel", kernel), ("service", service)):
        if not isinstance(table, dict):
            raise InputError(f"[{name}] must be a table.")
    _check_names(oracle, OF_ORACLE, NEEDED, "[oracle]")
    limits = {each.name for each in fields(ServiceLimits)}
    _check_names(service, {"keys", *limits}, set(), "[service]")
    for name in ("schema", "table", "store", "ledger", "dataset", "purpose", "mechanism"):
        if name in oracle and not isinstance(oracle[name], str):
            raise InputError(f"[oracle] {name} must be text.")
    if not isinstance(kernel.get("name"), str):
        raise InputError('[kernel] must have a name, for example name = "rbf".')
    mechanism = oracle.get("mechanism", MECHANISMS[0])
    _checks.one_of(MECHANISMS, mechanism=mechanism)
    store = _place(oracle["store"], folder)
    texts = {"schema", "table", "store", "ledger", "dataset", "purpose", "mechanism"}
    return OracleFile(
        schema=folder / oracle["schema"],
        table=folder / oracle["table"],
        store=store,
        ledger=_place(oracle["ledger"], folder),
        dataset=oracle.get("dataset"),
        keys=_place(service["keys"], folder) if "keys" in service else _keys_beside(store),
        kernel=kernel,
        mechanism=mechanism,
        settings={name: oracle[name] for name in oracle if name not in texts},
        purpose=oracle.get("purpose", "an oracle"),
        limits=ServiceLimits(**{name: service[name] for name in service if name != "keys"}),
    )


def _check_names(table: Json, known: set[str], needed: set[str], what: str) -> None:
    missing, unknown = sorted(needed - set(table)), sorted(set(table) - known)
    if missing or unknown:
        raise InputError(f"{what} lacks {missing}, and does not know {unknown}.")


def _place(where: Any, folder: Path) -> str:
    """Return an address as it is, and a path beside the file."""
    if not isinstance(where, str) or not where:
        raise InputError("a place must be the name of a file, or an address.")
    return where if "://" in where else str(folder / where)


def _keys_beside(store: str) -> str:
    """Return where keys are unless the file says: in the same server, or in a file beside."""
    return store if "://" in store else str(Path(store).with_suffix(".keys.db"))
