"""Rows of Dask are the rows of an array, however they are partitioned; nothing of them leaks."""

from __future__ import annotations

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from data.test_parquet import BOUNDS, NAMES, WIDTH, exact, floats, in_memory, opened, table
from discreet.data import Bounds, Interval, Rows, dask_rows
from discreet.data.stored import partitions as engine
from discreet.data.stored.dask import DaskTable, is_dask, map_lazily
from discreet.data.stored.worker import Broken, merge_sums
from discreet.data.summation import RunningSums, summation_error
from discreet.errors import InputError, InputTypeError, PrivacyError, SourceChanged
from discreet.geometry import L2Ball
from discreet.noise import RehearsalNoise

CANARY = "1234.56789"


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=["kept", "computed again"])
def memory(request, monkeypatch):
    """Whether partitions are kept after the first pass."""
    if request.param == "computed again":
        monkeypatch.setattr(engine, "CACHED_BYTES", 0)


def arrays(X, y, weights, cuts=(200, 200, 310)):
    """Return Dask arrays that are cut there, with an empty partition where a cut comes twice."""
    chunks = (tuple(np.diff([0, *sorted(cuts), len(X)]).tolist()),)
    return tuple(da.from_array(a, chunks=(*chunks, -1)[: a.ndim]) for a in (X, y, weights))


def scattered(X, y, weights, cuts=(200, 200, 310), **options):
    rows, labels, counted = arrays(X, y, weights, cuts)
    return opened(dask_rows(rows, labels, weights=counted), **options)


