"""The recipes of CONTRIBUTING are enough: a toy of each kind, made by touching only their files.

The toys are added to a copy of the project, and the project's own tests then run for them there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "tests" / "recipes"
ONE_AFTER_THE_OTHER = """
import json, sys, pytest
for checks in json.loads(sys.argv[1]):
    if pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *checks]) != 0:
        sys.exit(1)
"""
"""Runs tests in one process, which is imported into once."""

COPIED = (
    "src", "tests", "audits", "reproductions", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
    "docs",
)  # fmt: skip


@dataclass(frozen=True)
class Toy:
    """What is added to a copy of the project, and what must hold of it there.

    Parameters
    ----------
    recipes
        The headings that are followed.
    files
        New files, by where they go, and the text of each.
    lines
        Lines that are added to other files: before which, and what.
    checks
        Which tests run for the toy.
    passing
        How many of them there are at least.
    """

    recipes: tuple[str, ...]
    files: dict[str, str]
    lines: dict[str, list[tuple[str, str]]]
    checks: tuple[str, ...]
    passing: int


TOYS = {
    "loss": Toy(
        ("A loss",),
        {"src/discreet/losses/half_logistic.py": "half_logistic"},
        {
            "src/discreet/losses/__init__.py": [
                ("\nLOSSES:", "from discreet.losses.half_logistic import HalfLogistic\n"),
                ("    Hinge,\n", "    HalfLogistic,\n"),
                ('    "Hinge",\n', '    "HalfLogistic",\n'),
            ],
            "tests/support/examples.py": [
                ("    Hinge,\n", "    HalfLogistic,\n"),
                ("    Logistic: [Logistic()],\n", "    HalfLogistic: [HalfLogistic()],\n"),
            ],
        },
        ("tests/losses/test_every_loss.py", "tests/artifact/test_codec.py", "-k", "HalfLogistic"),
        passing=10,
    ),
    "question and mechanism": Toy(
        ("A question", "A mechanism"),
        {
            "src/discreet/questions/entry_total.py": "entry_total",
            "src/discreet/mechanisms/entry_sum.py": "entry_sum",
            "src/discreet/mechanisms/entry_sum.md": "entry_sum_note",
            "src/discreet/audit/cases/entry_sum.py": "entry_sum_pairs",
            "audits/mutants/entry_sum.py": "entry_sum_mutants",
        },
        {
            "src/discreet/questions/__init__.py": [
                ("\nQUESTIONS:", "from discreet.questions.entry_total import EntryTotal\n"),
                ("    Mixture,\n    ModelChoice,\n", "    EntryTotal,\n"),
                ('    "Interval",\n', '    "EntryTotal",\n'),
            ],
            "tests/support/examples.py": [
                ("    Interval,\n", "    EntryTotal,\n"),
                ("    VectorSum: [", "    EntryTotal: [EntryTotal(BALL)],\n"),
            ],
            "src/discreet/mechanisms/__init__.py": [
                (
                    "    from discreet.mechanisms.exponential_sampling",
                    "    from discreet.mechanisms.entry_sum import EntrySum as EntrySum\n",
                ),
                ('    "LaplaceSum": ', '    "EntrySum": "entry_sum",\n'),
            ],
        },
        (
            "tests/questions/test_every_question.py",
            "tests/mechanisms/test_every_mechanism.py",
            "tests/mechanisms/test_registry.py",
            "tests/mechanisms/test_refusals.py",
            "tests/audit/test_cases.py",
            "tests/audit/test_mutants.py",
            "tests/report/test_every_card.py",
            "tests/test_project.py",
            "-k",
            "EntryTotal or entry or registered or registry or listed or note",
        ),
        passing=25,
    ),
    "metric": Toy(
        ("A metric",),
        {},
        {
            "src/discreet/metrics/two_classes.py": [
                ('    "prevalence",\n)', '    "miss_rate",\n'),
                (
                    '            "prevalence": (',
                    '            "miss_rate": (stack(none, ~above), stack(none, every)),\n',
                ),
            ],
            "tests/metrics/test_two_classes.py": [
                (
                    '        "roc_auc": plain',
                    '        "miss_rate": 1 - plain.recall_score(y, said),\n',
                ),
            ],
            "docs/evaluation.md": [("prevalence | two bins", "miss_rate, ")],
        },
        (
            "tests/metrics/test_two_classes.py",
            "-k",
            "without_noise or wider or whatever_the_counts or table_of_the_page",
        ),
        passing=7,
    ),
    "estimator": Toy(
        ("An estimator",),
        {"src/discreet/location/first_quartile.py": "first_quartile"},
        {
            "src/discreet/location/__init__.py": [
                (
                    "from discreet.location.geometric_median",
                    "from discreet.location.first_quartile import FirstQuartile\n",
                ),
                ('"GeometricMedian", ', '"FirstQuartile", '),
            ],
            "README.md": [
                (
                    "| another location, ",
                    "| a first quartile | `location.FirstQuartile(bounds=(low, high))` |\n",
                )
            ],
        },
        (
            "tests/estimators/test_every_door.py",
            "tests/estimators/test_odd_cells.py",
            "tests/estimators/test_rules_of_scikit_learn.py",
            "tests/artifact/test_folder.py",
            "tests/test_docstrings.py",
            "tests/test_project.py",
            "-k",
            "FirstQuartile or every_estimator_is or table_of_the_readme"
            " or test_docstrings and location",
        ),
        passing=60,
    ),
    "source": Toy(
        ("A source of tables",),
        {"src/discreet/data/stored/held_columns.py": "held_columns"},
        {
            "src/discreet/data/stored/sources.py": [
                (
                    "from discreet.data.stored.parquet",
                    "from discreet.data.stored.held_columns import HeldColumns\n",
                ),
                ("    ParquetTable,\n", "    HeldColumns,\n"),
            ],
            "tests/support/doors.py": [
                ("\nDOORS = (", (TEXTS / "held_columns_door.txt").read_text()),
                ('    Door("Parquet file",', '    Door("held columns", _draw_held_columns),\n'),
            ],
        },
        ("tests/test_doors.py", "-k", "held or same_table"),
        passing=2,
    ),
    "file format": Toy(
        ("A file format",),
        {"src/discreet/data/stored/feather.py": "feather"},
        {
            "src/discreet/data/stored/sources.py": [
                (
                    "from discreet.data.stored.file_table",
                    "from discreet.data.stored.feather import FeatherTable\n",
                ),
                ("    ParquetTable,\n", "    FeatherTable,\n"),
            ],
            "tests/support/doors.py": [
                ("\nDOORS = (", (TEXTS / "feather_door.txt").read_text()),
                (
                    '    Door("Parquet file",',
                    '    Door("Feather", partial(_draw_feather, how="file")),\n'
                    '    Door("command line, Feather", '
                    'partial(_draw_feather, how="command line")),\n',
                ),
            ],
        },
        ("tests/test_doors.py", "-k", "Feather"),
        passing=2,
    ),
}


def files_of(recipe):
    """Return the files that a recipe of CONTRIBUTING names, as patterns."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(rf"\n### {recipe}\n(.*?)\n##", text, re.DOTALL).group(1)
    return re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)


