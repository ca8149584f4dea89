"""Uniform 64-bit words: AES-256 in counter mode under a key from the operating system.

A supply of words lives for one call. Its key is read fresh from the operating system and never
stored; short digests of the last few thousand keys of the process are, so that a source which goes
round in a circle no longer than that is noticed. A broken source of entropy or a broken cipher
raises :class:`EntropyError`; there is no weaker generator to fall back to. Without the
``cryptography`` package the words come from the operating system directly, which is equally safe
and about three times slower.

How far noise is from that of the theorems follows: a truncated Gaussian is within total variation
2**-189 of the real one in each coordinate, and AES in counter mode within 2**-82 of true randomness
for a release of 160 MB. Two neighbours together cost (1 + e**epsilon) times such a distance in
delta. Distances of several releases add.
"""

from __future__ import annotations

import hashlib
import math
import os
from abc import ABC, abstractmethod
from collections import OrderedDict
from functools import lru_cache

import numpy as np

from discreet import _checks
from discreet._types import Words
from discreet.errors import EntropyError

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    HAS_CIPHER = True
except ImportError:  # pragma: no cover - the package is a core dependency
    HAS_CIPHER = False

KEY_BYTES = 32
KNOWN_FIRST_BLOCK = bytes.fromhex("dc95c078a2408989ad48a21492842087")
"""AES-256 of the zero block under the zero key (NIST's known-answer test)."""

REMEMBERED_KEYS = 4_096
"""How many keys of the process a new one is compared with."""

_BUFFER_WORDS = 65_536
_ZEROS = bytes(8 * _BUFFER_WORDS)


class SeenKeys:
    """Short digests of the last keys; from them no key can be told, nor any noise.

    Examples
    --------
    >>> seen = SeenKeys(2)
    >>> [seen.is_new(key) for key in (b"a", b"b", b"a", b"c", b"a")]
    [True, True, False, True, True]
    """

    def __init__(self, most: int) -> None:
        self._digests: OrderedDict[bytes, object] = OrderedDict()
        self._most = most

    def is_new(self, key: bytes) -> bool:
        """Say whether a key is none of the last ones, and remember it."""
        digest = hashlib.sha256(key).digest()[:16]  # two keys share one with chance 2**-128
        mine = object()
        # One step, so that of two threads with one key only one goes on; a lock could be held by
        # another thread while the process forks.
        if self._digests.setdefault(digest, mine) is not mine:
            return False
        if len(self._digests) > self._most:
            self._digests.popitem(last=False)
        return True


_seen_keys = SeenKeys(REMEMBERED_KEYS)


class WordSupply(ABC):
    """An endless supply of uniform 64-bit words."""

    @abstractmethod
    def take(self, count: int) -> Words:
        """Return the next ``count`` words in a fresh array that the caller may change."""


class CipherWords(WordSupply):
    """The key stream of AES-256-CTR from counter zero, read as little-endian words."""

    def __init__(self, key: bytes) -> None:
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def take(self, count: int) -> Words:
        room = memoryview(bytearray(8 * count + 16))  # update_into asks for one spare block
        done = 0
        while done < 8 * count:
            size = min(len(_ZEROS), 8 * count - done)
            done += self._stream.update_into(memoryview(_ZEROS)[:size], room[done:])
        return np.frombuffer(room, dtype="<u8", count=count).astype(np.uint64, copy=False)


class SystemWords(WordSupply):
    """Words read straight from the operating system."""

    def take(self, count: int) -> Words:
        return np.frombuffer(_entropy(8 * count), dtype="<u8").astype(np.uint64)


def fresh_words() -> WordSupply:
    """Start a supply under a key that nobody has used before."""
    key = fresh_key()
    if not HAS_CIPHER:
        return SystemWords()
    check_cipher()
    return CipherWords(key)


def source_of_words() -> str:
    """Name the generator that fresh words come from."""
    if not HAS_CIPHER:
        return "the operating system's generator, word by word"
    return "AES-256 in counter mode, each time under a fresh key from the operating system"


def fresh_key() -> bytes:
    """Read a key from the operating system; refuse one that is visibly broken."""
    key = _entropy(KEY_BYTES)
    if len(set(key)) == 1 or not _seen_keys.is_new(key):
        raise EntropyError(
            "the operating system's randomness repeats itself; nothing can be released safely."
        )
    return key


def _entropy(size: int) -> bytes:
    try:
        data = os.urandom(size)
    except (OSError, NotImplementedError):
        data = b""
    if len(data) != size:
        raise EntropyError(
            "the operating system's randomness is not available; nothing can be released safely."
        )
    return data


@lru_cache(maxsize=1)
def check_cipher() -> bool:
    """Compare the cipher with its published first block, once a process."""
    if not HAS_CIPHER:
        raise EntropyError("seeded noise (a rehearsal) needs the cryptography package; install it.")
    if CipherWords(bytes(KEY_BYTES)).take(2).astype("<u8").tobytes() != KNOWN_FIRST_BLOCK:
        raise EntropyError("AES-256 fails its self-test; nothing can be released safely.")
    return True


CIPHER = 2.0**-80
"""Enough for 2**25 draws under one key: 2**24 blocks, 2**48 / 2**129."""
COUPLING = 2.0**-79


def _cipher(dimension: int) -> float:
    return CIPHER * max(1.0, dimension * 2.0**-25) ** 2


def distance_of_gaussian(dimension: int) -> float:
    """Bound the distance of a Gaussian release from the ideal one.

    Examples
    --------
    >>> distance_of_gaussian(1000) < 1e-24
    True
    """
    _checks.whole(dimension=dimension, at_least=1)
    return (dimension * 2.0**-188 + _cipher(dimension)) * (1 + 2.0**-50)


def distance_of_radial(dimension: int) -> float:
    """Bound the distance of a radial draw from one within its coupling error.

    Examples
    --------
    >>> distance_of_radial(1000) < 1e-23
    True
    """
    _checks.whole(dimension=dimension, at_least=1)
    return (COUPLING + dimension * 2.0**-187 + _cipher(dimension)) * (1 + 2.0**-50)


def delta_of_implementation(dimension: int, epsilon: float) -> float:
    """Return what a Gaussian release adds to delta at ``epsilon``.

    Examples
    --------
    >>> delta_of_implementation(1000, 1.0) < 1e-23
    True
    """
    _checks.not_negative(epsilon=epsilon)
    if epsilon > 700:
        return 1.0
    return min(1.0, (1 + math.exp(epsilon)) * distance_of_gaussian(dimension))