@pytest.mark.parametrize("seed", range(15))
def test_sums_do_not_depend_on_partitions_blocks_or_caches(monkeypatch, seed):
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 700))
    X, y, weights = table(count, seed)
    cuts = generator.integers(0, count + 1, size=generator.integers(0, 25))
    monkeypatch.setattr(engine, "CACHED_BYTES", int(generator.choice([0, 2**20])))
    size = int(generator.choice([1, 7, 64, 5000]))
    rows, plain = scattered(X, y, weights, cuts, block_rows=size), in_memory(X, y, weights)
    assert rows.count == count
    for ours, theirs in zip(rows.sum(exact), plain.sum(exact), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    within = 2 * summation_error(BOUNDS, 3 * 2 * BOUNDS.row_norm() ** 2)
    first, second = rows.sum(floats), rows.sum(floats)
    for ours, again, theirs in zip(first, second, plain.sum(floats), strict=True):
        assert np.linalg.norm(ours - theirs) <= within
        np.testing.assert_array_equal(ours, again)


@pytest.mark.usefixtures("memory")
def test_rows_can_be_thinned_sampled_split_mapped_and_relabelled():
    X, y, weights = table(500)
    rows, plain = scattered(X, y, weights), in_memory(X, y, weights)
    inner = Bounds(L2Ball(1.0), WIDTH + 1, labels=BOUNDS.labels, max_weight=3.0, max_rows=10**5)
    pairs = [
        (rows.subsample(7), plain.subsample(7)),
        (rows.relabel(np.square), plain.relabel(np.square)),
        (
            rows.transform(lambda some: some / 3, inner),
            plain.transform(lambda some: some / 3, inner),
        ),
    ]
    ones = Bounds(L2Ball(1.0), 1, labels=Interval(-9, 9), max_weight=3.0, max_rows=10**5)
    pairs.append((rows.entries(1, np.abs, ones), plain.entries(1, np.abs, ones)))
    drawn = [some.samples(2**61, RehearsalNoise(3), 4) for some in (rows, plain)]
    pairs += zip(*drawn, strict=True)
    places = RehearsalNoise(5).below(620, 60).astype(np.int64).reshape(4, 15)
    pairs += zip(rows.batches(places), plain.batches(places), strict=True)
    pairs += zip(*(some.split(3, RehearsalNoise(4)) for some in (rows, plain)), strict=True)
    for ours, theirs in pairs:
        assert ours.count == theirs.count
        for one, other in zip(ours.sum(exact), theirs.sum(exact), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_sample_without_rows_has_a_sum():
    X, y, weights = table(500)
    (sample,) = scattered(X, y, weights).samples(1, RehearsalNoise(0), 1)
    assert sample.count == 0
    assert sample.sum(lambda block: np.array([block.size]))[0] == 0


def test_rows_do_not_come_here():
    X, y, weights = table(500)
    rows = scattered(X, y, weights)
    for look in (rows.gather, lambda: next(rows.stream()), lambda: rows._prepared.block(0, 1)):
        with pytest.raises(PrivacyError, match="stay with its workers"):
            look()
    with pytest.raises(InputError, match="holds all rows"):
        Rows(dask_rows(*arrays(X, y, weights)[:2]), bounds=BOUNDS).check_held()


def test_a_frame_of_numbers_is_an_array():
    X, y, _ = table(300)
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=3)
    labels = dd.from_pandas(pd.Series(y), npartitions=3)
    rows = opened(dask_rows(frame, labels))
    assert rows.count == 300
    plain = in_memory(X, y, None)
    for ours, theirs in zip(rows.sum(exact), plain.sum(exact), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_partitions_that_cut_columns_or_lie_otherwise_are_cut_anew():
    X, y, _ = table(300)
    rows = da.from_array(X, chunks=(100, 2))
    labels = da.from_array(y, chunks=77)
    assert opened(dask_rows(rows, labels)).sum(exact)[1] == 300


def changing(rows, values):
    """Return an array whose only partition is the next of the values whenever it is computed."""
    left = iter(values)
    one = dask.delayed(lambda: next(left), pure=False)()
    return da.from_delayed(one, shape=(rows, WIDTH), dtype=float)


PLAIN = Bounds(L2Ball(1.5), WIDTH, max_rows=10**5)
WIDE = Bounds(L2Ball(1e4), WIDTH, max_rows=10**5)


def test_a_partition_that_becomes_another_is_refused(monkeypatch):
    monkeypatch.setattr(engine, "CACHED_BYTES", 0)
    first, second = np.ones((5, WIDTH)), np.ones((5, WIDTH))
    second[3, 1] = 1.5
    rows = opened(dask_rows(changing(5, [first, first, second])), PLAIN)
    rows.sum(lambda block: block.rows().sum(axis=0))
    with pytest.raises(SourceChanged, match="has become another"):
        rows.sum(lambda block: block.rows().sum(axis=0))


def test_another_number_of_rows_than_announced_is_refused():
    rows = opened(dask_rows(changing(5, [np.ones((6, WIDTH))] * 9)), PLAIN)
    with pytest.raises(SourceChanged, match="number of rows changed"):
        rows.sum(lambda block: block.rows().sum(axis=0))


def unknown(*parts):
    """Return a frame of which nothing is known but its columns."""
    whole = [dask.delayed(part, pure=False) for part in parts]
    return dd.from_delayed(whole, meta=parts[0].iloc[:0], verify_meta=False)


def numbers(count, start=0):
    values = np.arange(count * WIDTH, dtype=float).reshape(count, WIDTH) + start
    return pd.DataFrame(values, columns=NAMES)


def test_of_more_rows_than_declared_the_first_are_used():
    few = Bounds(L2Ball(1.5), WIDTH, max_rows=10)
    with pytest.raises(InputError, match="more rows than the declared max_rows = 10"):
        Rows(dask_rows(da.ones((11, WIDTH))), bounds=few, unit="replace")
    values = np.linspace(-1, 1, 11 * WIDTH).reshape(11, WIDTH)
    only = opened(values[:10], few).sum(exact)
    known = dask_rows(da.from_array(values, chunks=(4, WIDTH)))
    parts = (pd.DataFrame(part, columns=NAMES) for part in (values[:5], values[5:]))
    for given in (known, dask_rows(unknown(*parts))):
        rows = opened(given, few)
        assert rows.count == 10
        for ours, theirs in zip(rows.sum(exact), only, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_that_there_are_no_rows_is_known_only_once_it_is_paid_for():
    few = Bounds(L2Ball(1.5), WIDTH, max_rows=10)
    empty = opened(dask_rows(unknown(numbers(0), numbers(0))), few)
    with pytest.raises(SourceChanged, match="at least one row"):
        empty.sum(exact)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (numbers(4).rename(columns={"x1": CANARY}), "does not have the column 'x1'"),
        (numbers(4).assign(x1=pd.Timestamp(2024, 1, 1)), "'x1' has another type"),
    ],
)
def test_a_partition_with_other_columns_is_refused(other, what):
    rows = opened(dask_rows(unknown(*[numbers(4)] * 9, other)), PLAIN)
    with pytest.raises(SourceChanged, match=what) as error:
        rows.sum(exact)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("dtype", ["string", "object", "category", "Int64"])
def test_numbers_of_another_type_are_the_same_numbers(dtype):
    other = numbers(4, start=100).astype("int64").astype(dtype)
    plain, ours = (
        opened(dask_rows(unknown(numbers(4), changed)), WIDE).sum(exact)[0]
        for changed in (numbers(4, start=100), other)
    )
    np.testing.assert_array_equal(ours, plain)


def test_a_partition_that_cannot_be_computed_says_nothing_of_its_rows():
    def broken():
        raise ValueError(f"row 17 holds {CANARY}")

    rows = da.from_delayed(dask.delayed(broken)(), shape=(5, WIDTH), dtype=float)
    with pytest.raises(SourceChanged, match="could not compute") as error:
        opened(dask_rows(rows), PLAIN).sum(exact)
    assert CANARY not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


def test_what_a_kernel_raises_stays_where_it_is():
    def kernel(block):
        raise ValueError(str(block.rows()))

    rows = opened(dask_rows(da.full((5, WIDTH), 0.125)), PLAIN)
    with pytest.raises(PrivacyError, match="stopped on a worker") as error:
        rows.sum(kernel)
    assert "0.125" not in str(error.value)
    assert error.value.__context__ is None


def test_labels_of_another_length_are_refused():
    bounds = Bounds(L2Ball(1.5), WIDTH, labels=Interval(-1, 1), max_rows=100)
    column = dd.from_delayed(
        [dask.delayed(pd.Series(np.zeros(count))) for count in (4, 3)],
        meta=pd.Series(dtype=float),
        verify_meta=False,
    )
    rows = opened(dask_rows(unknown(numbers(4), numbers(4)), column), bounds)
    with pytest.raises(SourceChanged, match="differ in length"):
        rows.sum(exact)


def test_tasks_are_not_named_after_rows():
    source = dask_rows(da.from_array(np.full((4, WIDTH), 0.125), chunks=(2, WIDTH)))
    names = [{part.key for part in source.prepare(PLAIN).parts} for _ in range(2)]
    assert not names[0] & names[1]


class TestBadInput:
    @pytest.mark.parametrize(
        ("X", "y", "kind", "what"),
        [
            ([[1.0]], None, InputTypeError, "a Dask data frame"),
            (da.ones(3), None, InputTypeError, "a Dask data frame"),
            (da.ones((3, 2)), np.ones(3), InputTypeError, "y must be a Dask array"),
            (da.ones((3, 2)), da.ones((3, 1)), InputTypeError, "y must be a Dask array"),
            (da.ones((3, 2)), da.ones(4), InputError, "one entry for each row"),
            (
                dd.from_pandas(numbers(9), npartitions=3),
                dd.from_pandas(pd.Series(range(9)), npartitions=2),
                InputError,
                "as many partitions as X, 3; got 2",
            ),
            (da.ones((3, 2)).astype(complex), None, InputError, "must hold numbers"),
            (da.ma.masked_equal(da.ones((3, 2)), 0), None, InputTypeError, "a Dask data frame"),
            (dask.delayed(3), None, InputTypeError, "a Dask data frame"),
            (dask.bag.from_sequence([1]), None, InputTypeError, "a Dask data frame"),
            (
                DaskTable.open(da.ones((3, 2))).attach(da.ones(3), None),
                da.ones(3),
                InputError,
                "leave y out",
            ),
            (dd.from_pandas(numbers(9).astype({"x1": "string"})), None, InputError, "'x1'"),
        ],
    )
    def test_it_is_refused_with_a_reason(self, X, y, kind, what):
        with pytest.raises(kind, match=what):
            dask_rows(X, y)

    def test_bounds_that_say_otherwise(self):
        rows = dask_rows(da.ones((3, 2)))
        for bounds, what in [
            (Bounds(L2Ball(1.0), 3), "must have 3 columns"),
            (Bounds(L2Ball(1.0), 2, labels=Interval(0, 1)), "need labels exactly if"),
        ]:
            with pytest.raises(InputError, match=what):
                Rows(rows, bounds=bounds)
        weighted = dask_rows(da.ones((3, 2)), weights=da.ones(3))
        with pytest.raises(InputError, match="max_weight"):
            Rows(weighted, bounds=Bounds(L2Ball(1.0), 2))


def test_only_collections_of_dask_are_told_by_it():
    assert is_dask(da.ones(3))
    assert is_dask(dd.from_pandas(numbers(3)))
    assert not is_dask(np.ones(3))
    assert not is_dask(dask)
    assert (
        repr(DaskTable.open(da.ones((6, 2), chunks=(2, 2)))) == "<Dask: 3 partitions of 2 columns>"
    )


def test_totals_absorbed_stay_as_they_are():
    totals = []
    for value in (0.1, 0.2, 0.3):
        sums = RunningSums()
        for _ in range(3):
            sums.add((np.array([value]), np.array([1])))
        totals.append(sums)
    for _ in range(2):  # a task that is repeated finds the same
        whole = RunningSums()
        for sums in totals:
            whole.absorb(sums)
        assert whole.value()[0][0] == pytest.approx(1.8, abs=1e-15)
        assert whole.value()[1][0] == 9
    assert isinstance(merge_sums([totals[0], Broken("so")]), Broken)


def test_answers_about_rows_come_when_they_are_computed():
    frame = numbers(7)
    said = map_lazily(
        lambda rows: rows.to_numpy().sum(axis=1), dd.from_pandas(frame, npartitions=3)
    )
    assert said.compute().tolist() == frame.sum(axis=1).tolist()
    two = map_lazily(lambda rows: rows[:, :2] * 2, da.from_array(frame.to_numpy(), chunks=(3, 1)))
    np.testing.assert_array_equal(two.compute(), 2 * frame.to_numpy()[:, :2])
