"""Keys of clients: how they read, what they allow, how they are stored.

A key is 256 random bits, so its SHA-256 digest gives nothing away and needs no salt; the digest is
all that is stored.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from discreet._types import Json
from discreet.errors import InputError

PREDICT, STATUS, METRICS = "predict", "status", "metrics"
SCOPES = (PREDICT, STATUS, METRICS)
"""What a key may allow: to ask, to see what is left, to read counters."""

PATTERN = re.compile(r"dk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
NOBODY = hashlib.sha256(b"").hexdigest()
"""What the digest of an unknown key is compared with, so that it takes as long."""


@dataclass(frozen=True)
class AccessKey:
    """What is known of a key; the key itself is not.

    Examples
    --------
    >>> AccessKey("0" * 16, "ward 3", ("predict",), 0.0, 10.0, None).is_valid(11.0)
    False
    """

    identity: str
    name: str
    scopes: tuple[str, ...]
    created: float
    expires: float | None
    revoked: float | None
    rate: float | None = None
    burst: int | None = None

    def is_valid(self, now: float) -> bool:
        """Say whether the key opens anything at this time."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def state(self, now: float) -> str:
        """Return "valid", "expired" or "revoked"."""
        if self.revoked is not None:
            return "revoked"
        return "valid" if self.is_valid(now) else "expired"

    def to_json(self, now: float) -> Json:
        """Return what may be shown of it."""
        return {
            "id": self.identity,
            "name": self.name,
            "scopes": list(self.scopes),
            "state": self.state(now),
            "created": as_time(self.created),
            "expires": as_time(self.expires),
            "revoked": as_time(self.revoked),
            "rate": self.rate,
            "burst": self.burst,
        }


def as_time(seconds: float | None) -> str | None:
    """Return a time as text, in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def draw_key() -> tuple[str, str]:
    """Return the identity of a new key, and the key, from the operating system's randomness."""
    identity = os.urandom(8).hex()
    secret = base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
    return identity, f"dk_{identity}_{secret}"


def digest_of(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode("ascii")).hexdigest()


def identity_of(key: str) -> str | None:
    """Return the identity that a key claims; None for what is no key."""
    found = PATTERN.fullmatch(key)
    return None if found is None else found.group(1)


def is_same_digest(key: str, stored: str | None) -> bool:
    """Compare a key with what is stored of it, in a time that does not depend on either."""
    is_same = hmac.compare_digest(digest_of(key), NOBODY if stored is None else stored)
    return is_same and stored is not None


def check_scopes(scopes: tuple[str, ...]) -> None:
    """Refuse scopes that there are not."""
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InputError(f"scopes are one or more of {', '.join(SCOPES)}; got {unknown or 'none'}.")
