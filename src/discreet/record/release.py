"""What is released: a value, what is promised about it, and how it was made; and its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet import _checks, _json
from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Json
from discreet.errors import InputError
from discreet.noise import REHEARSAL
from discreet.privacy import Guarantee
from discreet.record.facts import Certificate, Fact, Origin, Tolerance

NOISE_SCALE = "scale of the noise"
"""What the size of the noise is called among the tolerances of a certificate."""

MOST_SHOWN = 50
"""Numbers of a value that a notebook shows; of more, the first and the last."""

FORMAT = 2
FIRST_FIELDS = {"format", "value", "value_is_array", "guarantee", "mechanism", "receipt_number"}
FIRST_FIELDS |= {"version", "reason"}
FIELDS = FIRST_FIELDS | {"purpose", "facts", "noise", "certificate", "ledger", "entry", "versions"}


@dataclass(frozen=True, eq=False)
class Release:
    """What may be published, and what is promised about it; a closed list of fields.

    All fields but the value are decided before rows are read.

    Parameters
    ----------
    value
        The answer.
    guarantee
        The privacy profile of the answer, and the unit that it protects.
    mechanism
        The name of the mechanism and of its proof note.
    receipt_number
        The number of the charge in its ledger; zero without one.
    version
        Of this library.
    reason
        Why the mechanism was set up so, from public facts.
    purpose
        What the caller said it was for.
    facts
        What is declared about rows or taken as public, in words, and by whom.
    noise
        The source of randomness.
    certificate
        How far computed and ideal numbers can be apart.
    ledger, entry
        What tells the ledger from others, and the digest of the charge in its chain; empty without.
    versions
        Of this library, Python, NumPy and SciPy.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> result = Release(42, Guarantee(Pure(1.0), AddRemoveOne()), "private_count", 1, "0.1")
    >>> result.is_private, Release.from_json(result.to_json()).value
    (True, 42)
    """

    value: Any
    guarantee: Guarantee
    mechanism: str
    receipt_number: int
    version: str
    reason: str = ""
    purpose: str = ""
    facts: tuple[Fact, ...] = ()
    noise: str = ""
    certificate: Certificate = field(default_factory=Certificate)
    ledger: str = ""
    entry: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether anything is promised at all."""
        return self.guarantee.is_private

    @property
    def is_rehearsal(self) -> bool:
        """Whether it was made with seeded noise, which can be reproduced."""
        return self.noise.startswith(REHEARSAL)

    @property
    def noise_scale(self) -> float | None:
        """The scale of the noise on what was counted or added up; None without noise, or several.

        The standard deviation of a Gaussian law, and b of a Laplace law with the density
        exp(-|x| / b) / 2b, whose deviation is 1.41 b: in rows for counts, in the units of the rows
        for sums; for means of a sum in which each column is from -1 to 1.
        """
        told = {one.value for one in self.certificate.tolerances if one.what == NOISE_SCALE}
        return told.pop() if len(told) == 1 else None

    def _repr_html_(self) -> str:
        rows = [
            ("value", np.array2string(np.asarray(self.value), threshold=MOST_SHOWN)),
            ("purpose", self.purpose or "not said"),
            ("mechanism", self.mechanism),
            ("why so", self.reason or "there was nothing to choose"),
            ("ledger", f"{self.ledger}, entry {self.receipt_number}" if self.ledger else "none"),
        ]
        shown = table_html("", ("what", "value"), rows)
        return notebook_html("Release", sentence_html(self.guarantee.sentence()), shown)

    def to_json(self) -> str:
        """Return a JSON text with every field; numbers survive exactly."""
        value = self.value.tolist() if isinstance(self.value, np.ndarray) else self.value
        document: Json = {
            "format": FORMAT,
            "value": value,
            "value_is_array": isinstance(self.value, np.ndarray),
            "guarantee": json.loads(self.guarantee.to_json()),
            "mechanism": self.mechanism,
            "receipt_number": self.receipt_number,
            "version": self.version,
            "reason": self.reason,
            "purpose": self.purpose,
            "facts": [
                {"what": fact.what, "words": fact.words, "source": fact.source.value}
                for fact in self.facts
            ],
            "noise": self.noise,
            "certificate": {
                "distance": self.certificate.distance,
                "failure": self.certificate.failure,
                "tolerances": [
                    {"what": one.what, "value": one.value} for one in self.certificate.tolerances
                ],
            },
            "ledger": self.ledger,
            "entry": self.entry,
            "versions": dict(self.versions),
        }
        return _json.dump(document)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release back, of this format or the first; unknown fields are refused."""
        document = _json.parse(text, "a release")
        if document.get("format") not in (1, FORMAT) or document["format"] is True:
            raise InputError("this release has another format; this version reads 1 and 2.")
        is_first = document["format"] == 1
        _json.check_fields(document, FIRST_FIELDS if is_first else FIELDS, "a release")
        more = () if is_first else ("purpose", "noise", "ledger", "entry")
        for name in ("mechanism", "version", "reason", *more):
            _checks.instance(str, **{name: document[name]})
        _checks.whole(receipt_number=document["receipt_number"], at_least=0)
        _checks.instance(bool, value_is_array=document["value_is_array"])
        first = cls(
            value=_array(document["value"]) if document["value_is_array"] else document["value"],
            guarantee=Guarantee.from_json(json.dumps(document["guarantee"])),
            mechanism=document["mechanism"],
            receipt_number=document["receipt_number"],
            version=document["version"],
            reason=document["reason"],
        )
        return first if is_first else _complete(first, document)


def _array(value: object) -> Any:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the value of a release must be a table of numbers.") from None


def _complete(first: Release, document: Json) -> Release:
    """Add the fields that came with the second format."""
    certificate = _json.check_fields(
        document["certificate"], {"distance", "failure", "tolerances"}, "a certificate"
    )
    _checks.instance(dict, versions=document["versions"])
    for name, version in document["versions"].items():
        _checks.instance(str, **{name: version})
    return replace(
        first,
        purpose=document["purpose"],
        facts=tuple(_fact(fact) for fact in _check_list(facts=document["facts"])),
        noise=document["noise"],
        certificate=Certificate(
            distance=certificate["distance"],
            failure=certificate["failure"],
            tolerances=tuple(
                Tolerance(**_json.check_fields(one, {"what", "value"}, "a tolerance"))
                for one in _check_list(tolerances=certificate["tolerances"])
            ),
        ),
        ledger=document["ledger"],
        entry=document["entry"],
        versions=tuple(document["versions"].items()),
    )


def _check_list(**named: Any) -> list[Any]:
    _checks.instance(list, **named)
    ((_, listed),) = named.items()
    return list(listed)


def _fact(document: object) -> Fact:
    parts = _json.check_fields(document, {"what", "words", "source"}, "a fact")
    sources = {source.value: source for source in Origin}
    _checks.one_of(sources, source=parts["source"])
    return Fact(parts["what"], parts["words"], sources[parts["source"]])
