"""A noise is used and thrown away; only a rehearsal can be repeated, and it says so."""

from __future__ import annotations

import ast
import copy
import math
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet.errors import InputError, InputTypeError, SealedError
from discreet.noise import (
    ALL_ROWS,
    RehearsalNoise,
    SystemNoise,
    delta_of_implementation,
    distance_of_gaussian,
    distance_of_radial,
)

WORKERS = 64


def uniform_p(values, cells):
    return stats.chisquare(np.bincount(values, minlength=cells)).pvalue


# What is remembered.


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_system_noise_refuses_to_be_stored(protocol):
    with pytest.raises(SealedError, match="never stored"):
        pickle.dumps(SystemNoise(), protocol=protocol)
    with pytest.raises(SealedError):
        pickle.dumps({"model": [SystemNoise()]}, protocol=protocol)


def test_a_copy_of_system_noise_is_itself():
    noise = SystemNoise()
    assert copy.copy(noise) is noise
    assert copy.deepcopy([noise])[0] is noise


def test_nothing_about_system_noise_is_worth_reading():
    noise = SystemNoise()
    noise.gaussian(10, 30)
    assert repr(noise) == str(noise) == "SystemNoise()"
    assert not getattr(noise, "__dict__", {})


def test_system_noise_has_no_room_to_keep_anything():
    assert not hasattr(SystemNoise(), "__dict__")
    with pytest.raises(AttributeError):
        SystemNoise().key = b"secret"


def test_only_system_noise_is_private():
    assert SystemNoise().is_private
    assert not RehearsalNoise(1).is_private
    for noise in (SystemNoise(), RehearsalNoise(1)):
        with pytest.raises(AttributeError):
            noise.is_private = True


def test_a_rehearsal_continues_where_it_was_after_pickling():
    noise, untouched = RehearsalNoise(5), RehearsalNoise(5)
    noise.gaussian(3, 30), untouched.gaussian(3, 30)
    for twin in (pickle.loads(pickle.dumps(noise)), copy.deepcopy(noise)):
        assert not twin.is_private
        np.testing.assert_array_equal(twin.gaussian(4, 30), copy.copy(untouched).gaussian(4, 30))


def test_rehearsals_repeat_call_by_call_and_differ_between_calls_and_seeds():
    first, second, other = RehearsalNoise(5), RehearsalNoise(5), RehearsalNoise(6)
    drawn = [noise.laplace(4, 40).tolist() for noise in (first, first, second, second, other)]
    assert drawn[:2] == drawn[2:4]
    assert drawn[0] != drawn[1]
    assert drawn[0] != drawn[4]


def test_checking_a_rehearsal_does_not_disturb_it():
    checked, unchecked = RehearsalNoise(5), RehearsalNoise(5)
    checked.check()
    assert checked.gaussian(3, 30).tolist() == unchecked.gaussian(3, 30).tolist()


def test_a_seed_is_a_whole_number():
    assert repr(RehearsalNoise(7)) == "RehearsalNoise(7)"
    for seed, error in ((-1, InputError), (1.5, InputTypeError), (None, InputTypeError)):
        with pytest.raises(error):
            RehearsalNoise(seed)


# Forks and threads.


def _draw_into(queue):
    queue.put(tuple(SystemNoise().gaussian(4, 50).tolist()))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_never_share_a_draw():
    noise = SystemNoise()
    before = tuple(noise.gaussian(4, 50).tolist())  # tables and cipher are warm in the parent
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    drawn = {before}
    for _ in range(WORKERS // 8):
        workers = [context.Process(target=_draw_into, args=(queue,)) for _ in range(8)]
        for worker in workers:
            worker.start()
        drawn |= {queue.get() for _ in workers}
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
    drawn.add(tuple(noise.gaussian(4, 50).tolist()))
    assert len(drawn) == WORKERS + 2


@pytest.mark.parametrize("noise", [SystemNoise(), RehearsalNoise(3)], ids=repr)
def test_threads_never_share_a_draw(noise):
    with ThreadPoolExecutor(WORKERS) as pool:
        drawn = list(pool.map(lambda _: tuple(noise.laplace(4, 50).tolist()), range(8 * WORKERS)))
    assert len(set(drawn)) == 8 * WORKERS


# Whole numbers, subsets and arguments.


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 255, 256, 257])
def test_numbers_below_a_bound_are_uniform(bound):
    drawn = RehearsalNoise(bound).below(bound, 200_000)
    assert drawn.dtype == np.uint64
    assert drawn.size == 200_000
    assert drawn.max() == bound - 1
    if bound > 1:
        assert uniform_p(drawn.astype(np.int64), bound) > 1e-4


