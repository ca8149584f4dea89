"""The words are AES-256 in counter mode under a fresh key, or there are no words at all."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.errors import EntropyError
from discreet.noise import Grid, SystemNoise, release_gaussian, release_laplace, words
from discreet.noise.noise import CHECKED_KEYS
from discreet.noise.words import CipherWords, SystemWords, fresh_words

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def no_key_is_remembered(monkeypatch):
    """Tests give the same keys again, each as if in a process of its own."""
    monkeypatch.setattr(words, "_seen_keys", words.SeenKeys(words.REMEMBERED_KEYS))


def good_entropy():
    """Return a stand-in for os.urandom that never repeats itself, and the sizes asked of it."""
    counter, asked = itertools.count(1), []

    def urandom(size):
        asked.append(size)
        return np.random.default_rng(next(counter)).bytes(size)

    return urandom, asked


def test_the_first_block_is_the_published_one():
    block = CipherWords(bytes(32)).take(2).astype("<u8").tobytes()
    assert block.hex() == "dc95c078a2408989ad48a21492842087"


def test_the_stream_is_the_cipher_of_successive_counters():
    counters = b"".join(i.to_bytes(16, "big") for i in range(1000))
    cipher = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    expected = np.frombuffer(cipher.update(counters), dtype="<u8")
    np.testing.assert_array_equal(CipherWords(KEY).take(2000), expected)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 65_536, 2), (0, 7), (65_535, 65_537, 131_072)])
def test_a_stream_taken_in_pieces_is_the_same_stream(sizes):
    whole, pieces = CipherWords(KEY), CipherWords(KEY)
    expected = whole.take(sum(sizes))
    np.testing.assert_array_equal(np.concatenate([pieces.take(n) for n in sizes]), expected)


def test_words_may_be_changed_without_changing_the_next_ones():
    supply, untouched = CipherWords(KEY), CipherWords(KEY)
    supply.take(10)[:] = 0
    untouched.take(10)
    np.testing.assert_array_equal(supply.take(10), untouched.take(10))


def test_every_supply_has_its_own_key(monkeypatch):
    urandom, asked = good_entropy()
    monkeypatch.setattr(words.os, "urandom", urandom)
    first, second = fresh_words(), fresh_words()
    assert asked == [32, 32]
    assert not np.array_equal(first.take(8), second.take(8))


def test_every_draw_reads_a_new_key(monkeypatch):
    urandom, asked = good_entropy()
    monkeypatch.setattr(words.os, "urandom", urandom)
    noise = SystemNoise()
    drawn = [noise.gaussian(4, 30).tolist() for _ in range(5)]
    assert asked == [32] * 5
    assert len({tuple(d) for d in drawn}) == 5


def test_without_the_cipher_words_come_from_the_system(monkeypatch):
    urandom, asked = good_entropy()
    monkeypatch.setattr(words, "HAS_CIPHER", False)
    monkeypatch.setattr(words.os, "urandom", urandom)
    supply = fresh_words()
    assert isinstance(supply, SystemWords)
    assert supply.take(5).dtype == np.uint64
    assert asked == [32, 40]
    assert SystemNoise().gaussian(1000, 30).std() > 2.0**29
    assert SystemNoise().subset(0, 1).size == 0


def test_rehearsals_refuse_to_run_without_the_cipher(monkeypatch):
    monkeypatch.setattr(words, "HAS_CIPHER", False)
    words.check_cipher.cache_clear()
    with pytest.raises(EntropyError, match="cryptography"):
        words.check_cipher()


def test_a_cipher_that_fails_its_self_test_releases_nothing(monkeypatch):
    monkeypatch.setattr(words, "KNOWN_FIRST_BLOCK", bytes(16))
    words.check_cipher.cache_clear()
    try:
        with pytest.raises(EntropyError, match="self-test"):
            SystemNoise().gaussian(1, 30)
    finally:
        words.check_cipher.cache_clear()


def _raise(error):
    def urandom(size):
        raise error

    return urandom


BROKEN = {
    "raises OSError": _raise(OSError("no entropy")),
    "raises NotImplementedError": _raise(NotImplementedError()),
    "is short": lambda size: bytes(range(1, size)),
    "is long": lambda size: bytes(i % 251 for i in range(size + 1)),
    "is empty": lambda size: b"",
    "is zero": bytes,
    "is constant": lambda size: b"\x7f" * size,
}


@pytest.mark.parametrize("has_cipher", [True, False])
@pytest.mark.parametrize("urandom", BROKEN.values(), ids=BROKEN)
def test_nothing_is_released_when_entropy(monkeypatch, urandom, has_cipher):
    monkeypatch.setattr(words.os, "urandom", urandom)
    monkeypatch.setattr(words, "HAS_CIPHER", has_cipher)
    noise, grid = SystemNoise(), Grid(scale=1.0, bits=30, bound=10.0)
    attempts = [
        noise.check,
        lambda: noise.gaussian(3, 30),
        lambda: noise.laplace(3, 30),
        lambda: noise.below(10, 3),
        lambda: noise.coins(np.arange(3), 2),
        lambda: noise.subset(3, 1 << 63),
        lambda: release_gaussian([1.0], grid, noise),
        lambda: release_laplace([1.0], grid, noise),
    ]
    for attempt in attempts:
        with pytest.raises(EntropyError):
            attempt()


@pytest.mark.parametrize("has_cipher", [True, False])
def test_nothing_is_released_under_a_key_seen_just_before(monkeypatch, has_cipher):
    monkeypatch.setattr(words.os, "urandom", lambda size: bytes(i % 251 for i in range(size)))
    monkeypatch.setattr(words, "HAS_CIPHER", has_cipher)
    noise = SystemNoise()
    noise.gaussian(1, 30)
    with pytest.raises(EntropyError, match="repeats"):
        noise.check()
    with pytest.raises(EntropyError, match="repeats"):
        release_gaussian([1.0], Grid(scale=1.0, bits=30, bound=10.0), noise)


def test_a_repeat_in_the_middle_of_a_long_release_stops_it(monkeypatch):
    urandom, _ = good_entropy()
    keys = [urandom(32)] * 2
    monkeypatch.setattr(words.os, "urandom", lambda size: keys.pop())
    with pytest.raises(EntropyError, match="repeats"):
        release_gaussian(np.zeros(70_000), Grid(scale=1.0, bits=30, bound=1.0), SystemNoise())


def test_the_module_remembers_a_digest_and_no_key(monkeypatch):
    seen = []

    def urandom(size):
        seen.append(np.random.default_rng(5).bytes(size))
        return seen[-1]

    monkeypatch.setattr(words.os, "urandom", urandom)
    fresh_words().take(1)
    assert all(seen[0] != value for value in vars(words).values())
    (digest,) = words._seen_keys._digests
    assert len(digest) < len(seen[0])
    assert digest not in seen[0]


def circle(period):
    """Return a stand-in for os.urandom that gives the same keys again after so many."""
    keys = [np.random.default_rng([7, number]).bytes(32) for number in range(period)]
    endless = itertools.cycle(keys)
    return lambda size: next(endless)


@pytest.mark.parametrize("period", range(1, CHECKED_KEYS))
def test_a_small_circle_of_keys_shows_before_anything_is_paid(monkeypatch, period):
    monkeypatch.setattr(words.os, "urandom", circle(period))
    with pytest.raises(EntropyError, match="repeats"):
        SystemNoise().check()


@pytest.mark.parametrize("period", [2, 5, 1000, words.REMEMBERED_KEYS])
def test_no_key_of_a_larger_circle_is_used_twice(monkeypatch, period):
    monkeypatch.setattr(words.os, "urandom", circle(period))
    used = [words.fresh_key() for _ in range(period)]
    assert len(set(used)) == period
    with pytest.raises(EntropyError, match="repeats"):
        words.fresh_key()


def test_no_more_is_remembered_than_is_said():
    seen = words.SeenKeys(3)
    keys = [bytes([number]) * 2 for number in range(10)]
    assert all(seen.is_new(key) for key in keys)
    assert len(seen._digests) == 3
    assert [seen.is_new(key) for key in keys[-3:]] == [False] * 3
    assert seen.is_new(keys[0])


def test_of_two_threads_with_one_key_only_one_goes_on():
    seen, start = words.SeenKeys(words.REMEMBERED_KEYS), threading.Barrier(4)

    def ask(found):
        start.wait(10)
        found.extend(seen.is_new(bytes([number])) for number in range(200))

    answers = [[] for _ in range(4)]
    threads = [threading.Thread(target=ask, args=(found,)) for found in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sum(found) for found in zip(*answers, strict=True)] == [1] * 200
