"""A temporary file of prepared rows changes nothing but time, and leaves nothing behind."""

from __future__ import annotations

import errno
import math
import os
import shutil
import stat
import tempfile
import weakref
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.data import Bounds, Interval, Rows, parquet_rows
from discreet.data.stored import arrow_batches as reading
from discreet.data.stored import spill as spilling
from discreet.data.stored import stream as streaming
from discreet.data.stored.spill import Spill
from discreet.errors import SourceChanged
from discreet.geometry import L2Ball
from discreet.ledger import NoLedger
from discreet.privacy import AddRemoveOne, Guarantee, Pure

WIDTH, COUNT = 3, 900
NAMES = [f"x{j}" for j in range(WIDTH)]
BOUNDS = Bounds(
    L2Ball(1.5), WIDTH, labels=Interval(-2, 2), intercept=0.5, max_weight=3.0, max_rows=10**5
)
FRAME = Bounds(L2Ball(1.0), WIDTH + 1, labels=BOUNDS.labels, max_weight=3.0, max_rows=10**5)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch, tmp_path):
    monkeypatch.setattr(spilling, "PATIENCE", math.inf)  # however slow the disk is today
    # A file that an earlier test left to the garbage collector wants its share of the disk, too.
    monkeypatch.setattr(spilling, "_FLOORS", weakref.WeakKeyDictionary())
    monkeypatch.setattr(streaming, "PIECE_NUMBERS", 1)
    monkeypatch.setattr(streaming, "REMADE_BYTES", 0)
    monkeypatch.setattr(streaming, "rows_of_width", lambda width: 64)
    monkeypatch.setattr(reading, "BATCH_NUMBERS", 1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(3)
    X = generator.standard_normal((COUNT, WIDTH))
    X[generator.random(X.shape) < 0.02] = np.nan
    cells = {name: X[:, j] for j, name in enumerate(NAMES)}
    cells |= {"y": 3 * generator.standard_normal(COUNT), "w": 4 * generator.random(COUNT)}
    place = tmp_path / "data"
    place.mkdir()
    for number, (start, stop) in enumerate([(0, 100), (100, 500), (500, 500), (500, COUNT)]):
        some = pa.table(cells).slice(start, stop - start)
        parquet.write_table(some, place / f"{number}.parquet", row_group_size=90)
    return place


def opened(folder):
    receipt = NoLedger().charge(Guarantee(Pure(1.0), AddRemoveOne()), purpose="test")
    source = parquet_rows(folder, NAMES, target="y", weight="w", cached_bytes=0)
    return Rows(source, bounds=BOUNDS).open(receipt)


def halved(rows):
    rows /= 2
    return rows


def kernel(block):
    margins = block.careful_margins(np.arange(1.0, WIDTH + 2))
    sums = block.small_sums(margins * block.weights, 16).sum(axis=0)
    return sums, block.gram(block.weights), block.weighted_sum(block.labels)


def passes(folder, number=4):
    """Return the sums of several passes over rows, and over rows made of them."""
    rows = opened(folder)
    mapped = rows.transform(halved, FRAME)
    found = [of.sum(kernel) for of in (rows, mapped) for _ in range(number)]
    rows.close()
    return found


def same(ours, theirs):
    return all(
        np.array_equal(a, b)
        for one, other in zip(ours, theirs, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.fixture
def without(folder, monkeypatch):
    with monkeypatch.context() as context:
        context.setenv("DISCREET_SPILL", "no")
        context.setattr(Spill, "write", None)
        return passes(folder)


@pytest.fixture
def written(monkeypatch):
    """The number of pieces that were read back."""
    places, read = [], Spill.read
    monkeypatch.setattr(
        Spill, "read", lambda self, place: places.append(place) or read(self, place)
    )
    return places


def test_sums_are_the_same_to_the_last_bit(folder, without, written):
    assert same(passes(folder), without)
    pieces = -(-COUNT // 64)
    assert len(written) == 2 * pieces + 3 * pieces  # rows wait a pass, rows made of them do not


@pytest.mark.parametrize("fitting", [5, 12])
def test_a_full_disk_is_no_error(folder, without, written, monkeypatch, fitting):
    left, write = [fitting], os.pwritev

    def full(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "full")
        return write(*arguments)

    monkeypatch.setattr(os, "pwritev", full)
    assert same(passes(folder), without)
    assert 0 < max(written) < fitting


def test_a_part_that_was_written_is_no_piece(folder, without, written, monkeypatch):
    monkeypatch.setattr(os, "pwritev", lambda file, arrays, offset: os.pwrite(file, b"1", offset))
    assert same(passes(folder), without)
    assert not written


@pytest.mark.parametrize("most", [0, 5000])
def test_half_of_the_disk_is_left(folder, without, written, monkeypatch, most):
    usage = shutil.disk_usage("/")._replace(free=2 * most)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    sizes, write = [], os.pwritev

    def counted(file, arrays, offset):
        sizes.append(offset + sum(array.nbytes for array in arrays))
        return write(file, arrays, offset)

    def left(file):
        return SimpleNamespace(f_frsize=1, f_bavail=2 * most - max(sizes, default=0))

    monkeypatch.setattr(os, "pwritev", counted)
    monkeypatch.setattr(os, "fstatvfs", left)
    assert same(passes(folder), without)
    assert max(sizes, default=0) <= most
    assert bool(written) == bool(most)


def test_a_slow_disk_is_given_up_for_the_pass(folder, without, written, monkeypatch):
    monkeypatch.setattr(spilling, "PATIENCE", -1e9)
    assert same(passes(folder), without)
    assert 0 < max(written) < 3 * 3


def test_no_folder_for_it_is_no_error(folder, without, written, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "nowhere"))
    assert same(passes(folder), without)
    assert not written


def test_it_has_no_name_and_only_its_owner_can_open_it(small_pieces):
    spill = Spill.open()
    status = os.fstat(spill._file.number)
    assert not list(small_pieces.iterdir())
    assert status.st_nlink == 0
    assert stat.S_IMODE(status.st_mode) & 0o077 == 0
    assert not os.get_inheritable(spill._file.number)
    spill.close()
    spill.close()


def descriptors():
    links = (os.path.realpath(link) for link in Path("/proc/self/fd").iterdir())
    return sorted(link for link in links if "temporary" in link)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux what is open")
@pytest.mark.parametrize("end", ["closed", "forgotten", "interrupted"])
def test_it_is_gone_afterwards(folder, small_pieces, end):
    rows = opened(folder)
    mapped = rows.transform(halved, FRAME)
    mapped.sum(kernel)
    assert len(descriptors()) == 1
    if end == "closed":
        rows.close()
    elif end == "interrupted":

        def interrupted(block):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            mapped.sum(interrupted)
    del rows, mapped
    assert not descriptors()
    assert not list(small_pieces.iterdir())


def test_files_that_change_later_do_not_matter(folder, without):
    rows = opened(folder)
    first, second = rows.sum(kernel), rows.sum(kernel)
    (folder / "3.parquet").unlink()
    assert same([first, second, rows.sum(kernel)], without[:3])
    rows.close()
    with pytest.raises(SourceChanged):
        rows.sum(kernel)


def test_what_cannot_be_read_back_ends_the_release(folder, monkeypatch):
    rows = opened(folder)
    mapped = rows.transform(halved, FRAME)
    mapped.sum(kernel)

    def broken(*_):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "preadv", broken)
    with pytest.raises(SourceChanged, match="DISCREET_SPILL=no"):
        mapped.sum(kernel)
    rows.close()


def test_several_files_leave_together_what_one_leaves(small_pieces, monkeypatch):
    first = Spill.open()
    floor = max(spilling._FLOORS.values())
    usage = shutil.disk_usage("/")._replace(free=floor)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    second = Spill.open()
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_frsize=1, f_bavail=floor))
    assert not spilling._has_room(second._file, 1)
    first.close()
    assert spilling._has_room(second._file, 1)
    second.close()


