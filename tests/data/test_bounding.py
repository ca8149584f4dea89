"""One person's rows never move, weigh or choose those of others; what is left is bounded."""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from discreet.data import Interval, Rows
from discreet.data.bounding import list_persons
from discreet.data.ids import accept_ids, is_known
from discreet.errors import InputError, InputTypeError, PrivacyError
from discreet.noise import RehearsalNoise
from discreet.questions import Cap, Share
from support import persons
from support.opened import open_rows
from support.persons import bounds_of, by_person, keep_in_memory, left_in

UNIT = "add_remove_person"
NAMES = range(5)


def value_of(one, number):
    """A value that says whose it is: eighths belong to persons."""
    return number / 2 + one / 16


def owner_of(row):
    return round((row[0] * 2 % 1) * 8)


TABLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(-8, 7)), min_size=1, max_size=40
).map(lambda cells: [(one, value_of(one, number)) for one, number in cells])


def broken(keep, table, person, seed=1):
    """Say what the law finds: whose rows change with somebody else, or who says too much."""
    whole = by_person(*keep(table, person, seed), owner_of)
    for gone in NAMES:
        rest = [row for row in table if row[0] != gone]
        if not rest:
            continue
        without = by_person(*keep(rest, person, seed), owner_of)
        if without != {one: rows for one, rows in whole.items() if one != gone}:
            return "moved"
    for rows in whole.values():
        weight = sum(Fraction(row[-1]) * count for row, count in rows.items())
        if weight > Fraction(person.unit_weight(1.0)):
            return "too much"
    return ""


@pytest.mark.parametrize("person", [Share(), Share(2.5), Share(0.25), Cap(1), Cap(3)], ids=repr)
@settings(max_examples=60, deadline=None)
@given(table=TABLES, order=st.randoms(use_true_random=False))
def test_a_person_less_leaves_all_others_and_the_order_of_rows_nothing(person, table, order):
    assert broken(keep_in_memory, table, person) == ""
    shuffled = list(table)
    order.shuffle(shuffled)
    assert by_person(*keep_in_memory(shuffled, person), owner_of) == by_person(
        *keep_in_memory(table, person), owner_of
    )