def is_named(path, names):
    """Say whether a file is one of those named; ``x`` stands for any new name."""
    return any(re.fullmatch(re.escape(name).replace("/x\\.", r"/\w+\."), path) for name in names)


@pytest.mark.parametrize("kind", TOYS)
def test_a_toy_needs_no_file_but_those_of_its_recipe(kind):
    toy = TOYS[kind]
    names = [name for recipe in toy.recipes for name in files_of(recipe)]
    touched = [*toy.files, *toy.lines]
    assert [path for path in touched if not is_named(path, names)] == []
    assert [name for name in names if not any(is_named(path, [name]) for path in touched)] == []


def test_what_runs_for_all_runs_for_a_toy_of_each_kind(tmp_path):
    for name in (*COPIED, "pyproject.toml", "Makefile"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    for toy in TOYS.values():
        add_to(tmp_path, toy)
    checks = [toy.checks for toy in TOYS.values()]
    run = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER, json.dumps(checks)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    passed = map(int, re.findall(r"(\d+) passed", run.stdout))
    for (kind, toy), number in zip(TOYS.items(), passed, strict=True):
        assert number >= toy.passing, kind


def add_to(project, toy):
    """Add a toy to a copy of the project."""
    for path, text in toy.files.items():
        (project / path).write_text((TEXTS / f"{text}.txt").read_text())
    for path, lines in toy.lines.items():
        text = (project / path).read_text()
        for before, line in lines:
            assert before in text, (path, before)
            text = text.replace(before, line + before, 1)
        (project / path).write_text(text)
