"""docs/from_diffprivlib.md lists every public name of diffprivlib; what it names of ours exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "from_diffprivlib.md"
VERDICTS = {"same", "other name", "not here"}
THEIRS = {
    "diffprivlib": "BudgetAccountant mechanisms models tools",
    "models": (
        "DecisionTreeClassifier GaussianNB KMeans LinearRegression LogisticRegression PCA"
        " RandomForestClassifier StandardScaler"
    ),
    "tools": (
        "count_nonzero histogram histogram2d histogramdd mean median nanmean nanstd nansum nanvar"
        " percentile quantile std sum var"
    ),
    "mechanisms": (
        "Binary Bingham DPMachine DPMechanism Exponential ExponentialCategorical"
        " ExponentialHierarchical Gaussian GaussianAnalytic GaussianDiscrete Geometric"
        " GeometricFolded GeometricTruncated Laplace LaplaceBoundedDomain LaplaceBoundedNoise"
        " LaplaceFolded LaplaceTruncated PermuteAndFlip Snapping Staircase"
        " TruncationAndFoldingMixin Uniform Vector"
    ),
    "transforms": "DPTransformer IntToString RoundedInteger StringToInt",
    "validation": "DiffprivlibMixin check_bounds check_epsilon_delta clip_to_bounds clip_to_norm",
    "utils": (
        "Budget BudgetError DiffprivlibCompatibilityWarning PrivacyLeakWarning check_random_state"
        " copy_docstring warn_unused_args"
    ),
}
"""What the modules of diffprivlib 0.6.6 offer: written down from its installed package."""


def section():
    text = PAGE.read_text(encoding="utf-8")
    return text.split("## Every public name", 1)[1].split("\n## ", 1)[0]


def lines():
    """Return the lines of the tables: names of theirs, the verdict, what is here."""
    rows = re.findall(r"^\| (`.+?) \| (.+?) \| (.+) \|$", section(), re.MULTILINE)
    return [(re.findall(r"`(\w+)`", theirs), verdict, ours) for theirs, verdict, ours in rows]


def ours():
    return sorted(set(re.findall(r"`(discreet(?:\.\w+)+)`", section())))


def test_every_public_name_of_theirs_is_listed_once():
    listed = [name for names, _, _ in lines() for name in names if name != "transforms"]
    known = [name for names in THEIRS.values() for name in names.split()]
    assert sorted({*listed} - {*known}) == ["bernoulli_neg_exp"]
    assert [name for name in known if listed.count(name) != 1] == []


def test_each_line_says_what_became_of_a_name():
    assert {verdict for _, verdict, _ in lines()} == VERDICTS
    assert all("`discreet." in here for _, verdict, here in lines() if verdict == "same")


@pytest.mark.parametrize("name", ours())
def test_every_name_of_ours_exists(name):
    room, _, last = name.rpartition(".")
    assert hasattr(importlib.import_module(room), last) or importlib.import_module(name)


@pytest.mark.parametrize("line", [line for line in lines() if line[1] == "same"], ids=str)
def test_what_is_called_the_same_is_in_the_adapters(line):
    names, _, here = line
    for name in names:
        assert f".{name}`" in here or name == "Budget"
