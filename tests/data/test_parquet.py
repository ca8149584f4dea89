"""Rows in Parquet files are the rows of an array, however the files are cut."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from discreet._parallel import prefetch
from discreet.data import Bounds, Interval, LabelSet, ParquetTable, Rows, parquet_rows
from discreet.data.frame import Frame, matrix_of
from discreet.data.stored import Wanted
from discreet.data.stored import arrow_batches as reading
from discreet.data.stored import stream as streaming
from discreet.data.stored.parquet import ParquetFeed
from discreet.data.stored.stream import StreamSource
from discreet.data.stored.table import Encoding
from discreet.data.summation import summation_error
from discreet.errors import InputError, PrivacyError, SourceChanged
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.ledger import MemoryLedger, NoLedger, State
from discreet.mechanisms import GaussianSum
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure
from discreet.questions import VectorMean

WIDTH = 3
NAMES = [f"x{j}" for j in range(WIDTH)]
BOUNDS = Bounds(
    L2Ball(1.5), WIDTH, labels=Interval(-2, 2), intercept=0.5, max_weight=3.0, max_rows=10**5
)


def table(count, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((count, WIDTH))
    X[generator.random(X.shape) < 0.02] = np.nan
    X[generator.random(X.shape) < 0.01] = np.inf
    y = 3 * generator.standard_normal(count)
    y[generator.random(count) < 0.02] = np.nan
    return X, y, 4 * generator.random(count)


def write(folder, X, y, weights, cuts, group):
    """Write rows to files that end at the cuts."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = [0, *sorted(cuts), len(X)]
    for number, (start, stop) in enumerate(pairwise(ends)):
        columns = {name: X[start:stop, j] for j, name in enumerate(NAMES)}
        columns |= {"y": y[start:stop], "w": weights[start:stop], "unused": np.arange(stop - start)}
        path = folder / f"part-{number:03}.parquet"
        parquet.write_table(pa.table(columns), path, row_group_size=group)
    return folder


def opened(source, bounds=BOUNDS, **options):
    receipt = NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne()), purpose="test")
    return Rows(source, bounds=bounds, **options).open(receipt)


def in_memory(X, y, weights, bounds=BOUNDS, **options):
    receipt = NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne()), purpose="test")
    return Rows(X, y, weights=weights, bounds=bounds, **options).open(receipt)


def stored(folder, **options):
    return parquet_rows(folder, NAMES, target="y", weight="w", **options)


def exact(block):
    rounded = block.integer_sum(lambda values, _: np.rint(values * 2**20).astype(np.int64))
    return rounded, np.array([block.size])


