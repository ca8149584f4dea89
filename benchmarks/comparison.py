"""What ``utility.py`` measured, as Markdown: ours beside peers, who is ahead, what is missed.

Peers' figures are those of ``peers/utility.json``, each from the setting that was best on the test
part. ``goals.json`` has what a prototype of the defaults reached, less .002 (.01 for small tables
and for text) of AUC and accuracy; 0.3 points below that is still a goal reached. Its goals of R2
are a prototype's less .01. ``earlier.json`` has what the defaults before reached, measured in the
same way.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cells import Cell, Cells, Measured

import tables

HERE = Path(__file__).parent
SCORES = ("accuracy", "AUC", "log loss")
OURS = "LinearClassifier"
HINTED = "LinearClassifier, expected_rows"
REGRESSOR = "LinearRegressor"
PRIVATE_PEERS = ("Opacus", "diffprivlib")
ALIKE = 0.001
SLACK = 0.003
BEGIN, END = "<!-- made by make utility -->", "<!-- end of what make utility made -->"
EVERY_EPSILON = (*tables.EPSILONS, math.inf)


class Met(NamedTuple):
    """One of our cells beside a peer's: positive ``lead`` is better, whatever the score."""

    score: str
    table: str
    epsilon: float
    peer: str
    lead: float
    error: float

    @property
    def verdict(self) -> str:
        if abs(self.lead) <= max(ALIKE, self.error):
            return "level"
        return "ahead" if self.lead > 0 else "behind"

    def __str__(self) -> str:
        return f"{self.table} at {self.epsilon:g} {self.lead:+.4f} ± {self.error:.4f}"


