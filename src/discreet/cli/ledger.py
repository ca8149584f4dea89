"""``discreet ledger``: create the ledger of a data set, read it, verify it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import console
from discreet.cli.console import AsJson, print_note, print_result
from discreet.cli.new_files import check_new

if TYPE_CHECKING:
    from discreet.ledger import DataSet, Entry, Ledger

PATH = typer.Argument(help="A ledger file, or postgresql://user@host/name.", metavar="LEDGER")
Where = Annotated[str, PATH]
Which = Annotated[
    str | None, typer.Option("--dataset", help="Which data set, if there are several.")
]
app = typer.Typer(
    name="ledger",
    help="The ledger: what may be spent on a data set, what was spent, by whom and for what.",
    no_args_is_help=True,
)


@app.command()
def create(
    where: Where,
    epsilon: Annotated[float, typer.Option(help="The privacy budget of all releases together.")],
    delta: Annotated[
        float, typer.Option(help="The delta of that budget; 0 for pure releases only.")
    ] = 1e-6,
    dataset: Annotated[str, typer.Option(help="A name for the data.")] = "data",
    protects: Annotated[
        str, typer.Option(help="What one record is, or one person, in plain words.")
    ] = "one record",
    rows_per_person: Annotated[
        int, typer.Option(help="How many records one person has at most; charged together.")
    ] = 1,
    unit: Annotated[
        str,
        typer.Option(
            help="Neighbouring data sets: add_remove or replace one record; add_remove_person or "
            "replace_person with all their records; streams: zero_out."
        ),
    ] = "add_remove",
    person: Annotated[
        str,
        typer.Option(help="The column of ids, for a unit of persons; schemas must name the same."),
    ] = "",
    part: Annotated[
        list[str] | None,
        typer.Option(help="A disjoint part of the data; repeat it for each part."),
    ] = None,
    notes: Annotated[str, typer.Option(help="Anything to remember.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create the ledger of a new data set. Its budget never changes afterwards.

    Nothing is charged yet. A ledger that is there already gets one more data set.

    Example:

        discreet ledger create patients.db --epsilon 3 --protects "one patient" \\
            --unit add_remove_person --person patient_id
    """
    from discreet.ledger import Ledger  # slow to import
    from discreet.privacy import Budget
    from discreet.privacy.guarantee import in_three_digits as up

    made = Ledger.create(
        where,
        Budget(epsilon, delta),
        dataset=dataset,
        unit=unit,
        protects=protects,
        parts=part or (),
        rows_per_person=rows_per_person,
        person=person,
        notes=notes,
    )
    declared = made.declared
    only_pure = "" if delta else " It takes pure releases only: fit with --delta 0."
    print_result(
        f"Created the ledger of {declared.name!r} in {made.place}: releases about "
        f"{declared.protects} may spend epsilon = {up(epsilon)} at delta = {delta:g} in all."
        f"{only_pure} {declared.caution()}".rstrip(),
        {"ledger": made.place, **asdict(declared)},
        as_json=as_json,
    )


