"""The page with everything that the audits found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from audits.draws import Drawn
from audits.mechanisms import DELTA, GOAL, Cell
from audits.mutants import SURVIVORS, Broken, Finding
from audits.tightness import Tightness
from discreet.audit.cases import Case

Attacked = tuple[Broken, Finding, Finding]
"""A mutant, what was found in it, and what in its sound original."""


def short(cell: Cell) -> str:
    """Return a cell as a line for a terminal."""
    found = cell.found
    return (
        f"{found.subject:<68} {found.trials:>9,} trials {cell.seconds:>5.0f} s  "
        f"{100 * cell.reached:>4.0f} %  {cell.verdict.split(';')[0]}"
    )


def short_of_exact(one: Tightness) -> str:
    """Return a line for a terminal."""
    verdict = "VIOLATED" if one.violated else "not refuted"
    return (
        f"logistic loss by quadrature, {one.unit}, epsilon {one.epsilon:g}: "
        f"{100 * one.share_of_mu:.1f} % of mu, {verdict}"
    )


def short_of_draw(one: Drawn) -> str:
    """Return a line for a terminal."""
    verdict = "VIOLATED" if one.violated else "not refuted"
    return (
        f"exact draw, {one.name}, {one.unit}, epsilon {one.epsilon:g}: "
        f"{100 * one.share:.1f} % of epsilon, {verdict}"
    )


def is_fine(
    cells: Sequence[Cell],
    exact: Sequence[Tightness],
    findings: Sequence[Attacked],
    draws: Sequence[Drawn] = (),
) -> bool:
    """Say whether every claim stands, every mutant is caught and no original is accused."""
    return not (
        any(cell.found.violated for cell in cells)
        or any(one.violated for one in exact)
        or any(one.violated or one.share < GOAL for one in draws)
        or any(found.violated == (broken in SURVIVORS) for broken, found, _ in findings)
        or any(original.violated for _, _, original in findings)
    )


def write(
    cells: Sequence[Cell],
    exact: Sequence[Tightness],
    findings: Sequence[Attacked],
    *,
    draws: Sequence[Drawn] = (),
    missing: Sequence[Case] = (),
    machine: str,
    seed: int,
) -> str:
    """Return the page; what was not attacked yet is named on it."""
    parts = [
        "# What the auditor found",
        "Written by `make audit`; do not edit. How it is certified: `auditing.md`.",
        f"Machine: {machine}. Seed of all rehearsals: {seed}.",
        _mechanisms(cells, missing),
        _exact(exact),
        _draws(draws),
        _mutants([each for each in findings if each[0] not in SURVIVORS]),
        _survivors([each for each in findings if each[0] in SURVIVORS]),
    ]
    return "\n\n".join(parts) + "\n"


def _mechanisms(cells: Sequence[Cell], missing: Sequence[Case]) -> str:
    violated = sum(cell.found.violated for cell in cells)
    tight = [cell for cell in cells if cell.case.is_tight]
    reached = sum(cell.reached >= GOAL for cell in tight)
    error = sum(1 - cell.found.confidence for cell in cells)
    first, last = (some([cell.day for cell in cells]) for some in (min, max))
    days = f"on {first}" if first == last else f"from {first} to {last}"
    lines = [
        "## Every mechanism, both units, three epsilons",
        "",
        f"{len(cells)} audits {days}, of which {violated} refute a claim. All verdicts together "
        f'are wrong with a chance of at most {100 * error:.2g} %. "At least" is certain of epsilon '
        f"whatever the mechanism; mu, where delta = {DELTA:g}, refutes Gaussian profiles. Part: "
        f"the certified part of epsilon if the claim is pure, of mu otherwise; where the analysis "
        f"is tight on the pair it reaches {100 * GOAL:.0f} % in {reached} of {len(tight)} audits. "
        "Power: the chance to catch twice the claimed privacy loss. Picture: `audit.png`.",
        *_told_missing(missing),
        "",
        "| mechanism | unit | claimed | at least | mu claimed | mu at least | part | trials "
        "| power | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_mechanism(cell) for cell in cells]
    return "\n".join(lines)


def _told_missing(missing: Sequence[Case]) -> list[str]:
    """Say which cells of the table have not been attacked at full strength yet."""
    if not missing:
        return []
    counts = Counter(case.label for case in missing)
    told = ", ".join(f"{label} ({count})" for label, count in counts.items())
    return [
        "",
        f"{len(missing)} audits are still to be made (`python -m audits --missing`), and say "
        f"nothing here: {told}.",
    ]


def _mechanism(cell: Cell) -> str:
    found, is_pure = cell.found, cell.case.budget.delta == 0
    mus = " | " if is_pure else f"{found.claimed_mu:.4f} | {found.lower_mu:.4f}"
    return (
        f"| {cell.case.label} | {found.unit} | {found.claimed:.3g} | {found.lower_bound:.3f} "
        f"| {mus} | {100 * cell.reached:.0f} % | {found.trials:,} | {found.power:.2f} "
        f"| {cell.verdict} |"
    )


def _exact(exact: Sequence[Tightness]) -> str:
    lines = [
        "## The logistic loss, by quadrature",
        "",
        "Gaussian objective perturbation on a pair where the slope of the logistic loss is near "
        "its bound for eight standard deviations: the true delta at the epsilon asked, against the "
        "declared one. On a line it is a lower bound of the truth; in the plane (replace) an "
        "estimate by quadrature.",
        "",
        "| unit | epsilon | true delta | declared | part of mu |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.unit} | {one.epsilon:g} | {one.true:.3g} | {one.declared:.3g} "
        f"| {100 * one.share_of_mu:.1f} % |"
        for one in exact
    ]
    return "\n".join(lines)


def _draws(draws: Sequence[Drawn]) -> str:
    lines = [
        "## Draws, by their exact laws",
        "",
        "The exponential mechanism on lattices so coarse that every chance is computed: the "
        "largest log ratio on a worst-case pair, against the epsilon claimed.",
        "",
        "| answer | unit | epsilon | reached | part |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.name} | {one.unit} | {one.epsilon:g} | {one.reached:.4f} "
        f"| {100 * one.share:.1f} %{' VIOLATED' if one.violated else ''} |"
        for one in draws
    ]
    return "\n".join(lines)


def _mutants(findings: Sequence[Attacked]) -> str:
    caught = sum(found.violated for _, found, _ in findings)
    accused = sum(original.violated for _, _, original in findings)
    lines = [
        "## Mutants",
        "",
        f"{caught} of {len(findings)} deliberately broken mechanisms are caught, and {accused} of "
        "their sound originals accused, each at a confidence of 1 - 1e-8. Power: the least chance "
        "that the same attack with other noise catches it too.",
        "",
        "| mutant | what is wrong | claimed | at least | original | trials | power |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {found.name} ({found.mechanism}) | {broken.breaks} | {found.measure} "
        f"{found.claimed:.3g} | {found.found:.3g}{'' if found.violated else ' NOT CAUGHT'} "
        f"| {original.found:.3g} | {f'{found.trials:,}' if found.trials else 'exact'} "
        f"| {found.power:.4f} |"
        for broken, found, original in findings
    ]
    return "\n".join(lines)


def _survivors(findings: Sequence[Attacked]) -> str:
    lines = [
        "## What looks broken and is not",
        "",
        "| variant | why it is private as claimed | claimed | at least |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {found.name} ({found.mechanism}) | {broken.breaks} | {found.measure} "
        f"{found.claimed:.3g} | {found.found:.3g}{' ACCUSED' if found.violated else ''} |"
        for broken, found, _ in findings
    ]
    return "\n".join(lines)
