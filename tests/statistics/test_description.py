"""A description of a table: exact without noise, one release, alike through every door."""

from __future__ import annotations

import math

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from discreet import MemoryLedger, describe
from discreet.errors import BudgetExceeded, InputError
from discreet.preprocessing import Numeric
from discreet.privacy import Budget
from support.odd_cells import ODD

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

COLUMNS = {"age": (0, 128), "ward": ["a", "b"], "sex": ["f", "m"], "pay": Numeric(-8, 8, fill=1)}


def patients(count=600, seed=0):
    generator = np.random.default_rng(seed)
    pay = generator.normal(0, 2, size=count).round(3)
    return pd.DataFrame({
        "age": generator.integers(0, 120, size=count).astype(float),
        "ward": generator.choice(["a", "b", "other"], size=count),
        "sex": generator.choice(["f", "m"], size=count),
        "pay": np.where(generator.random(count) < 0.1, np.nan, pay),
    })  # fmt: skip


def known(**more):
    return describe(patients(), columns=COLUMNS, epsilon=math.inf, **more)


def test_without_noise_everything_is_exact_up_to_half_a_cell():
    frame, found = patients(), known()
    age, pay = found.columns["age"].statistics, found.columns["pay"].statistics
    half = 64 / 4096 + 1e-9
    assert found.rows[:3] == (600, 600, 600)
    assert age["mean"].value == pytest.approx(frame.age.mean(), abs=half)
    assert age["std"].value == pytest.approx(frame.age.std(ddof=0), abs=half)
    assert age["50 %"].value == pytest.approx(frame.age.median(), abs=1 + half)
    assert age["missing"].value == 0
    assert pay["missing"].value == frame.pay.isna().sum() > 0
    assert pay["missing share"].value == pytest.approx(frame.pay.isna().mean())
    assert pay["mean"].value == pytest.approx(frame.pay.mean(), abs=8 / 4096)
    for level in ("a", "b"):
        share = found.columns["ward"].statistics["share", level]
        assert share.value == pytest.approx((frame.ward == level).mean())
    others = found.columns["ward"].statistics["count", "anything else"]
    assert others.value == (frame.ward == "other").sum()
    edges, counts = found.columns["age"].histogram(4)
    assert edges.tolist() == [0, 32, 64, 96, 128]
    assert counts.tolist() == np.histogram(frame.age, [0, 32, 64, 96, 129])[0].tolist()


def test_without_noise_groups_are_those_of_the_rows_apart():
    frame, found = patients(), known(by="ward")
    assert found.groups == ("all", "a", "b", "anything else")
    for group, level in (("a", "a"), ("b", "b"), ("anything else", "other")):
        alone = describe(frame[frame.ward == level], columns=COLUMNS, epsilon=math.inf)
        for name in ("age", "sex", "pay"):
            here = found.group(group)[name].statistics
            there = alone.columns[name].statistics
            assert here.keys() == there.keys()
            for key, estimate in here.items():
                assert estimate[:3] == pytest.approx(there[key][:3]), (group, name, key)
    together = known()
    for name, column in found.columns.items():
        for key, estimate in column.statistics.items():
            other = together.columns[name].statistics[key]
            assert estimate[:3] == pytest.approx(other[:3]), (name, key)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("by", [None, "ward"])
@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_what_is_told_agrees_with_itself(unit, by, delta):
    found = describe(
        patients(), columns=COLUMNS, epsilon=0.5, delta=delta, by=by, unit=unit, rehearsal=3
    )
    groups = found.groups[1:] if by else ()
    rows = found.rows.value
    if groups:
        sizes = [found.group(name)["age"].statistics["rows"].value for name in groups]
        assert sum(sizes) == pytest.approx(rows)
        in_ward = found.columns["ward"].marginal.kept
        assert in_ward == pytest.approx(sizes)
    for name in found.groups:
        for column in found.group(name).values():
            told = column.statistics
            total = told["rows"].value
            if column.name in ("ward", "sex"):
                counts = [told["count", level].value for level in column.levels]
                assert min(counts) >= 0
                assert sum(counts) == pytest.approx(total, abs=1e-6)
            else:
                missing = told["missing"].value
                assert missing + column.histogram(8)[1].sum() == pytest.approx(total, abs=1e-6)
                assert told["25 %"].value <= told["50 %"].value <= told["75 %"].value
            for key, one in told.items():
                assert one.low <= one.value <= one.high, (name, column.name, key)
                assert math.isfinite(one.low)
                assert math.isfinite(one.high)


def test_one_charge_pays_for_everything():
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    found = describe(patients(), columns=COLUMNS, epsilon=0.8, delta=1e-7, by="sex", ledger=ledger)
    assert len(ledger.history()) == 1
    assert found.privacy_.epsilon(1e-7) <= 0.8
    for ask in (found.summary, found.plot, found._repr_html_, lambda: found.table):
        ask()
    assert len(ledger.history()) == 1
    with pytest.raises(BudgetExceeded):
        describe(patients(), columns=COLUMNS, epsilon=0.8, delta=1e-7, ledger=ledger)


def doors(folder, frame):
    """The same table in every container."""
    parquet.write_table(pa.Table.from_pandas(frame), folder / "table.parquet")
    csv.write_csv(pa.Table.from_pandas(frame), folder / "table.csv")
    return {
        "pandas": frame,
        "Polars": pl.from_pandas(frame),
        "Arrow": pa.Table.from_pandas(frame),
        "Parquet": str(folder / "table.parquet"),
        "CSV": str(folder / "table.csv"),
        "Dask": dd.from_pandas(frame, npartitions=3),
    }


