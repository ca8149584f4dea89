"""What audits found, kept as lines of JSON, so that a study can stop and go on.

A line is written as soon as something was found; of two lines about the same, the later one counts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from audits.mechanisms import Cell
from audits.mutants import Finding
from discreet.audit import AuditResult
from discreet.audit.cases import Case

FOUND = Path(__file__).parent / "found"


@dataclass(frozen=True)
class Store:
    """A folder with what was found in mechanisms and in mutants, and on which day.

    Events that an audit tested are not kept: seed and trials repeat them.
    """

    folder: Path = FOUND

    def keep_cell(self, cell: Cell) -> None:
        """Keep what was found in a mechanism."""
        found = json.loads(replace(cell.found, evidence=()).to_json())
        self._append("mechanisms", cell.case.subject, {"day": cell.day, "found": found})

    def cells(self, cases: list[Case]) -> list[Cell]:
        """Return what is known of these cases, in their order."""
        lines = self._read("mechanisms")
        return [
            Cell(
                case,
                AuditResult.from_json(json.dumps(lines[case.subject]["found"])),
                day=lines[case.subject]["day"],
            )
            for case in cases
            if case.subject in lines
        ]

    def keep_findings(self, found: Finding, original: Finding) -> None:
        """Keep what was found in a mutant and in its original."""
        line = {"day": today(), "found": asdict(found), "original": asdict(original)}
        self._append("mutants", found.name, line)

    def findings(self) -> dict[str, tuple[Finding, Finding]]:
        """Return what is known of mutants and their originals, by name."""
        return {
            name: (Finding(**line["found"]), Finding(**line["original"]))
            for name, line in self._read("mutants").items()
        }

    def _append(self, kind: str, name: str, line: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._path(kind).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **line}, default=_plain) + "\n")

    def _read(self, kind: str) -> dict[str, dict[str, Any]]:
        if not self._path(kind).exists():
            return {}
        lines = map(json.loads, self._path(kind).read_text(encoding="utf-8").splitlines())
        return {line["name"]: line for line in lines}

    def _path(self, kind: str) -> Path:
        return self.folder / f"{kind}.jsonl"


def today() -> str:
    """Return the date."""
    return date.today().isoformat()


def _plain(number: Any) -> Any:
    """Return a NumPy number as Python's."""
    return number.item()
