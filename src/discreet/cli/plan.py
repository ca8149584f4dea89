"""``discreet plan``: what a model will be worth, predicted before any data is read."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet import _checks
from discreet.cli.console import AsJson, print_result, show_status
from discreet.cli.late_help import LEARNERS
from discreet.cli.new_files import check_new, new_file
from discreet.cli.shared_options import Delta, ModelKind, SchemaFile

if TYPE_CHECKING:
    from discreet.planning import Answer, Ceiling, Cell, Planner, Prediction, PublicFacts
    from discreet.schema import Schema

ROWS = (1_000, 10_000, 100_000)


def plan(
    schema_file: SchemaFile,
    epsilon: Annotated[
        list[float] | None,
        typer.Option(
            help="A privacy budget; may be repeated. [the schema's, or five from 0.1 to 10]"
        ),
    ] = None,
    n: Annotated[
        list[int] | None,
        typer.Option("--n", help="A guess at the number of rows, or of persons; may be repeated."),
    ] = None,
    rows_each: Annotated[
        int,
        typer.Option(help="A guess at how many rows a person has, if the schema names their ids."),
    ] = 1,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(help=f"May be repeated: auto, {LEARNERS}."),
    ] = None,
    kind: ModelKind = "linear",
    signal: Annotated[
        float | None,
        typer.Option(
            help="The accuracy (or R2) of the best linear, or additive, model without privacy. "
            "[0.85 or 0.6]"
        ),
    ] = None,
    majority: Annotated[
        float | None, typer.Option(help="The share of the most frequent class. [equal shares]")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(help="Also say which epsilon, and how many rows, reach it (or this R2)."),
    ] = None,
    delta: Delta = None,
    draws: Annotated[
        int, typer.Option(help="How many synthetic data sets to simulate, twice.")
    ] = 5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same prediction.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw it to this new .png, .svg or .pdf file.")
    ] = None,
    theorems: Annotated[
        bool, typer.Option("--theorems", help="Also say what is proved about any such table.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing plot.")] = False,
    as_json: AsJson = False,
) -> None:
    """Predict accuracy for several epsilons, numbers of rows and mechanisms; reads no data.

    A simulation: synthetic tables are drawn from the schema alone, with a planted model as strong
    as --signal says, and models are fitted to them. With --model additive it is a sum of curves,
    and what a linear model reaches on the same tables is said as well. A range is predicted: its
    low end is of columns that are correlated, its high end of columns that are not. It is about
    synthetic data of the declared shape, not about yours: guess --signal and --majority from the
    subject or from published work. Charges nothing.

    Example:

        discreet plan hospital/schema.toml --epsilon 1 --n 15000 --signal 0.77 --accuracy 0.75
    """
    from discreet.planning import Planner  # slow to import
    from discreet.planning.prediction_plot import check_suffix
    from discreet.schema import read

    if accuracy is not None:
        _checks.fraction(accuracy=accuracy)
    schema = read(schema_file)
    facts = _facts(schema, delta, signal, majority, kind, rows_each)
    planner = Planner(facts, draws=draws, seed=seed)
    if plot is not None:
        check_suffix(plot)
        check_new(plot, force=force)
    epsilons = _epsilons(schema, epsilon)
    mechanisms = tuple(dict.fromkeys(mechanism or [schema.mechanism]))
    rows = tuple(dict.fromkeys(n or ROWS))
    with _show_progress(len(epsilons) * len(rows) * len(mechanisms)) as each:
        prediction = planner.predict(epsilons, n=rows, mechanisms=mechanisms, each=each)
    answers: list[Answer] = []
    if accuracy is not None:
        with show_status("Searching for the epsilon and the number of rows"):
            answers = _answers(planner, accuracy, rows, (epsilon or [1.0])[0], mechanisms[0])
    if plot is not None:
        with new_file(plot, force=force) as temporary:
            prediction.plot(temporary)
    if as_json:
        document = prediction.document() | {"answers": [answer.document() for answer in answers]}
        print_result("", document, as_json=True)
        return
    _say([prediction.conclusion(), *(answer.claim() for answer in answers)])
    _show(prediction)
    proved = [_theorems_in_words(prediction)] if theorems else []
    _say([*proved, *_notes(prediction)])
    if plot is not None:
        typer.echo(f"Wrote {plot}.")


def _facts(
    schema: Schema,
    delta: float | None,
    signal: float | None,
    majority: float | None,
    kind: str,
    rows_each: int,
) -> PublicFacts:
    from discreet.additive import AdditiveClassifier, AdditiveRegressor  # slow to import
    from discreet.cli.fit_steps import MODELS
    from discreet.planning import PublicFacts

    _checks.one_of(MODELS, model=kind)
    columns, target = schema.declared_columns(), schema.target
    additive = AdditiveClassifier() if target.classes else AdditiveRegressor()
    delta = schema.delta if delta is None else delta
    return PublicFacts(
        columns,
        classes=list(target.classes) or None,
        target_range=target.range,
        delta=1e-9 if delta is None else delta,
        unit=schema.unit,
        signal=signal,
        majority=majority,
        estimator=additive if kind == "additive" else None,
        rows_each=rows_each,
        **schema.contributions(),
    )


def _epsilons(schema: Schema, asked: list[float] | None) -> tuple[float, ...]:
    from discreet.planning.planner import EPSILONS  # slow to import

    if asked is None:
        asked = [] if schema.epsilon is None else [schema.epsilon]
    return tuple(sorted(set(asked))) or EPSILONS


def _answers(
    planner: Planner, accuracy: float, rows: tuple[int, ...], epsilon: float, mechanism: str
) -> list[Answer]:
    """Return the epsilon for the largest table asked about, and the rows for the epsilon."""
    return [
        planner.which_epsilon(accuracy=accuracy, n=max(rows), mechanism=mechanism),
        planner.which_n(accuracy=accuracy, epsilon=epsilon, mechanism=mechanism),
    ]


def _show(prediction: Prediction) -> None:
    from rich.console import Console  # slow to import
    from rich.table import Table

    from discreet.privacy.guarantee import in_three_digits as up

    score, has_auc = prediction.facts.score, any(cell.auc is not None for cell in prediction)
    extra = ["AUC"] if has_auc else []
    extra += ["log loss"] if has_auc and prediction.is_rare else []
    table = Table(title=f"Predicted {score}", title_justify="left")
    counted = "persons" if prediction.facts.is_of_persons else "rows"
    for name in ("epsilon", counted, score, "no privacy", "cost", *extra):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("linear model" if prediction.facts.is_curved else "mechanism")
    for cell in prediction:
        more = [f"{value:.3f}" if value is not None else "" for value in (cell.auc, cell.log_loss)]
        shown, cost, note = "refused", "", f"{cell.mechanism}: {cell.refusal}"
        if cell.mean is not None and cell.excess is not None:
            shown, cost = cell.in_words(" to "), f"{cell.excess:z.3f}"
            note = "".join(cell.linear_in_words()) or cell.mechanism
        table.add_row(
            up(cell.epsilon),
            f"{cell.n:,}",
            shown,
            f"{cell.without_privacy:.3f}",
            cost,
            *more[: len(extra)],
            note,
        )
    Console(soft_wrap=False).print(table, markup=False)


def _theorems_in_words(prediction: Prediction) -> str:
    """Return what is proved about the largest table at the epsilon nearest to one."""
    if not prediction.ceilings:
        return ""
    from discreet.privacy.guarantee import in_three_digits as up  # slow to import

    nearest = min(prediction.ceilings, key=lambda found: (-found.n, abs(found.epsilon - 1)))
    loss = "logistic loss" if prediction.facts.is_classification else "loss"
    lines = [
        f"Theorems, for {nearest.n:,} rows, epsilon {up(nearest.epsilon)} and coefficients of norm "
        f"at most {nearest.radius:.3g}, about the mean {loss} over the fitted rows:"
    ]
    for found in prediction.ceilings:
        if (found.n, found.epsilon) != (nearest.n, nearest.epsilon):
            continue
        claim = (
            "some mechanism exceeds the least by at most"
            if found.kind == "upper"
            else "on some data every private mechanism exceeds it by at least"
        )
        lines.append(f"  {claim} {found.mean_loss:.3g} ({_proof_in_words(found)})")
    return "\n".join(lines)


def _proof_in_words(found: Ceiling) -> str:
    """Name a bound and where its proof is."""
    section, ours, _ = found.theorem.partition(" in docs/theory.md")
    if ours:
        return f'the bound "{found.name}", proved in docs/theory.md under "{section}"'
    return f'the bound "{found.name}", {found.theorem}; see docs/theory.md'


def _notes(prediction: Prediction) -> list[str]:
    """Return what is to be known about the table."""
    from discreet.planning.prediction import ABOUT  # slow to import

    scaled = sorted({cell.n for cell in prediction if cell.is_scaled})
    if not scaled:
        return [ABOUT]
    sizes = ", ".join(f"{count:,}" for count in scaled)
    return [
        f"Tables of {sizes} {prediction.facts.counted} were too large to try: smaller ones were "
        "fitted instead, with noise reduced in proportion.",
        ABOUT,
    ]


def _say(sentences: list[str]) -> None:
    said = "\n".join(sentences).strip()
    if sys.stdout.isatty():
        said = _wrap(said, shutil.get_terminal_size().columns)
    typer.echo(said)


def _wrap(text: str, width: int) -> str:
    """Break long lines between words; what follows is indented as the line is, and by two more."""
    lines = []
    for line in text.splitlines():
        margin = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, max(width, 20), subsequent_indent=f"{margin}  " if margin else ""
        ) or [""]
    return "\n".join(lines)


@contextmanager
def _show_progress(steps: int) -> Iterator[Callable[[Cell], None] | None]:
    """Show how far the prediction is, if somebody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # slow to import
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Simulating", total=steps)
        yield lambda _: bar.advance(task)