@pytest.mark.parametrize("bound", [2**63 - 1, 2**63, 2**63 + 1, 3 * 2**62, 2**64 - 1, 2**64])
def test_large_bounds_reach_every_size_of_number(bound):
    drawn = RehearsalNoise(2).below(bound, 200_000)
    assert int(drawn.max()) < bound
    sixteenth = np.array([int(d) * 16 // bound for d in drawn])
    assert uniform_p(sixteenth, 16) > 1e-4
    assert uniform_p((drawn & np.uint64(15)).astype(np.int64), 16) > 1e-4


def test_below_rejects_and_never_wraps(monkeypatch, scripted):
    noise = RehearsalNoise(1)
    top = 2**64 - 1
    script = [top, 2**63 + 1, 2**63, 0, *[top] * 8]
    monkeypatch.setattr(RehearsalNoise, "words", lambda self: scripted(script))
    assert noise.below(2**63 + 1, 2).tolist() == [2**63, 0]


def test_a_bound_may_be_a_numpy_integer():
    assert RehearsalNoise(1).below(np.int64(10), 5).max() < 10


@pytest.mark.parametrize(("bound", "error"), [(0, InputError), (2**64 + 1, InputError)])
def test_bounds_outside_a_word_are_refused(bound, error):
    with pytest.raises(error):
        RehearsalNoise(1).below(bound, 1)


def test_thresholds_at_either_end_keep_nobody_and_everybody():
    noise = RehearsalNoise(1)
    assert not noise.subset(100_000, 0).any()
    assert noise.subset(100_000, ALL_ROWS).all()
    assert noise.subset(100_000, ALL_ROWS - 1).all()
    assert noise.subset(0, 5).size == 0


def test_a_threshold_is_the_number_of_words_that_keep_a_row(monkeypatch, scripted):
    # The first byte of each row: below, equal, equal, above that of the threshold; then the rest.
    script = [0x08_07_07_06, 4 << 8, 5 << 8]
    monkeypatch.setattr(RehearsalNoise, "words", lambda self: scripted(script))
    assert RehearsalNoise(1).subset(4, (7 << 56) + 5).tolist() == [True, True, False, False]
    monkeypatch.setattr(RehearsalNoise, "words", lambda self: scripted([255, 2**64 - 1]))
    assert RehearsalNoise(1).subset_places(1, 2**64 - 1).size == 0


@pytest.mark.parametrize("rate", [0.01, 0.5, 0.9])
def test_rows_are_kept_at_the_rate_of_the_threshold(rate):
    kept = RehearsalNoise(9).subset(1_000_000, int(rate * 2**64))
    assert stats.binomtest(int(kept.sum()), kept.size, rate).pvalue > 1e-4


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize(("count", "bits"), [(-1, 30), (1, 11), (1, 51)])
def test_counts_and_bits_out_of_range_are_refused(law, count, bits):
    with pytest.raises(InputError):
        getattr(RehearsalNoise(1), law)(count, bits)


def test_distances_grow_with_the_dimension_and_cover_the_truncation():
    truncation = math.erfc(16 / math.sqrt(2))  # 2 Q(16)
    for dimension in (1, 1000, 20_000_000):
        assert distance_of_gaussian(dimension) >= 2 * dimension * truncation + 2.0**-80
        assert distance_of_radial(dimension) >= 4 * dimension * truncation + 2.0**-79 + 2.0**-80
    assert distance_of_gaussian(2**120) > distance_of_gaussian(1) > 0
    assert delta_of_implementation(1000, 1.0) >= (1 + math.e) * distance_of_gaussian(1000)
    assert delta_of_implementation(1, 1e4) == 1.0


def test_distances_cover_the_cipher_when_one_key_makes_very_many_words():
    """AES in counter mode shows q blocks without a repeat: distance q**2 / 2**129."""
    for dimension in (2**27, 2**30):
        assert distance_of_radial(dimension) >= 2 * (dimension / 2) ** 2 / 2.0**129


# The rule of the house, read off the source.


FORBIDDEN = {"random", "secrets", "numpy.random"}


def imported_modules(tree):
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{name.name}" for name in names)
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
                yield "numpy.random"


def offences(source):
    used = set(imported_modules(ast.parse(source)))
    return {m for m in used for f in FORBIDDEN if m == f or m.startswith(f + ".")}


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import gauss",
        "import numpy.random as r",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.default_rng()",
        "def f():\n    import secrets",
    ],
)
def test_the_scan_sees_every_way_to_import_a_generator(source):
    assert offences(source)


def test_no_module_imports_another_source_of_randomness():
    package = Path(discreet.__file__).parent
    files = [f for f in package.rglob("*.py") if f != package / "datasets.py"]
    assert len(files) > 10
    assert {str(f): found for f in files if (found := offences(f.read_text("utf-8")))} == {}