def floats(block):
    return block.weighted_sum(block.weights * block.labels), block.gram(block.weights)


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of a few rows, and room for a few hundred of them."""
    monkeypatch.setattr(streaming, "PIECE_NUMBERS", 1)
    monkeypatch.setattr(streaming, "rows_of_width", lambda width: 64)
    monkeypatch.setattr(streaming, "HELD_BYTES", 8 * WIDTH * 150)
    monkeypatch.setattr(reading, "BATCH_NUMBERS", 1)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("seed", range(15))
def test_sums_do_not_depend_on_files_row_groups_blocks_or_caches(tmp_path, seed):
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 700))
    X, y, weights = table(count, seed)
    cuts = generator.integers(0, count + 1, size=generator.integers(0, 5))  # empty files too
    group = int(generator.integers(1, 200))
    folder = write(tmp_path / "data", X, y, weights, cuts, group)
    cached = int(generator.choice([0, 2**20]))
    size = int(generator.choice([1, 7, 64, 100, 5000]))
    rows = opened(stored(folder, cached_bytes=cached), block_rows=size)
    plain = in_memory(X, y, weights)
    assert rows.count == count
    for _ in range(2):  # the second pass is from the cache, if there is one
        for ours, theirs in zip(rows.sum(exact), plain.sum(exact), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        within = 2 * summation_error(BOUNDS, 3 * 2 * BOUNDS.row_norm() ** 2)
        for ours, theirs in zip(rows.sum(floats), plain.sum(floats), strict=True):
            assert np.linalg.norm(ours - theirs) <= within
    first, second = rows.sum(floats), rows.sum(floats)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("cached", [0, 2**20])
def test_rows_can_be_thinned_sampled_split_mapped_relabelled_and_gathered(tmp_path, cached):
    X, y, weights = table(500)
    folder = write(tmp_path / "data", X, y, weights, [13, 300], 37)
    rows, plain = opened(stored(folder, cached_bytes=cached)), in_memory(X, y, weights)
    inner = Bounds(L2Ball(1.0), WIDTH + 1, labels=BOUNDS.labels, max_weight=3.0, max_rows=10**5)

    def halved(rows):
        return rows / 2

    def shifted(labels):
        return -labels / 2

    ways = {
        "thin": lambda rows: [rows.subsample(8)],  # a multiple of what fits
        "mapped": lambda rows: [rows.transform(halved, inner)],
        "relabelled": lambda rows: [rows.relabel(shifted)],
        "mapped and thinned": lambda rows: [
            rows.transform(halved, inner).relabel(shifted).subsample(4)
        ],
        "samples": lambda rows: rows.samples(2**61, RehearsalNoise(1), 9),
        "large samples": lambda rows: rows.samples(2**63, RehearsalNoise(1), 3),
        "batches": lambda rows: rows.batches(
            RehearsalNoise(1).below(600, 60).astype(np.int64).reshape(6, 10)
        ),
        "split": lambda rows: rows.split(2, RehearsalNoise(1)),
        "sample of mapped": lambda rows: rows.transform(halved, inner).samples(
            2**61, RehearsalNoise(2), 4
        ),
    }
    for name, way in ways.items():
        ours, theirs = list(way(rows)), list(way(plain))
        assert len(ours) == len(theirs) > 0, name
        for one, other in zip(ours, theirs, strict=True):
            assert one.count == other.count, name
            for a, b in zip(one.sum(exact), other.sum(exact), strict=True):
                np.testing.assert_array_equal(a, b, err_msg=name)
    entries = Bounds(L2Ball(1.0), 1, labels=Interval(-1, 1), max_weight=3.0)
    ours, theirs = (r.entries(1, np.sin, entries) for r in (rows, plain))
    np.testing.assert_allclose(
        ours.sum(lambda block: block.labels.sum()), theirs.sum(lambda block: block.labels.sum())
    )
    for ours, theirs in zip(rows.gather(), plain.gather(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for (row, label), (other, same) in zip(rows.stream(), plain.stream(), strict=True):
        np.testing.assert_array_equal(row, other)
        assert label == same


@pytest.mark.usefixtures("small_pieces")
def test_a_sample_is_spread_over_all_rows_and_small_enough_to_be_held(tmp_path):
    X, y, weights = table(1000)
    X[:, 0] = np.linspace(0, 0.5, 1000)
    X[:, 1:], y[:] = 0.0, 1.0
    folder = write(tmp_path / "data", X, y, weights, [13, 300], 37)
    for step, rows in ((1, 143), (2, 143), (7, 143), (8, 72), (100, 10)):
        sample = opened(stored(folder, cached_bytes=0)).subsample(step)
        assert sample.count == rows
        assert not sample.is_streamed
        gaps = np.diff(sample.gather()[0][:, 0])
        np.testing.assert_allclose(gaps, gaps[0], rtol=1e-6)


def test_gathering_is_refused_by_what_is_declared_not_by_how_many_rows_there_are(tmp_path):
    X, y, weights = table(10)
    folder = write(tmp_path / "data", X, y, weights, [], 5)
    many = Bounds(L2Ball(1.0), WIDTH, labels=Interval(-2, 2), max_weight=3.0, max_rows=10**8)
    with pytest.raises(InputError, match="max_rows = 100000000"):
        opened(stored(folder), bounds=many).gather()
    with pytest.raises(InputError, match="max_rows"):
        Rows(stored(folder), bounds=many).check_held()


def test_few_pieces_are_in_memory_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "PIECE_NUMBERS", 1)
    monkeypatch.setattr(streaming, "rows_of_width", lambda width: 64)
    X, y, weights = table(6400)
    folder = write(tmp_path / "data", X, y, weights, [], 1000)
    monkeypatch.setattr(reading, "BATCH_NUMBERS", 1)
    monkeypatch.setattr(streaming, "thread_count", lambda: 2)
    alive, most, lock = 0, 0, threading.Lock()
    slices = ParquetTable.batches

    def counted(self, *arguments):
        nonlocal alive, most
        for batch in slices(self, *arguments):
            with lock:
                alive += 1
                most = max(most, alive)
            yield batch

    def seen(block):
        nonlocal alive
        with lock:
            alive -= 1
        return np.array([block.size])

    monkeypatch.setattr(ParquetTable, "batches", counted)
    rows = opened(stored(folder, cached_bytes=0))
    assert rows.sum(seen) == 6400
    assert most <= reading.PREFETCHED + 2 + 3  # being decoded, being cut up, and with two workers


@pytest.mark.usefixtures("small_pieces")
def test_threads_change_nothing(tmp_path):
    X, y, weights = table(900)
    folder = write(tmp_path / "data", X, y, weights, [100], 50)
    alone = opened(stored(folder, cached_bytes=0)).sum(floats)
    together = opened(stored(folder, cached_bytes=0), threads=3).sum(floats)
    assert all((a == b).all() for a, b in zip(alone, together, strict=True))


@pytest.mark.usefixtures("small_pieces")
def test_pieces_are_encoded_by_the_threads_that_sum_them(tmp_path, monkeypatch):
    folder = write(tmp_path / "data", *table(900), [100], 50)
    encode, threads = Encoding.piece_of, []

    def noted(self, frame, place):
        threads.append(threading.current_thread().name)
        return encode(self, frame, place)

    monkeypatch.setattr(Encoding, "piece_of", noted)
    opened(stored(folder, cached_bytes=0)).sum(floats)
    assert threads
    assert all(name.startswith("ThreadPoolExecutor") for name in threads)


@pytest.mark.usefixtures("small_pieces")
def test_sparse_pieces_stay_sparse(tmp_path):
    X, y, weights = table(300)
    folder = write(tmp_path / "data", X, y, weights, [50], 50)
    dense = parquet_rows(folder, NAMES, target="y", cached_bytes=0).feed
    encoding = replace(
        dense.encoding,
        encode=lambda frame: sparse.csr_array(matrix_of(frame)),
        is_sparse=True,
    )
    feed = ParquetFeed(dense.table, encoding)
    rows = opened(StreamSource(feed, 0))
    plain = in_memory(X, y, None)
    for way in (lambda r: r, lambda r: r.subsample(4)):
        for a, b in zip(way(rows).sum(exact), way(plain).sum(exact), strict=True):
            np.testing.assert_array_equal(a, b)
    assert sparse.issparse(rows.gather()[0])


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("size", [1, 5, 64, 256])
def test_small_sums_are_sums_of_small_blocks(size):
    X, y, weights = table(300)
    for matrix in (X, sparse.csr_array(X)):
        rows = in_memory(matrix, y, weights)
        lines = []
        rows.sum(lambda block, kept=lines: kept.append(block.small_sums(block.labels, size)) or 0)
        wanted = []
        rows.sum(lambda b, kept=wanted: kept.append(b.weighted_sum(b.labels)) or 0, block_rows=size)
        np.testing.assert_allclose(np.concatenate(lines), wanted, rtol=1e-12, atol=1e-12)


class TestFaults:
    """A table that changes is never half of one and half of another."""

    @pytest.fixture
    def folder(self, tmp_path):
        return write(tmp_path / "data", *table(2000), [500, 900], 100)

    def test_a_file_that_changed_before_the_rows_are_opened(self, folder):
        source = stored(folder)
        os.utime(folder / "part-001.parquet")
        with pytest.raises(InputError, match=r"part-001.parquet.* changed since"):
            opened(source)

    @pytest.mark.parametrize("kind", ["touched", "truncated", "gone", "replaced", "overwritten"])
    @pytest.mark.parametrize("when", ["before", "between"])
    def test_a_file_that_changes_while_rows_are_read(self, folder, kind, when):
        rows = opened(stored(folder, cached_bytes=0))
        if when == "between":
            rows.sum(floats)
        victim = folder / "part-002.parquet"
        spoil(victim, kind)
        with pytest.raises(SourceChanged, match=r"part-002.parquet: this file changed or broke"):
            rows.sum(floats)

    @pytest.mark.usefixtures("small_pieces")
    @pytest.mark.parametrize("kind", ["touched", "truncated", "gone"])
    def test_a_file_that_changes_within_a_pass(self, folder, kind):
        rows = opened(stored(folder, cached_bytes=0))
        seen = []

        def kernel(block):
            seen.append(block.size)
            if len(seen) == 1:
                spoil(folder / "part-002.parquet", kind)
            return np.array([block.size])

        with pytest.raises(SourceChanged):
            rows.sum(kernel)

    def test_damaged_pages(self, folder):
        path = folder / "part-001.parquet"
        bytes_ = bytearray(path.read_bytes())
        footer = len(bytes_) - 8 - int.from_bytes(bytes_[-8:-4], "little")
        bytes_[4 : footer // 2] = bytes(footer // 2 - 4)
        path.write_bytes(bytes(bytes_))
        rows = opened(stored(folder, cached_bytes=0))
        with pytest.raises(SourceChanged, match="part-001"):
            rows.sum(floats)

    @pytest.mark.usefixtures("small_pieces")
    def test_a_failing_kernel_leaves_no_thread_behind(self, folder):
        rows = opened(stored(folder, cached_bytes=0))

        def kernel(block):
            raise KeyboardInterrupt

        before = set(threading.enumerate())
        with pytest.raises(KeyboardInterrupt):
            rows.sum(kernel)
        assert set(threading.enumerate()) <= before  # others may end meanwhile


def spoil(path, kind):
    if kind == "touched":
        os.utime(path, ns=(1, 1))
    elif kind == "truncated":
        os.truncate(path, path.stat().st_size // 2)
    elif kind == "gone":
        path.unlink()
    elif kind == "replaced":  # as long, and as old
        status = path.stat()
        path.write_bytes(path.read_bytes()[:-200] + bytes(200))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        path.write_bytes(bytes(1000))


class TestFiles:
    """What makes up a table, and what is refused."""

    def test_a_file_a_folder_and_a_pattern(self, tmp_path):
        folder = write(tmp_path / "data", *table(100), [30, 60], 10)
        (folder / "_metadata.parquet").write_bytes(b"not read")
        (folder / ".hidden.parquet").write_bytes(b"not read")
        (folder / "notes.txt").write_text("not read")
        assert ParquetTable.open(folder).count == 100
        assert ParquetTable.open(str(folder / "part-*.parquet")).count == 100
        assert ParquetTable.open(folder / "part-001.parquet").count == 30
        assert [file.path.name for file in ParquetTable.open(folder).files] == [
            f"part-00{number}.parquet" for number in range(3)
        ]

    def test_folders_add_columns(self, tmp_path):
        for year in ("2023", "2024"):
            (tmp_path / f"year={year}").mkdir()
            parquet.write_table(
                pa.table({"a": [1.0, 2.0]}), tmp_path / f"year={year}" / "1.parquet"
            )
        opened = ParquetTable.open(tmp_path)
        wanted = [Wanted("a"), Wanted("year", ("2023", "2024"))]
        opened.check(wanted)
        cells = [frame["year"] for frame in opened.frames(wanted, 10)]
        assert [list(column.distinct[column.places]) for column in cells] == [
            ["2023", "2023"],
            ["2024", "2024"],
        ]

    @pytest.mark.parametrize(
        ("where", "said"),
        [
            ("nowhere", "no such file"),
            ("nowhere/*.parquet", "no Parquet file here"),
            ("s3://bucket/x", "only local files"),
            ("", "no Parquet file here"),
        ],
    )
    def test_nothing_to_read(self, tmp_path, where, said):
        place = where if "://" in where else str(tmp_path / where)
        with pytest.raises(InputError, match=said):
            ParquetTable.open(place)

    @pytest.mark.parametrize(
        "content", [b"", b"PAR1", b"x" * 100, b"x" * 92 + b"\xff" * 4 + b"PAR1"]
    )
    def test_no_parquet(self, tmp_path, content):
        (tmp_path / "a.parquet").write_bytes(content)
        with pytest.raises(InputError, match=r"cannot be read as Parquet"):
            ParquetTable.open(tmp_path)

    def test_a_schema_that_drifts_in_the_tenth_file(self, tmp_path):
        for number in range(10):
            values = ["secret"] if number == 9 else [1.0]
            parquet.write_table(pa.table({"a": values}), tmp_path / f"{number}.parquet")
        with pytest.raises(
            InputError, match=r"9.parquet: the column 'a' must hold numbers"
        ) as error:
            parquet_rows(tmp_path, ["a"])
        assert "secret" not in str(error.value)

    @pytest.mark.parametrize(
        ("values", "wanted", "said"),
        [
            (["a"], Wanted("a"), "must hold numbers"),
            ([1.0], Wanted("b"), "is missing"),
            ([1.0], Wanted("a", ("x", "y")), "declared with text"),
            (["x"], Wanted("a", (1, 2)), "declared with numbers"),
            ([b"x"], Wanted("a", ("x", "y")), "must hold text, numbers"),
            ([[1.0]], Wanted("a"), "must hold numbers"),
        ],
    )
    def test_columns_that_are_not_the_declared_ones(self, tmp_path, values, wanted, said):
        parquet.write_table(pa.table({"a": values}), tmp_path / "1.parquet")
        with pytest.raises(InputError, match=said):
            ParquetTable.open(tmp_path).check([wanted])

    def test_every_value_has_a_place(self, tmp_path):
        broken = pa.array([b"\xff\xfe", b"yes"]).view(pa.string())
        columns = {
            "text": broken,
            "coded": pa.array(["yes", None]).dictionary_encode(),
            "number": pa.array([1, None], pa.int32()),
            "truth": pa.array([True, None]),
            "none": pa.nulls(2),
            "half": pa.array([Decimal("0.5"), None], pa.decimal128(5, 2)),
        }
        parquet.write_table(pa.table(columns), tmp_path / "1.parquet")
        opened = ParquetTable.open(tmp_path)
        (frame,) = opened.frames([Wanted(name, ("yes",)) for name in columns], 10)
        values = {name: list(frame[name].distinct[frame[name].places]) for name in columns}
        assert values.pop("text")[1] == "yes"
        assert values == {
            "coded": ["yes", None],
            "number": [1, None],
            "truth": [True, None],
            "none": [None, None],
            "half": [0.5, None],
        }
        numeric = [Wanted(name) for name in ("number", "truth", "none", "half")]
        (frame,) = opened.frames(numeric, 10)
        np.testing.assert_array_equal(matrix_of(frame), [[1, 1, np.nan, 0.5], [np.nan] * 4])

    def test_labels_and_weights_go_with_the_bounds(self, tmp_path):
        folder = write(tmp_path / "data", *table(20), [], 10)
        plain = Bounds(L2Ball(1.0), WIDTH)
        with pytest.raises(InputError, match="labels exactly if"):
            Rows(parquet_rows(folder, NAMES, target="y"), bounds=plain)
        labelled = Bounds(L2Ball(1.0), WIDTH, labels=LabelSet([0, 1]))
        with pytest.raises(InputError, match="largest one"):
            Rows(parquet_rows(folder, NAMES, target="y", weight="w"), bounds=labelled)
        with pytest.raises(InputError, match="leave y"):
            Rows(parquet_rows(folder, NAMES), np.ones(20), bounds=plain)
        with pytest.raises(InputError, match="3 columns"):
            Rows(parquet_rows(folder, NAMES[:2]), bounds=plain)
        with pytest.raises(PrivacyError, match="without labels"):
            opened(parquet_rows(folder, NAMES), bounds=plain).relabel(np.sign)


def test_reading_ahead_stops_with_its_reader():
    made = []

    def items():
        for number in range(1000):
            made.append(number)
            yield number

    before = set(threading.enumerate())
    reader = prefetch(items(), 2)
    assert next(reader) == 0
    reader.close()
    assert len(made) < 10
    assert set(threading.enumerate()) <= before


def test_a_frame_shows_nothing():
    assert repr(Frame({"secret": np.array([1.0])})) == "<a table of 1 columns>"


def test_a_file_under_two_names_is_refused(tmp_path):
    X, y, weights = table(20)
    folder = write(tmp_path / "data", X, y, weights, [], 10)
    (folder / "latest.parquet").symlink_to(folder / "part-000.parquet")
    with pytest.raises(InputError, match="are one file, whose rows would count twice"):
        ParquetTable.open(folder)
    (folder / "latest.parquet").unlink()
    os.link(folder / "part-000.parquet", folder / "linked.parquet")
    with pytest.raises(InputError, match="are one file"):
        ParquetTable.open(folder)


def test_columns_that_come_twice_are_refused(tmp_path):
    folder = write(tmp_path / "data", *table(20), [], 10)
    for columns, options in ((["x0", "x0"], {}), (["x0", "x1"], {"target": "x1"})):
        with pytest.raises(InputError, match="one comes twice"):
            parquet_rows(folder, columns, **options)


def test_decimals_are_the_numbers_that_they_spell(tmp_path):
    spelt = [f"{number / 100:.2f}" for number in range(1, 300)]
    cells = pa.array([Decimal(text) for text in spelt])
    parquet.write_table(pa.table({"a": cells, "b": cells.dictionary_encode()}), tmp_path / "1.pq")
    wanted = [Wanted("a"), Wanted("a", (0.3,)), Wanted("b", (0.3,))]
    (frame,) = ParquetTable.open(tmp_path).frames(wanted[:1], 1000)
    assert frame["a"].tolist() == [float(text) for text in spelt]
    for column in wanted[1:]:
        (frame,) = ParquetTable.open(tmp_path).frames([column], 1000)
        coded = frame[column.name]
        assert coded.distinct[coded.places].tolist() == [float(text) for text in spelt]


def test_the_index_of_pandas_is_no_feature(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}).iloc[[0, 1, 3]].to_parquet(tmp_path / "1.pq")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "1.pq").names
    assert ParquetTable.open(tmp_path).names == ["a"]


def test_numbers_in_names_of_folders(tmp_path):
    for year in ("2023", "2024", "none"):
        (tmp_path / f"year={year}").mkdir()
        parquet.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / f"year={year}" / "1.pq")
    bounds = Bounds(L2Ball(1e5), 2, max_rows=100)
    rows = opened(parquet_rows(tmp_path, ["a", "year"]), bounds)
    found = rows.sum(lambda block: block.rows().sum(axis=0))
    assert found.tolist() == [6.0, 2 * (2023 + 2024)]  # two rows with a NaN are replaced by zeros


def test_the_repr_of_a_file_does_not_tell_how_many_rows_it_has(tmp_path):
    folder = write(tmp_path / "data", *table(123), [], 10)
    assert "123" not in repr(ParquetTable.open(folder).files)


def test_what_is_no_longer_what_was_checked_is_given_back(tmp_path):
    folder = write(tmp_path / "data", *table(50), [], 10)
    bounds = Bounds(L2Ball(1.5), WIDTH, max_rows=10**5)
    rows = Rows(parquet_rows(folder, NAMES), bounds=bounds)
    os.utime(folder / "part-000.parquet", ns=(1, 1))
    ledger = MemoryLedger(Budget(1.0, 1e-6))
    with pytest.raises(InputError, match="has changed since it was checked"):
        release(GaussianSum(), VectorMean(bounds), rows, budget=Budget(1.0, 1e-6), ledger=ledger)
    assert [entry.state for entry in ledger.history()] == [State.REFUNDED]
