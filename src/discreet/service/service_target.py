"""What is served, in a form that travels to the worker processes: paths and public limits."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet._types import Json
from discreet.errors import InputError
from discreet.service.answering import Answering
from discreet.service.key_book import KeyBook
from discreet.service.oracle_file import read_oracle_file
from discreet.service.released_model import ReleasedModel
from discreet.service.service_limits import ServiceLimits

VARIABLE = "DISCREET_SERVICE"
"""The variable of the environment by which workers are told what to serve."""


@dataclass(frozen=True)
class ServiceTarget:
    """A model or an oracle to be served, and who may ask.

    Examples
    --------
    >>> target = ServiceTarget("model", None, ServiceLimits(pad=0.0))
    >>> ServiceTarget.from_json(target.to_json()) == target
    True
    """

    path: str
    keys: str | None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    about: Json | None = None
    identity: str | None = None

    @property
    def is_oracle(self) -> bool:
        """Whether it is an oracle, whose answers are counted."""
        return Path(self.path).suffix == ".toml"

    def to_json(self) -> str:
        """Return it as text for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServiceTarget:
        """Read it again."""
        found = json.loads(text)
        return cls(**{**found, "limits": ServiceLimits(**found["limits"])})

    def open_answering(self) -> Answering:
        """Open what answers; an oracle must have been begun."""
        if not self.is_oracle:
            return ReleasedModel.open(self.path, self.about)
        from discreet.ledger import Ledger  # slow to import
        from discreet.service.live_oracle import LiveOracle

        found = read_oracle_file(self.path)
        ledger = Ledger(found.ledger, found.dataset)
        return LiveOracle.open(found.store, found.about(), self.identity, ledger)

    def open_keys(self) -> KeyBook | None:
        """Open the keys; an oracle has some."""
        if self.keys is None:
            return None
        book = KeyBook(self.keys)
        book.check()
        return book

    def announce(self) -> None:
        """Tell processes that are started from now on."""
        os.environ[VARIABLE] = self.to_json()


def find_target(
    path: str | Path, *, keys: str | None, is_open: bool, limits: dict[str, Any], about: Json | None
) -> ServiceTarget:
    """Return what is to be served."""
    path = Path(path).resolve()
    if path.suffix == ".toml":
        found = read_oracle_file(path)
        if is_open:
            raise InputError("an oracle answers to keys only; it cannot be open to everybody.")
        return ServiceTarget(str(path), keys or found.keys, replace(found.limits, **limits))
    if not path.is_dir():
        raise InputError(f"{path}: give the folder of a model, or the .toml file of an oracle.")
    if (keys is None) is not is_open:
        raise InputError("say who may ask: --keys KEYS, or --open for everybody.")
    public = ServiceLimits(**{"pad": 0.0, **limits})  # a released model has nothing to hide
    return ServiceTarget(str(path), keys, public, about)
