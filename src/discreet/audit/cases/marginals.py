"""Marginals of all columns at once, and additive models on them."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.audit.cases.base import Case, exact_case
from discreet.audit.cases.pairs import only_one
from discreet.audit.statistical.pair import Pair
from discreet.mechanisms import AdditiveModel, MarginalSplits
from discreet.privacy import Budget, Unit
from discreet.questions import AdditiveProblem, Interval, Labels, LabelSet, Marginals

CLASSES = LabelSet([-1, 1])


def ends_pair(unit: Unit, last: list[float], labels: tuple[float, ...] = ()) -> Pair:
    """Records in the first cells of all columns and in the last: there or not, or another."""
    return only_one(
        unit, last, [0.0] * len(last), (labels[0], labels[1], labels[0]) if labels else ()
    )


def marginal_splits(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    question = Marginals((None, 2), CLASSES, depth=2)
    pair = ends_pair(unit, [3.0, 1.0], (-1.0, 1.0))
    for law, spent in (("laplace", pure), ("gaussian", budget)):
        yield Case(f"marginal splits, {law}", MarginalSplits(law), question, spent, pair,
                   is_tight=law == "gaussian",
                   remark="" if law == "gaussian" else "a pure epsilon is that of all numbers "
                   "being far out at once")  # fmt: skip
        for declared, what, marks in (
            (None, "", ()),
            (CLASSES, " with classes", (-1.0, 1.0)),
            (Interval(0, 1), " with a target", (0.0, 1.0)),
        ):
            asked = Marginals((None, 3, None), declared, 4, max_rows=2**20, whole=((2, 5),))
            yield exact_case(f"{law} marginals{what}", MarginalSplits(law), asked, spent,
                             ends_pair(unit, [15.0, 2.0, 4.0], marks))  # fmt: skip
        apart = Marginals((None, 3, None), depth=4, max_rows=2**20, by=1, whole=((2, 5),))
        yield exact_case(f"{law} marginals by groups", MarginalSplits(law), apart, spent,
                         ends_pair(unit, [15.0, 2.0, 4.0]))  # fmt: skip


def additive_model(unit: Unit, budget: Budget, pure: Budget) -> Iterator[Case]:
    few = ends_pair(unit, [3.0, 1.0], (-1.0, 1.0))
    for name, law, labels, spent in (
        ("", "", CLASSES, budget),
        ("", ", pure", CLASSES, pure),
        (" of a number", "", Interval(-1, 1), budget),
    ):
        yield Case(f"additive model{name}{law}", AdditiveModel(), additive(2, 2, labels), spent,
                   few, is_tight=False, effort=10.0,
                   remark="few rows: most of what is released is noise")  # fmt: skip
    counted, twice = AdditiveModel(counts_scores=True), AdditiveModel(fits=2)
    for name, mechanism, labels, marks, spent in (
        ("", AdditiveModel(), CLASSES, (-1.0, 1.0), budget),
        (", counted", counted, CLASSES, (-1.0, 1.0), budget),
        (", twice", twice, CLASSES, (-1.0, 1.0), budget),
        (", pairs", counted, CLASSES, (-1.0, 1.0), budget),
        (", pure", AdditiveModel(), CLASSES, (-1.0, 1.0), pure),
        (", pure pairs", AdditiveModel(), CLASSES, (-1.0, 1.0), pure),
        (", three classes", AdditiveModel(), LabelSet([0, 1, 2]), (1.0, 1.0), budget),
        (" of a number", AdditiveModel(), Interval(0, 1), (0.0, 1.0), budget),
    ):
        second = None if "pairs" in name else 3
        yield exact_case(f"additive model{name}", mechanism, additive(second, 4, labels), spent,
                         ends_pair(unit, [15.0, float(second or 16) - 1], marks))  # fmt: skip


def additive(second: int | None, depth: int, labels: Labels) -> AdditiveProblem:
    """A column of numbers, and another or a category; slopes are at their bound in any frame."""
    marginals = Marginals((None, second), labels, depth, max_rows=2**20)
    margin = 40.0 if isinstance(labels, LabelSet) else None
    return AdditiveProblem(marginals, ridge=4000.0, margin=margin, interactions=second is None)
