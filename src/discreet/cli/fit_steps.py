"""The steps of ``discreet fit``: open ledger and table, make the model, keep the release."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from discreet import _checks, tables
from discreet.additive import AdditiveClassifier, AdditiveRegressor
from discreet.artifact import save
from discreet.cli.console import print_note, print_result, show_status
from discreet.cli.failures import Unwritten
from discreet.cli.model_folder import Model, Selection, about, shapes_of, store_schema
from discreet.cli.new_files import NewFolder
from discreet.cli.split import read_key
from discreet.data.record_sides import RecordSides
from discreet.errors import DiscreetError, InputError
from discreet.ledger import Ledger
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.mechanisms import LEARNERS
from discreet.report import card
from discreet.schema import CLASSIFICATION, Schema
from discreet.tables import DeclaredTable

MODELS = ("linear", "additive")
"""What ``discreet fit`` can fit."""

Side = tuple[RecordSides, bool]
"""What says on which side a record is, and whether those for testing are wanted."""


def find_side(
    schema: Schema, share: float | None, key_file: Path | None, *, test: bool
) -> Side | None:
    """Return which records are meant; None if there is no split, and all are."""
    if share is None:
        if key_file is not None:
            raise InputError("--key-file is for a split; pass --test-share.")
        return None
    return tables.declared_sides(schema, share, read_key(key_file)), test


def open_data(
    table: DeclaredTable, *, on_cluster: bool = False, side: Side | None = None
) -> dict[str, Any]:
    """Return rows as ``fit`` takes them: in memory, or a table that is stored elsewhere.

    Whatever is one file is parsed to its end here, while nothing is paid. Of one side of a split
    all rows are read.
    """
    if side is not None:
        if on_cluster:
            raise InputError("--test-share reads rows into memory; `discreet split` first.")
        sides, is_test = side
        with show_status("Reading the table"):
            rows = tables.read_side(table, sides, test=is_test)
        return rows.fit_arguments()
    if on_cluster:
        return {"X": table.stored.spread(), "target": table.schema.target.name}
    with show_status("Reading the table"):
        return table.fit_arguments()


def make_model(
    schema: Schema,
    epsilon: float | None,
    delta: float | None,
    mechanism: str | None,
    max_rows: int | None,
    rehearse: int | None,
    kind: str | None = None,
) -> Model:
    """Return the model to fit, from what is said on the command line or in the schema."""
    if kind is not None:
        _checks.one_of(MODELS, model=kind)
    schema.check_promise()
    columns = schema.declared_columns()
    mechanism = schema.mechanism if mechanism is None else mechanism
    options = find_options(schema, epsilon, delta, max_rows, rehearse)
    _checks.one_of(("auto", *LEARNERS), mechanism=mechanism)
    if kind is None:
        kind = choose_kind(schema, mechanism, options.get("delta"))
    options |= {"columns": columns, "unit": schema.unit, **schema.contributions()}
    target = schema.target
    if target.task == CLASSIFICATION:
        options |= {"classes": list(target.classes), "expected_rows": schema.expected_rows}
    else:
        options |= {"target_range": target.range}
    is_of_classes = target.task == CLASSIFICATION
    if kind == "linear":
        options |= {"mechanism": mechanism}
        return LinearClassifier(**options) if is_of_classes else LinearRegressor(**options)
    if mechanism != "auto":
        raise InputError("a mechanism is chosen for linear models; leave it out.")
    return AdditiveClassifier(**options) if is_of_classes else AdditiveRegressor(**options)


def choose_kind(schema: Schema, mechanism: str, delta: float | None) -> str:
    """Return which model is fitted if nobody says; a note tells why classes get a linear one.

    From declarations alone. Additive models are ahead for classes; for numbers only where rows
    times epsilon are many, and without a delta nobody has measured them.
    """
    if schema.target.task != CLASSIFICATION or mechanism != "auto":
        return "linear"
    refusal = "an additive one is the default only with a delta." if delta == 0 else ""
    try:
        _ = AdditiveClassifier(columns=schema.declared_columns()).feature_map().region
    except InputError as error:
        refusal = str(error)
    if refusal:
        print_note(f"The model is linear: {refusal}")
    return "linear" if refusal else "additive"


def find_options(
    schema: Schema,
    epsilon: float | None,
    delta: float | None,
    max_rows: int | None,
    rehearse: int | None,
) -> dict[str, Any]:
    """Return what every release is told, from the command line or the schema."""
    options = find_budget(schema, epsilon, delta)
    max_rows = schema.max_rows if max_rows is None else max_rows
    if max_rows is not None:
        _checks.whole(max_rows=max_rows, at_least=1, at_most=2**40)
        options["max_rows"] = max_rows
    if rehearse is not None:
        _checks.whole(rehearse=rehearse, at_least=0)
        options["rehearsal"] = rehearse
    return options


def find_budget(schema: Schema, epsilon: float | None, delta: float | None) -> dict[str, Any]:
    """Return epsilon, and delta if somebody says it, from the command line or the schema."""
    epsilon = schema.epsilon if epsilon is None else epsilon
    delta = schema.delta if delta is None else delta
    if epsilon is None:
        raise InputError(
            "--epsilon is missing: say what this may spend, here or under [privacy] in "
            f"{schema.source}. `discreet plan` shows what it buys."
        )
    _checks.positive(epsilon=epsilon)
    if delta is None:
        return {"epsilon": epsilon}
    _checks.delta(delta=delta)
    return {"epsilon": epsilon, "delta": delta}


def open_books(
    where: str | None,
    no_ledger: bool,
    rehearse: int | None,
    dataset: str | None,
    part: str | None,
    schema: Schema,
) -> Ledger | None:
    """Open the ledger, or make sure that none is wanted."""
    if where is None:
        if dataset is not None or part is not None:
            raise InputError("--dataset and --part speak of a ledger; pass --ledger.")
        if not no_ledger and rehearse is None:
            raise InputError(
                "which ledger is charged? Pass --ledger (`discreet ledger create` makes one), or "
                "--no-ledger if nothing is to limit how often these rows are used."
            )
        return None
    if no_ledger:
        raise InputError("--ledger and --no-ledger exclude one another; pass one of them.")
    if rehearse is not None:
        raise InputError(
            "seeded noise (--rehearse) is not private, and charges no ledger; drop --ledger."
        )
    books = Ledger(where, dataset, part=part)
    books.check_declaration(
        schema.source, schema.unit, schema.protects, schema.rows_per_person, schema.person or ""
    )
    return books


def keep(
    model: Model | Selection, schema: Schema, books: Ledger | None, folder: NewFolder, out: Path
) -> None:
    """Write what was released: paid for, so neither a full disk nor an interruption may lose it."""
    try:
        folder.give_room()
        save(model, folder.inside)
        store_schema(schema, folder.inside)
        said, shown = about(schema, model), shapes_of(model)
        card(model.release_, ledger=books, about=said, shapes=shown).write(folder.inside)
        folder.publish()
        return
    except BaseException as error:  # an impatient key too
        why = f" ({error})" if isinstance(error, DiscreetError) else ""
        problem = f"{out} cannot be written{why}; the release is paid for and kept"
    raise Unwritten(f"{problem} {rescue(model, schema)}")


def rescue(model: Model | Selection, schema: Schema) -> str:
    """Save a release somewhere else, and say where."""
    try:
        place = Path(tempfile.mkdtemp(prefix="discreet-rescued-")) / "model"
        save(model, place)
        store_schema(schema, place)
    except Exception:
        typer.echo(model.release_.to_json())
        return "on the standard output only, as JSON: copy it from there."
    return f"in {place}: move it from there. `discreet card` makes its card."


def tell(
    model: Model | Selection,
    books: Ledger | None,
    out: Path,
    as_json: bool,
    first: str = "",
    more: Mapping[str, Any] | None = None,
) -> None:
    """Say what was released, at what price, and where it is; more for people, or for programs."""
    guarantee = model.privacy_
    delta = guarantee.quoted_delta
    left = None if books is None else books.allowance()
    lines = [*filter(None, [first]), guarantee.sentence(), f"Wrote {out}."]
    if left is not None:
        lines.append(f"Charge {model.release_.receipt_number}. {left.sentence()}")
    private = guarantee.is_private
    print_result(
        "\n".join(lines),
        {
            "model": str(out),
            "is_private": private,
            "epsilon": guarantee.epsilon() if private else None,
            "delta": delta,
            "sentence": guarantee.sentence(),
            "mechanism": model.release_.mechanism,
            "charge": model.release_.receipt_number or None,
            "epsilon_left": None if left is None else left.epsilon,
            **(more or {}),
        },
        as_json=as_json,
    )