MUTANTS = {
    persons.shuffle_with_public_seed: (Cap(2), "moved"),
    persons.order_by_row_number: (Cap(2), "moved"),
    persons.cap_in_partitions: (Cap(1), "too much"),
    persons.share_of_those_that_count: (Share(), "too much"),
    persons.merge_ids: (Share(), "moved"),
    persons.keep_all_at_border: (Cap(3), "too much"),
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_the_law_refuses_broken_ways_to_bound(mutant):
    generator = np.random.default_rng(33)
    person, found = MUTANTS[mutant]
    table = [(int(one), value_of(one, 0)) for one in generator.integers(5, size=40)]
    tables = [table, [(one, value + generator.integers(-8, 8) / 2) for one, value in table]]
    verdicts = {broken(mutant, rows, person) for rows in tables}
    assert found in verdicts or "moved" in verdicts
    assert {broken(keep_in_memory, rows, person) for rows in tables} == {""}


@pytest.mark.parametrize("weight", [1.0, 2.0, 3.7])
def test_shares_follow_the_rule_of_whole_numbers(weight):
    generator = np.random.default_rng(4)
    ids, given_weights = generator.integers(6, size=50), generator.random(50) * 3
    opened = open_rows(
        np.zeros((50, 1)), bounds=bounds_of(Share(weight), max_weight=3.0), unit=UNIT,
        persons=ids, weights=given_weights, noise=RehearsalNoise(0),
    )  # fmt: skip
    _, found = left_in(opened)
    most = int(weight * 2**32)
    units = [int(Fraction(one) * 2**32) for one in given_weights.tolist()]
    sums = Counter()
    for one, unit in zip(ids.tolist(), units, strict=True):
        sums[one] += unit
    expected = [
        Fraction(unit if sums[one] <= most else unit * most // sums[one], 2**32)
        for one, unit in zip(ids.tolist(), units, strict=True)
    ]
    assert [Fraction(one) for one in found.tolist()] == expected
    assert any(total > most for total in sums.values())


def test_a_thousand_equal_rows_keep_exactly_so_many():
    rows, _ = keep_in_memory([(1, 0.5)] * 1000 + [(2, 0.25)] * 2, Cap(3))
    assert Counter(rows[:, 0].tolist()) == {0.5: 3, 0.25: 2}


def test_one_row_each_under_distinct_ids_is_left_as_records_are():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for person in (Share(), Cap(1), Cap(4)):
        opened = open_rows(
            X, bounds=bounds_of(person, width=2), unit=UNIT, persons=range(30),
            noise=RehearsalNoise(0),
        )  # fmt: skip
        rows, weights = left_in_wide(opened)
        assert np.array_equal(rows, X)
        assert (weights == 1).all()


def left_in_wide(opened):
    block = opened._prepared.block(0, opened.count)
    return block.rows(), np.ones(block.size) if block.weights is None else block.weights


def test_sparse_and_dense_rows_keep_the_same():
    generator = np.random.default_rng(2)
    X = generator.integers(-2, 3, size=(60, 3)) * 1.0
    ids, y = generator.integers(8, size=60), generator.integers(2, size=60)
    bounds = bounds_of(Cap(2), width=3)
    bounds = type(bounds)(bounds.features, 3, labels=Interval(0, 1), person=Cap(2))
    kept = []
    for table in (X, sparse.csr_array(X), sparse.coo_array(X), X.astype(np.float32), X.tolist()):
        opened = open_rows(table, y, bounds=bounds, unit=UNIT, persons=ids, noise=RehearsalNoise(5))
        rows, labels = opened.gather()
        kept.append((np.asarray(rows.toarray() if sparse.issparse(rows) else rows), labels))
    for rows, labels in kept[1:]:
        assert np.array_equal(rows, kept[0][0])
        assert np.array_equal(labels, kept[0][1])


def test_which_rows_are_kept_depends_on_the_key():
    table = [(one, value_of(one, number)) for one in NAMES for number in range(-8, 8)]
    kept = {tuple(keep_in_memory(table, Cap(2), seed)[0][:, 0]) for seed in range(5)}
    assert len(kept) == 5


def test_rows_without_an_id_are_left_out_silently_and_all_of_them_leave_none():
    ids = [None, 1, np.nan, pd.NaT, 2.5, "", (), object()]
    opened = open_rows(
        np.arange(8.0)[:, None], bounds=bounds_of(Share()), unit=UNIT, persons=ids,
        noise=RehearsalNoise(0),
    )  # fmt: skip
    assert left_in(opened)[0].tolist() == [[1.0]]
    for person in (Share(), Cap(2)):
        nobody = open_rows(
            np.arange(3.0)[:, None], bounds=bounds_of(person), unit=UNIT, persons=[None] * 3,
            noise=RehearsalNoise(0),
        )  # fmt: skip
        assert (nobody.count, nobody.person_count) == (0, 0)
        assert nobody.sum(lambda block: block.rows().sum(axis=0)).tolist() == [0.0]
        assert [part.count for part in nobody.split(3, RehearsalNoise(0))] == [0, 0, 0]


def test_more_rows_than_declared_leave_the_first_of_those_that_count():
    table = [(7, 0.5)] * 50 + [(one, value_of(one, 0)) for one in NAMES]
    ids, values = zip(*table, strict=True)
    opened = open_rows(
        np.array(values)[:, None], bounds=bounds_of(Cap(1), max_rows=6), unit=UNIT,
        persons=list(ids), noise=RehearsalNoise(0),
    )  # fmt: skip
    assert opened.count == 6


def test_all_rows_of_a_person_fall_into_one_part():
    generator = np.random.default_rng(1)
    ids = generator.integers(40, size=400)
    opened = open_rows(
        ids[:, None] / 8, bounds=bounds_of(Share()), unit=UNIT, persons=ids,
        noise=RehearsalNoise(0),
    )  # fmt: skip
    parts = opened.split(5, RehearsalNoise(3))
    seen = [set(left_in(part)[0][:, 0].tolist()) for part in parts]
    assert sum(map(len, seen)) == len(set(ids.tolist()))
    assert sum(part.count for part in parts) == 400
    assert sum(part.person_count for part in parts) == len(set(ids.tolist()))
    again = [part.split(2, RehearsalNoise(9)) for part in parts]
    assert sum(half.person_count for halves in again for half in halves) == 40


def test_what_is_made_of_rows_keeps_weights_and_persons():
    ids = [1, 1, 2, 3, 3, 3]
    bounds = bounds_of(Share())
    opened = open_rows(
        np.arange(6.0)[:, None], bounds=bounds, unit=UNIT, persons=ids, noise=RehearsalNoise(0)
    )
    made = opened.transform(lambda rows: rows / 2, bounds)
    rows, weights = left_in(made)
    assert rows[:, 0].tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    assert weights.tolist() == [0.5, 0.5, 1, *[left_in(opened)[1][-1]] * 3]
    assert made.owners.tolist() == opened.owners.tolist() == [0, 0, 1, 2, 2, 2]


DAY, MOMENT = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 5, 1, 250)
NAME = uuid.UUID(int=5)
DIFFERENT = [1, "1", b"1", True, "True", 2**64 + 1, -1, DAY, MOMENT, (1, "1"), ("1", 1), ((1,), 1),
             ("1", "1"), ("11",), NAME, str(NAME), "a", "A", "a ", "\ud800", "\0", "é"]  # fmt: skip


def spell(tags):
    return list(map(tuple, tags.tolist()))


def test_ids_of_other_kinds_and_values_are_other_ids():
    tags = spell(accept_ids(DIFFERENT).tags(b"key"))
    assert len(set(tags)) == len(DIFFERENT)
    assert all(known for known in is_known(accept_ids(DIFFERENT).tags(b"key")))


WHOLE, TEXT = [3, None, -7, 3], ["a", None, "é", "a"]
DAYS, MOMENTS = [DAY, None, DAY], [MOMENT, None]
ZONES = [MOMENT.replace(tzinfo=datetime.UTC), None]
BYTES = [b"a", None, b"\xff"]
SAME = {
    "whole": (
        WHOLE,
        [
            np.array([3, -7, 3], dtype=np.int8),
            pd.Series([3, -7, 3], dtype="int32"),
            pd.Series(WHOLE, dtype="Int16"),
            pd.Series(WHOLE, dtype="category").astype(object),
            pd.Series(pd.Categorical(WHOLE, categories=[-7, 3])),
            pd.Series(WHOLE, dtype=object),
            pd.Series(pd.array(WHOLE, "int64[pyarrow]")),
            pl.Series(WHOLE),
            pa.array(WHOLE),
            pa.array(WHOLE, pa.int8()),
            pa.chunked_array([WHOLE[:2], WHOLE[2:]]),
            pa.array(WHOLE).dictionary_encode(),
            [np.int8(3), float("nan"), np.int64(-7), 3],
        ],
    ),
    "text": (
        TEXT,
        [
            np.array(["a", "é", "a"]),
            pd.Series(TEXT),
            pd.Series(TEXT, dtype="category"),
            pd.Series(TEXT, dtype="string"),
            pd.Series(TEXT, dtype="string[pyarrow]"),
            pl.Series(TEXT),
            pl.Series(TEXT, dtype=pl.Categorical),
            pa.array(TEXT),
            pa.array(TEXT, pa.large_string()),
            pa.array(TEXT).dictionary_encode(),
            ["a", "", np.str_("é"), "a"],
        ],
    ),
    "days": (
        DAYS,
        [
            np.array(DAYS, dtype="datetime64[D]"),
            pa.array(DAYS),
            pa.array(DAYS, pa.date64()),
            pl.Series(DAYS),
            [np.datetime64(DAY), pd.NaT, DAY],
        ],
    ),
    "moments": (
        MOMENTS,
        [
            np.array(MOMENTS, dtype="datetime64[us]"),
            np.array(MOMENTS, dtype="datetime64[ns]"),
            pd.Series(MOMENTS),
            pa.array(MOMENTS),
            pa.array(MOMENTS, pa.timestamp("ns")),
            pl.Series(MOMENTS),
            [pd.Timestamp(MOMENT), pd.NaT],
            [np.datetime64(MOMENT), None],
        ],
    ),
    "zones": (
        ZONES,
        [
            pd.Series(MOMENTS).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
            pa.array(MOMENTS, pa.timestamp("us", "UTC")),
            pl.Series(MOMENTS).dt.replace_time_zone("UTC"),
        ],
    ),
    "bytes": (
        BYTES,
        [pa.array(BYTES), pa.array(BYTES, pa.binary(1)), pl.Series(BYTES), pd.Series(BYTES)],
    ),
}


@pytest.mark.parametrize("kind", SAME)
def test_an_id_is_the_same_in_every_container(kind):
    listed, containers = SAME[kind]
    expected = spell(accept_ids(listed).tags(b"key"))
    for column in containers:
        found = spell(accept_ids(column).tags(b"key"))
        known = [tag for tag, cell in zip(expected, listed, strict=True) if cell is not None]
        whole = expected if len(found) == len(expected) else known
        assert found == whole


def test_text_is_its_bytes_whatever_arrow_says_of_them():
    odd = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"a"], pa.binary()).buffers())
    tags = spell(accept_ids(odd).tags(b"key"))
    assert tags[1] == spell(accept_ids(["a"]).tags(b"key"))[0]
    assert is_known(accept_ids(odd).tags(b"key")).all()