@app.command()
def show(
    where: Where,
    dataset: Which = None,
    delta: Annotated[
        float | None, typer.Option(help="Say also what is left at this delta.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="All totals, and who created the ledger.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is left of the privacy budget; charges nothing.

    One more release of that epsilon is accepted, whatever its noise, and also if it was chosen
    after seeing earlier answers (adaptive composition). The *total* among the details is what was
    spent if all questions had been fixed in advance.

    Example:

        discreet ledger show patients.db
    """
    found = [_summary(ledger, delta) for ledger in _open_each(where, dataset)]
    words = [_describe(each, verbose=verbose or delta is not None) for each in found]
    print_result("\n\n".join(words), {"datasets": found}, as_json=as_json)


def _open(where: str, dataset: str | None) -> Ledger:
    """Open the ledger of one data set."""
    from discreet.ledger import Ledger  # slow to import

    return Ledger(where, dataset)


def _open_each(where: str, dataset: str | None) -> list[Ledger]:
    """Open the ledger of every data set, or of the one that is meant."""
    from discreet.ledger import Ledger  # slow to import

    if dataset is not None:
        return [Ledger(where, dataset)]
    return [Ledger(where, each.name) for each in Ledger.datasets(where)]


def _summary(ledger: Ledger, delta: float | None) -> dict[str, Any]:
    declared: DataSet = ledger.declared
    history, left = ledger.history(), ledger.allowance()
    delta = left.delta if delta is None else delta
    return {
        **asdict(declared),
        "headline": left.sentence(),
        "epsilon_left": left.epsilon,
        "charges": dict(Counter(entry.state.value for entry in history)),
        "used_share": ledger.used(),
        "quoted_delta": delta,
        "epsilon_left_at_quoted_delta": ledger.remaining(delta),
        "epsilon_left_pure": ledger.remaining(0.0),
        "epsilon_left_gaussian": ledger.remaining_gaussian(),
        "epsilon_total": ledger.spent(declared.delta or 0.0),
        "parts_left": {name: ledger.for_part(name).remaining() for name in declared.parts},
        "refundable": [entry.number for entry in history if entry.is_refundable],
    }


def _describe(found: dict[str, Any], *, verbose: bool) -> str:
    from discreet.privacy.guarantee import down_to_three_digits as down  # slow to import
    from discreet.privacy.guarantee import in_three_digits as up

    counts = ", ".join(f"{count} {state}" for state, count in found["charges"].items())
    lines = [
        f"{found['name']}: {found['headline']}",
        f"  protects {found['protects']} (unit {found['unit']}{_persons(found)})",
        f"  charges  {counts or 'none'}",
    ]
    lines += [f"  part     {name}: epsilon {down(e)}" for name, e in found["parts_left"].items()]
    if found["refundable"]:
        numbers = ", ".join(map(str, found["refundable"]))
        lines.append(f"  refunds  charges whose rows were not opened: {numbers}")
    if found["delta"] == 0:
        lines.append("  takes    pure releases only: fit with --delta 0")
    if verbose:
        at = f"delta {found['quoted_delta']:g}"
        lines += [
            f"  budget   epsilon {up(found['epsilon'])} at delta {found['delta']:g}",
            f"  used     {found['used_share']:.1%} of the privacy filter that has most left",
            f"  left     epsilon {down(found['epsilon_left_at_quoted_delta'])} at {at}, of any "
            f"noise; {down(found['epsilon_left_pure'])} pure; "
            f"{down(found['epsilon_left_gaussian'])} with Gaussian noise",
            f"  total    epsilon {up(found['epsilon_total'])} at delta {found['delta']:g}, "
            "if all had been fixed in advance",
        ]
        if found["notes"]:
            lines.append(f"  notes    {found['notes']}")
        lines.append(f"  opened   by {found['opened_by']}, {found['opened_at'][:19]} UTC")
    return "\n".join(map(_blank_unprintable, lines))


def _persons(found: dict[str, Any]) -> str:
    if found["person"]:
        return f", a person is whoever shares a value of {found['person']}"
    rows = found["rows_per_person"]
    return "" if rows == 1 else f", charged for {rows} records together"


def _blank_unprintable(line: str) -> str:
    """Return a line with nothing that a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in line)


@app.command()
def history(where: Where, dataset: Which = None, as_json: AsJson = False) -> None:
    """List every charge: what it cost, for what, by whom, and what became of it.

    Charges nothing itself.

    Example:

        discreet ledger history patients.db --json
    """
    entries = _open(where, dataset).history()
    lines = [_line(entry) for entry in entries] or ["No charge yet."]
    print_result("\n".join(lines), {"charges": list(map(_document, entries))}, as_json=as_json)


def _line(entry: Entry) -> str:
    from discreet.privacy.guarantee import in_three_digits as up  # slow to import

    part = "" if entry.part is None else f" (part {entry.part})"
    cost = f"epsilon {up(entry.epsilon)} at delta {entry.guarantee.quoted_delta:g}"
    return _blank_unprintable(
        f"{entry.number:5d}  {entry.time:%Y-%m-%d %H:%M:%S}  {entry.state.value:8s}  {cost:32s}  "
        f"{entry.purpose}{part}  {entry.actor}"
    )


def _document(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time.isoformat(),
        "state": entry.state.value,
        "epsilon": entry.epsilon,
        "delta": entry.guarantee.quoted_delta,
        "purpose": entry.purpose,
        "part": entry.part,
        "actor": entry.actor,
        "version": entry.version,
        "digest": entry.digest,
        "guarantee": json.loads(entry.guarantee.to_json()),
    }


@app.command()
def verify(
    where: Where,
    dataset: Which = None,
    known: Annotated[
        str | None,
        typer.Option(help="A digest kept elsewhere, of a card or an earlier verification."),
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option(help="A file of anchors kept elsewhere, or one anchor as it was printed."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the ledger line by line; exit with 1 if it is not sound.

    Anchors that were kept elsewhere show whether the history was rewritten as a whole, or an older
    copy put in its place: every line that was anchored must still be there. Charges nothing.

    Example:

        discreet ledger verify patients.db --anchor anchors.jsonl
    """
    from discreet.ledger import Ledger, read_anchors  # slow to import

    anchors = () if anchor is None else read_anchors(anchor)
    if dataset is None:
        found = Ledger.verify_all(where, known, anchors=anchors)
    else:
        found = (Ledger(where, dataset).verify(known, anchors=anchors),)
    problems = [f"{each.dataset}: {problem}" for each in found for problem in each.problems]
    document = {
        "is_sound": not problems,
        "problems": problems,
        "datasets": [
            {"name": each.dataset, "lines": each.lines, "charges": each.charges, "head": each.head}
            for each in found
        ],
    }
    print_result("\n".join(each.sentence() for each in found), document, as_json=as_json)
    if problems:
        print_note(f"{len(problems)} problem(s) in this ledger: {problems[0]}.")
        raise typer.Exit(console.REFUSED)


@app.command()
def anchor(
    where: Where,
    dataset: Which = None,
    to: Annotated[
        Path | None, typer.Option(help="Add it to this file, best on another machine.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the last line of each history, to be kept outside of the ledger.

    Whoever keeps it sees later, with verify --anchor, whether an older copy was put in the place of
    the ledger, or the whole of it rewritten. Print it, mail it, or collect it on another machine.
    Charges nothing.

    Example:

        discreet ledger anchor patients.db | ssh archive 'cat >> anchors.jsonl'
    """
    found = [each.anchor() for each in _open_each(where, dataset)]
    if to is not None:
        from discreet.ledger.durable.anchor import append_anchors  # slow to import

        append_anchors(found, to)
    document = {"anchors": [asdict(each) for each in found], "file": to and str(to)}
    print_result("\n".join(each.to_text() for each in found), document, as_json=as_json)


@app.command()
def refund(
    where: Where,
    number: Annotated[int, typer.Argument(help="Of the charge.", metavar="NUMBER")],
    dataset: Which = None,
    as_json: AsJson = False,
) -> None:
    """Give a charge back whose rows were never opened, because its process died.

    A process that is still alive and holds the receipt can then no longer open the rows.

    Example:

        discreet ledger refund patients.db 12
    """
    books = _open(where, dataset)
    books.refund(number)
    left = books.allowance()
    print_result(
        f"Charge {number} is refunded. {left.sentence()}",
        {
            "charge": number,
            "state": "refunded",
            "used_share": books.used(),
            "epsilon_left": left.epsilon,
        },
        as_json=as_json,
    )


@app.command()
def plot(
    where: Where,
    out: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")],
    dataset: Which = None,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw how the privacy budget was used up, charge by charge.

    Charges nothing itself.

    Example:

        discreet ledger plot patients.db --out budget.png
    """
    from discreet.cli.ledger_plot import draw

    check_new(out, force=force)
    books = _open(where, dataset)
    draw(books, out)
    print_result(
        f"Wrote {out}.", {"picture": str(out), "used_share": books.used()}, as_json=as_json
    )