def test_a_file_stays_open_until_the_last_thread_is_done(small_pieces):
    spill = Spill.open()
    file = spill._file
    spill.close()
    os.fstat(file.number)  # as a thread that is writing would find it
    number = file.number
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_what_is_damaged_on_the_disk_ends_the_release(folder):
    rows = opened(folder)
    mapped = rows.transform(halved, FRAME)
    mapped.sum(kernel)
    (spill,) = rows._prepared.spills
    os.pwrite(spill._file.number, b"\x01", 4321)
    with pytest.raises(SourceChanged, match="could not be read back"):
        mapped.sum(kernel)


def test_a_disk_that_complains_when_it_is_closed_loses_nothing(small_pieces, monkeypatch):
    def full(_):
        raise OSError("quota")

    spill = Spill.open()
    number = spill._file.number
    with monkeypatch.context() as patch:
        patch.setattr(os, "close", full)
        spill.close()
    os.close(number)


def test_memory_is_no_disk(monkeypatch):
    if not Path("/dev/shm").is_dir():
        pytest.skip("there is no folder in memory")
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    assert spilling._is_memory("/dev/shm") == (Spill.open() is None)
    assert not spilling._is_memory("/proc/nowhere/at/all")


@pytest.mark.parametrize("word", ["no", "0", "False", " off "])
def test_it_can_be_switched_off(monkeypatch, word):
    monkeypatch.setenv(spilling.SWITCH, word)
    assert Spill.open() is None