@pytest.mark.parametrize("by", [None, "ward"])
def test_every_door_gives_the_same_description(tmp_path, by):
    frame = patients(200)
    told = {
        name: describe(table, columns=COLUMNS, by=by, rehearsal=5).release_.value
        for name, table in doors(tmp_path, frame).items()
    }
    listed = [COLUMNS[name] for name in ("age", "pay")]
    for name, value in told.items():
        assert np.array_equal(value, told["pandas"]), name
    numbers = frame[["age", "pay"]]
    alone = describe(numbers.to_numpy(), columns=listed, rehearsal=5)
    named = describe(numbers, columns={"age": (0, 128), "pay": (-8, 8)}, rehearsal=5)
    assert np.array_equal(alone.release_.value, named.release_.value)
    assert list(alone.columns) == ["x0", "x1"]


@pytest.mark.parametrize("what", ODD)
def test_an_odd_cell_is_counted_in_one_cell_and_changes_no_other(what):
    """Counts without noise, of rows with and without a record all of whose cells are odd."""
    frame = patients(20).astype(object)
    cell = ODD[what]
    rows = [*frame.to_numpy().tolist(), [cell] * 4]
    asked = {"columns": list(COLUMNS.values()), "epsilon": math.inf}
    before, after = describe(rows[:-1], **asked), describe(rows, **asked)
    assert after.rows.value == before.rows.value + 1
    for one, two in zip(before.columns.values(), after.columns.values(), strict=True):
        if one.name in ("x1", "x2"):
            apart = two.marginal.kept - one.marginal.kept
        else:
            tree, other = one.marginal.tree.counts, two.marginal.tree.counts
            missing = two.marginal.missing.value - one.marginal.missing.value
            apart = np.append(other - tree, missing)
        assert sorted(np.unique(apart.round(9)).tolist()) == [0.0, 1.0], what
        assert apart.sum() == pytest.approx(1.0)


def test_a_table_of_statistics_has_a_line_for_each():
    found = known(by="ward")
    table = found.table
    assert list(table.columns) == [
        *("group", "column", "statistic", "level", "value", "low", "high", "reason")
    ]
    one = table[(table.group == "a") & (table.column == "age") & (table.statistic == "mean")]
    assert one.value.item() == found.group("a")["age"].statistics["mean"].value
    assert not ((table.group == "a") & (table.column == "ward")).any()


def test_text_page_and_picture_say_the_same_and_names_are_escaped():
    frame = patients(50).rename(columns={"sex": "<b>$sex$"})
    columns = {"age": (0, 128), "<b>$sex$": ["f", "m"]}
    frame = frame[list(columns)]
    found = describe(frame, columns=columns, by="<b>$sex$", rehearsal=1)
    assert "&lt;b&gt;$sex$" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    text = found.summary()
    for word in ("<b>$sex$", "median", "quartiles", "missing", "anything else", "95 %"):
        assert word in text
    assert str(found) == repr(found) == text
    figure = found.plot()
    figure.canvas.draw()
    assert [axes.get_title() for axes in figure.axes[:2]] == ["age", r"<b>\$sex\$"]
    assert all(axes.has_data() for axes in figure.axes[:2])
    describe(frame[["age"]], columns={"age": (0, 128)}, rehearsal=1).plot().canvas.draw()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"by": "age"}, "by must be a category"),
        ({"by": "town"}, "by must be one of the declared columns"),
        ({"by": True}, "by must be one of the declared columns"),
        ({"level": 1.5}, "level"),
        ({"columns": {}}, "at least one column"),
        ({"columns": None}, "columns"),
        ({"columns": {"town": (0, 1)}}, "town"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_charged(more, words):
    ledger = MemoryLedger(Budget(9.0, 1e-3))
    with pytest.raises(InputError, match=words):
        describe(patients(10), **{"columns": COLUMNS, "ledger": ledger} | more)
    assert ledger.history() == ()


def test_groups_columns_and_bins_that_are_not_there_are_refused():
    found = known()
    with pytest.raises(InputError, match="there is no group"):
        found.group("a")
    with pytest.raises(InputError, match="power of two"):
        found.columns["age"].histogram(10)
    with pytest.raises(InputError, match="at most"):
        found.columns["age"].histogram(2**13)
    with pytest.raises(InputError, match="category"):
        found.columns["sex"].histogram()
    with pytest.raises(InputError, match="levels"):
        _ = found.columns["age"].levels


def test_cells_are_coarser_where_there_are_very_many():
    many = {f"x{place}": (0, 1) for place in range(600)} | {"by": list(range(4))}
    frame = pd.DataFrame({name: [0] * 3 for name in many})
    found = describe(frame, columns=many, by="by", rehearsal=1)
    counts = found.columns["x0"].marginal.tree.counts
    assert counts.size == 2**9  # 600 columns by five groups: 2**10 would be more than 2**21


def test_a_group_without_rows_says_that_nothing_is_known():
    frame = patients(300)
    columns = COLUMNS | {"ward": ["a", "b", "nobody"]}
    found = describe(frame, columns=columns, by="ward", epsilon=0.5, rehearsal=2)
    mean = found.group("nobody")["age"].statistics["mean"]
    assert (mean.low, mean.high) == (0, 128)
    assert "too few rows" in mean.reason


def test_bounds_that_ranges_are_sought_within_are_the_range_here():
    wide = Numeric(None, None, public_bounds=(0, 1024))
    found = describe(patients()[["age"]], columns={"age": wide}, epsilon=math.inf)
    assert found.columns["age"].statistics["mean"].value == pytest.approx(
        patients().age.mean(), abs=0.2
    )
