"""The first start of an oracle: read, pay, fit, store. Later starts find it in its store."""

from __future__ import annotations

import fcntl
import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet import kernels, tables
from discreet._types import Json
from discreet.errors import InputError, LargeDeltaWarning
from discreet.interaction.oracle_store import OracleStore
from discreet.kernel import BoundedUpdateOracle, GaussianProcessOracle, open_oracle
from discreet.kernel.oracle_estimator import OracleEstimator
from discreet.ledger import Ledger
from discreet.schema import CLASSIFICATION, Schema, read
from discreet.service.oracle_file import OracleFile, read_oracle_file

ORACLES = {"gaussian_process": GaussianProcessOracle, "bounded_updates": BoundedUpdateOracle}

KERNEL_NAMES: dict[str, Any] = {
    "chi_squared": kernels.ChiSquared,
    "laplacian": kernels.Laplacian,
    "linear": kernels.Linear,
    "matern": kernels.Matern,
    "polynomial": kernels.Polynomial,
    "rbf": kernels.RBF,
}
"""Kernels that a file can name."""

LEFT_OUT = ("ledger", "store", "rehearsal", "verbose")
"""Arguments that do not say which oracle it is."""


def check_oracle(path: str) -> None:
    """Refuse a file that declares no oracle; nothing is read but the file and its schema."""
    found = read_oracle_file(path)
    make_oracle(found, read(found.schema))


def begin_oracle(
    path: str, note: Callable[[str], None] = lambda _: None, *, pays_again: bool = False
) -> str:
    """Make sure that the oracle of a file is in its store; pay and fit only if it is not.

    A mark beside the file says that a start has paid. If it was killed before the oracle was
    stored, later starts refuse: one that is started again and again would drain the ledger. While
    it lives it holds a lock, and another start is told so.
    """
    found = read_oracle_file(path)
    schema = read(found.schema)
    model, ledger = make_oracle(found, schema), Ledger(found.ledger, found.dataset)
    ledger.check_declaration(
        schema.source, schema.unit, schema.protects, schema.rows_per_person, schema.person or ""
    )
    if OracleStore(found.store).holds_oracle():
        return _take_up(path, found, model, ledger, note)
    with _making(path):
        if OracleStore(found.store).holds_oracle():  # somebody has made it meanwhile
            return _take_up(path, found, model, ledger, note)
        mark = _mark(path)
        if mark.exists() and not pays_again:
            raise InputError(
                f"{path}: an earlier start has paid for this oracle and ended before it was stored "
                f"({mark.name}). See why, then start with --pay-again."
            )
        note("There is no oracle yet: it is paid for and fitted, once.")
        model.set_params(ledger=ledger, store=found.store)
        table = tables.open_table(found.table, schema).fit_arguments()
        _pay_and_fit(model, ledger, found, table, mark, note)
    return str(model.oracle_.identity)


def _take_up(
    path: str,
    found: OracleFile,
    model: OracleEstimator,
    ledger: Ledger,
    note: Callable[[str], None],
) -> str:
    """Return the identity of the oracle in the store, if it is the one that is declared."""
    stored = open_oracle(found.store, ledger=ledger)
    _compare(model, stored, path)
    _mark(path).unlink(missing_ok=True)
    note("The oracle is taken up from its store; nothing is paid.")
    return str(stored.oracle_.identity)


def _pay_and_fit(
    model: OracleEstimator,
    ledger: Ledger,
    found: OracleFile,
    table: dict[str, Any],
    mark: Path,
    note: Callable[[str], None],
) -> None:
    """Fit under a mark, which stays if this process ends between the charge and the store."""
    charges = len(ledger.history())
    _make_mark(mark)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", LargeDeltaWarning)
            model.fit(**table, purpose=found.purpose)
    except BaseException:
        if len(ledger.history()) == charges:
            mark.unlink(missing_ok=True)  # nothing was paid
        raise
    for each in said:
        if issubclass(each.category, LargeDeltaWarning):
            note(f"Is this meant? {each.message}")
    mark.unlink(missing_ok=True)


def _mark(path: str) -> Path:
    """Return the file that says that a start has begun to pay."""
    return Path(path).with_name(f"{Path(path).name}.begun")


@contextmanager
def _making(path: str) -> Iterator[None]:
    """Hold the lock of an oracle's file: one process makes it, and others are told which one.

    The lock ends with the process, however that ends; a mark without it was left behind.
    """
    with Path(path).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mark = _mark(path)
            who = (mark.read_text() if mark.exists() else "").strip() or "another process"
            raise InputError(
                f"{path}: {who} is making this oracle now. Wait until it serves, then start again: "
                "nothing is paid twice."
            ) from None
        except OSError:  # as on some network drives
            raise InputError(
                f"{path} cannot be locked, so that another start could pay, too; keep it on a disk "
                "of this machine. Nothing was paid."
            ) from None
        yield


def _make_mark(mark: Path) -> None:
    """Make the mark, on disk; it says who made it."""
    with mark.open("w") as file:
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(mark.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def make_oracle(found: OracleFile, schema: Schema) -> OracleEstimator:
    """Return the oracle that a file declares, not fitted."""
    schema.check_promise()
    if schema.protects_persons:
        raise InputError(
            f"{schema.source} says whose row each is, and what an oracle keeps knows no "
            "persons. Make one row of each person's, or release a model and serve that."
        )
    of_schema = {"epsilon": schema.epsilon, "delta": schema.delta, "max_rows": schema.max_rows}
    settings: Json = {name: value for name, value in of_schema.items() if value is not None}
    settings |= {"expected_rows": schema.expected_rows, **found.settings}
    if "epsilon" not in settings:
        raise InputError("[oracle] epsilon is missing: say what all answers together may spend.")
    target = schema.target
    if target.task == CLASSIFICATION:
        settings["classes"] = list(target.classes)
    else:
        settings["target_range"] = target.range
    try:
        return ORACLES[found.mechanism](
            columns=schema.declared_columns(),
            unit=schema.unit,
            kernel=_make_kernel(found),
            **settings,
        )
    except TypeError:
        raise InputError(
            f"[oracle] has a setting that {found.mechanism} does not take: "
            f"{', '.join(sorted(found.settings))}."
        ) from None


def _make_kernel(found: OracleFile) -> kernels.Kernel:
    given = dict(found.kernel)
    name = given.pop("name")
    if name not in KERNEL_NAMES:
        raise InputError(f"[kernel] name must be one of {', '.join(KERNEL_NAMES)}; got {name!r}.")
    try:
        made: kernels.Kernel = KERNEL_NAMES[name](**given)
    except TypeError:
        raise InputError(
            f"[kernel] {name} does not take these parameters: {', '.join(sorted(given))}."
        ) from None
    return made


def _compare(declared: OracleEstimator, stored: OracleEstimator, path: str) -> None:
    """Refuse to serve another oracle than the file declares."""
    ours, theirs = declared.get_params(deep=False), stored.get_params(deep=False)
    names = [name for name in ours if name not in LEFT_OUT]
    other = [name for name in names if ours[name] != theirs.get(name)]
    if type(declared) is not type(stored) or other:
        said = f" ({', '.join(other)})" if other else ""
        raise InputError(
            f"{path}: the store holds an oracle that was declared otherwise{said}. Name another "
            "store for a new oracle, or declare what the stored one was fitted with."
        )