@pytest.mark.parametrize(
    "column",
    [np.array([1.0]), pd.Series([1.0]), pd.Series([1, None]), pl.Series([1.0]), pa.array([1.0]),
     pd.Series([1.5], dtype="Float64"), np.array([1j]), np.array([1], dtype="m8[s]"),
     pa.array([[1]]), pl.Series([[1]]), pd.Series([1], dtype="category").astype(float),
     pd.Series([1.5], dtype="category"), pa.array([1.5]).dictionary_encode(),
     pa.array([None, 1], pa.decimal128(3)), {1}, 3, "ids", np.ma.array([1])],
    ids=str,
)  # fmt: skip
def test_columns_that_cannot_hold_ids_are_refused_by_their_type(column):
    with pytest.raises((InputError, InputTypeError)):
        accept_ids(column)


def test_two_persons_of_one_first_word_stay_two():
    tags = np.array([[5, 0], [5, 3], [5, 1], [7, 0], [5, 3]], dtype=np.uint64)
    table = list_persons([tags])
    assert table.find(tags).tolist() == [0, 2, 1, 3, 2]


def test_ids_go_with_a_unit_of_persons_and_only_with_one():
    X = np.zeros((2, 1))
    with pytest.raises(InputError, match="say whose each row is"):
        Rows(X, bounds=bounds_of(Share()), unit=UNIT)
    with pytest.raises(InputError, match="protects records"):
        Rows(X, bounds=bounds_of(None), persons=[1, 2])
    with pytest.raises(InputError, match="what becomes of"):
        Rows(X, bounds=bounds_of(None), persons=[1, 2], unit="replace_person")
    with pytest.raises(InputError, match="one id for each row"):
        Rows(X, bounds=bounds_of(Share()), persons=[1], unit=UNIT)
    with pytest.raises(PrivacyError, match="noise"):
        open_rows(X, bounds=bounds_of(Share()), persons=[1, 2], unit=UNIT)