class Comparison:
    """Ours, peers, goals and earlier figures by score, table and epsilon."""

    def __init__(self, ours: Cells, peers: Path, goals: Path, earlier: Path) -> None:
        self.ours, self.hinted = _by_score(ours, OURS), _by_score(ours, HINTED)
        self.squares = {
            (cell.table, cell.epsilon): Measured.of(fit[0] for fit in fits)
            for cell, fits in ours.found.items()
            if cell.model == REGRESSOR
        }
        self.names = [name for name in tables.CLASSES if (SCORES[0], name, math.inf) in self.ours]
        self.peers = json.loads(peers.read_text()) if peers.exists() else {}
        self.goals = json.loads(goals.read_text())
        self.earlier = json.loads(earlier.read_text()) if earlier.exists() else {}

    def of_peer(self, peer: str, score: str, name: str, epsilon: float) -> Measured | None:
        """Return the best of a peer, or None if it was not measured."""
        if peer not in self.peers.get(name, {}):
            return None
        place = tables.EPSILONS.index(epsilon) if math.isfinite(epsilon) else 0
        return Measured(*self.peers[name][peer][place][SCORES.index(score)][:2])

    def meetings(self, score: str, peer: str) -> Iterator[Met]:
        """Yield every cell of a score that the peer has too."""
        for name in self.names:
            for epsilon in tables.EPSILONS:
                if theirs := self.of_peer(peer, score, name, epsilon):
                    yield _meet(self.ours[score, name, epsilon], theirs, score, name, epsilon, peer)

    def changes(self, score: str) -> Iterator[Met]:
        """Yield every cell of a score beside what it was with the defaults before."""
        for name in self.names:
            for place, epsilon in enumerate(tables.EPSILONS):
                if name in self.earlier:
                    before = Measured(*self.earlier[name][place][SCORES.index(score)])
                    ours = self.ours[score, name, epsilon]
                    yield _meet(ours, before, score, name, epsilon, "before")

    def hints(self, score: str) -> Iterator[Met]:
        """Yield every cell of a score, told how many rows there are, beside the one that is not."""
        for key, hinted in self.hinted.items():
            if key[0] == score and math.isfinite(key[2]):
                yield _meet(hinted, self.ours[key], *key, "not told")

    def missed_goals(self) -> Iterator[str]:
        for score in ("AUC", "accuracy"):
            for name in self.names:
                for epsilon, goal in self._goals_of(score, name):
                    mean, error = self.ours[score, name, epsilon]
                    if mean < goal - SLACK:
                        yield (
                            f"{score} of {name} at {epsilon:g}: {_number(mean)} ± "
                            f"{_number(error)}, goal {_number(goal)} less {_number(SLACK)}"
                        )

    def _goals_of(self, score: str, name: str) -> Iterator[tuple[float, float]]:
        if name in self.goals[score]:
            yield from zip(tables.EPSILONS, self.goals[score][name], strict=True)

    def gaps(self) -> Iterator[tuple[str, float, float]]:
        """Yield what privacy costs of AUC at epsilon 0.1: ours, and that of the best peer."""
        for name in self.names:
            best = [self.of_peer(peer, "AUC", name, 0.1) for peer in PRIVATE_PEERS]
            limit = self.of_peer("scikit-learn", "AUC", name, math.inf)
            if limit and (known := [found.mean for found in best if found]):
                yield name, limit.mean - self.ours["AUC", name, 0.1].mean, limit.mean - max(known)

    def page(self) -> str:
        """Return everything as Markdown."""
        parts = [part for score in SCORES for part in (self._table(score), self._verdicts(score))]
        parts += [self._gaps(), self._missed(), *self._changes(), self._squares()]
        return "\n\n".join(parts) + "\n"

    def _table(self, score: str) -> str:
        behind = {
            (met.table, met.epsilon)
            for peer in PRIVATE_PEERS
            for met in self.meetings(score, peer)
            if met.verdict == "behind"
        }
        lines = [
            f"**{score[0].upper()}{score[1:]}**: ours / Opacus / diffprivlib\n",
            "| data | 0.1 | 0.3 | 1 | 3 | infinite: ours / scikit-learn |",
            "|---|---|---|---|---|---|",
        ]
        for name in self.names:
            cells = []
            for epsilon in EVERY_EPSILON:
                ours = _said(self.ours[score, name, epsilon])
                others = PRIVATE_PEERS if math.isfinite(epsilon) else ("scikit-learn",)
                found = [self.of_peer(peer, score, name, epsilon) for peer in others]
                told = [f"*{ours}*" if (name, epsilon) in behind else ours]
                cells.append(" / ".join(told + [_said(one) if one else "-" for one in found]))
            size = " x ".join(f"{n:,}" for n in self.peers.get(name, {}).get("rows, columns", ()))
            lines.append(f"| {name} {size}".rstrip() + " | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def _verdicts(self, score: str) -> str:
        lines = []
        for peer in PRIVATE_PEERS:
            met = list(self.meetings(score, peer))
            counts = Counter(one.verdict for one in met)
            lines.append(
                f"{score}, ours against {peer}: ahead {counts['ahead']} / level "
                f"{counts['level']} / behind {counts['behind']} of {len(met)} cells."
            )
            if behind := [str(one) for one in met if one.verdict == "behind"]:
                lines[-1] += " Behind: " + "; ".join(behind) + "."
        return "\n\n".join(lines)

    def _gaps(self) -> str:
        gaps = list(self.gaps())
        small = [name for name, ours, theirs in gaps if ours <= max(theirs / 3, ALIKE)]
        told = "; ".join(f"{name} {ours:.4f} / {theirs:.4f}" for name, ours, theirs in gaps)
        return (
            "What privacy costs at epsilon 0.1 (AUC below scikit-learn's), ours / best peer: "
            f"{told}. At most a third of the peer's, or {ALIKE:g}, on {len(small)} of {len(gaps)}"
            " tables" + (f": {', '.join(small)}." if small else ".")
        )

    def _missed(self) -> str:
        missed = list(self.missed_goals())
        count = sum(len(list(self._goals_of(s, n))) for s in SCORES[:2] for n in self.names)
        return f"Goals missed: {len(missed)} of {count}." + "".join(f"\n- {one}" for one in missed)

    def _changes(self) -> Iterator[str]:
        for score in SCORES:
            if met := list(self.changes(score)):
                yield f"{score}, against the defaults before: {_count_changes(met)}"
        for score in SCORES:
            if met := list(self.hints(score)):
                yield f"{score}, told how many rows (`expected_rows`): {_count_changes(met)}"

    def _squares(self) -> str:
        lines = [
            "**R2** of `LinearRegressor`; in italics below a goal\n",
            "| data | 0.1 | 0.3 | 1 | 3 |",
            "|---|---|---|---|---|",
        ]
        for name in (name for name in tables.NUMBERS if (name, 0.1) in self.squares):
            goals, cells = dict(self._goals_of("R2", name)), []
            for epsilon in tables.EPSILONS:
                said = _said(found := self.squares[name, epsilon])
                goal = goals.get(epsilon, -math.inf)
                cells.append(said if found.mean >= goal else f"*{said}* (goal {_number(goal)})")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def summarise(ours: Cells) -> dict[str, list[list[list[float]]]]:
    """Return means and errors by table, epsilon and score, as ``earlier.json`` keeps them."""
    return {
        name: [
            [
                [round(number, 5) for number in Measured.of(fit[place] for fit in fits)]
                for place in range(len(SCORES))
            ]
            for epsilon in tables.EPSILONS
            for fits in [ours.found[Cell(name, OURS, epsilon)]]
        ]
        for name in tables.CLASSES
        if Cell(name, OURS, tables.EPSILONS[-1]) in ours.found
    }


def _by_score(cells: Cells, model: str) -> dict[tuple[str, str, float], Measured]:
    return {
        (score, cell.table, cell.epsilon): Measured.of(fit[place] for fit in fits)
        for cell, fits in cells.found.items()
        if cell.model == model
        for place, score in enumerate(SCORES)
    }


def _count_changes(met: list[Met]) -> str:
    better = [str(one) for one in met if one.lead > one.error]
    worse = [str(one) for one in met if one.lead < -one.error]
    return (
        f"better by more than one standard error in {len(better)}, worse in {len(worse)} of "
        f"{len(met)} cells" + (": " + "; ".join(worse) if worse else "") + "."
    )


def insert(page: Path, text: str) -> None:
    """Put the text between the two marks of a page."""
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + "\n" + text + END + rest.split(END)[1])


def _meet(
    ours: Measured, theirs: Measured, score: str, name: str, epsilon: float, peer: str
) -> Met:
    lead = ours.mean - theirs.mean if score != "log loss" else theirs.mean - ours.mean
    return Met(score, name, epsilon, peer, lead, math.hypot(ours.error, theirs.error))


def _said(found: Measured) -> str:
    return _number(found.mean) + (f" ± {_number(found.error)}" if found.error >= 5e-5 else "")


def _number(value: float) -> str:
    return f"{value:.4f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.4f}"
