"""The privacy card of one release."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet import _checks, _json
from discreet._page import GREY, escape_html
from discreet._types import Json
from discreet.errors import InputError, InputTypeError
from discreet.ledger import AbstractLedger, Allowance
from discreet.ledger.abstract import check_rows_per_person
from discreet.ledger.allowance import ANY
from discreet.privacy import Guarantee, Unit
from discreet.privacy.group import MOST_RECORDS
from discreet.record import Release
from discreet.report.card_scores import ScoresOfRelease, check_scores, document_of_scores
from discreet.report.card_shapes import ShapeOfColumn, check_shapes, document_of_shapes
from discreet.report.html import as_html
from discreet.report.json_schema import card_schema, validate
from discreet.report.markdown import as_markdown
from discreet.report.numbers import (
    check_numbers,
    finite_or_none,
    intern_profile,
    numbers_of,
)
from discreet.report.page import page_of
from discreet.report.theorem import theorem_of

FORMAT = "discreet privacy card"
VERSION = 1
ABOUT = ("title", "description", "protects", "contact", "data")
ROWS = "rows_per_person"


@dataclass(frozen=True)
class Card:
    r"""A checked card; the JSON text is all there is to it.

    Parameters
    ----------
    text
        A JSON text; one whose numbers do not follow from its profile is refused.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> result = Release(42, Guarantee(Pure(1.0), AddRemoveOne()), "private_count", 0, "0.1")
    >>> shown = card(result, about="How many patients were readmitted.")
    >>> Card.from_json(shown.to_json()) == shown
    True
    >>> shown.document["numbers"]["quoted"]
    {'epsilon': 1.0, 'delta': 0.0}
    >>> print(shown.markdown().splitlines()[0])
    # Privacy card: private\_count
    """

    text: str

    def __post_init__(self) -> None:
        document = _json.parse(self.text, "a card")
        try:
            validate(document, card_schema())
            guarantee = Guarantee.from_json(json.dumps(document["guarantee"]))
            guarantee = replace(guarantee, profile=intern_profile(guarantee.profile))
            _check_agreement(document, guarantee)
            check_numbers(document["numbers"], guarantee)
        except (TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"a card must hold a guarantee of this library: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Card:
        """Read a card; one whose numbers do not follow from its profile is refused."""
        return cls(text)

    def to_json(self) -> str:
        """Return the card for machines, as documented in ``docs/card.md``."""
        return self.text

    @property
    def document(self) -> Json:
        """The JSON document, a fresh copy."""
        return _json.parse(self.text, "a card")

    def markdown(self) -> str:
        """Return the card for people, as Markdown."""
        return as_markdown(page_of(self.document))

    def html(self) -> str:
        """Return the card for people, as one HTML page that fetches nothing."""
        return as_html(page_of(self.document))

    def _repr_html_(self) -> str:
        # A page of its own: neither its style nor the notebook's touches the other.
        style = f"width:100%;height:44rem;border:1px solid {GREY}"
        return f'<iframe sandbox style="{style}" srcdoc="{escape_html(self.html())}"></iframe>'

    def write(self, folder: str | Path) -> tuple[Path, Path, Path]:
        """Write card.json, card.md and card.html; each file is there as a whole or not at all."""
        texts = {
            "card.json": self.to_json(),
            "card.md": self.markdown(),
            "card.html": self.html(),
        }
        where = Path(folder)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise InputError(f"{where} must be a folder to write into; it is not.") from None
        waiting: dict[Path, Path] = {}
        try:
            for name, text in texts.items():
                waiting[where / name] = _write_aside(where, text)
            for path, aside in waiting.items():
                os.replace(aside, path)
        except OSError as error:
            raise InputError(f"{where} could not be written to: {error.strerror}.") from None
        finally:
            for aside in waiting.values():
                aside.unlink(missing_ok=True)
        first, second, third = waiting
        return first, second, third


def _write_aside(where: Path, text: str) -> Path:
    handle, name = tempfile.mkstemp(dir=where, prefix=".card-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def card(
    release: Release,
    *,
    ledger: AbstractLedger | None = None,
    about: str | Mapping[str, Any] | None = None,
    scores: ScoresOfRelease | None = None,
    shapes: Mapping[str, ShapeOfColumn] | None = None,
) -> Card:
    """Make the card of a release.

    Parameters
    ----------
    release
        What :func:`discreet.release` returned, or an estimator's ``release_``.
    ledger
        Where it was paid for, to say how much of the budget is left.
    about
        What the release is about, in the publisher's words: a text, or a dict with any of
        ``title``, ``description``, ``protects`` (what one record stands for, or one person),
        ``contact``, ``data`` (the name of the data set) and, if the unit is a record,
        ``rows_per_person``: how many records one of those that ``protects`` names has at most, as
        the owner of the data says. Without it no more than one record is promised; with more than
        one the numbers of so many records come first.
    scores
        What :func:`discreet.metrics.private_score` returned for the model: a section shows them
        with 95 % intervals, and what was charged for them.
    shapes
        ``shapes_`` of an additive model of two classes or of numbers: a section draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Bounds, Budget, GaussianSum, MemoryLedger, Rows, VectorMean, release
    >>> from discreet.geometry import Box
    >>> bounds = Bounds(Box([0], [120]), n_features=1)
    >>> rows = Rows(np.full((5000, 1), 47.0), bounds=bounds)
    >>> ledger = MemoryLedger(Budget(2.0, 1e-5))
    >>> mean = release(
    ...     GaussianSum(), VectorMean(bounds), rows, budget=Budget(1.0, 1e-6), ledger=ledger
    ... )
    >>> patients = {"title": "Mean age", "protects": "one patient", "rows_per_person": 1}
    >>> shown = card(mean, ledger=ledger, about=patients)
    >>> round(shown.document["ledger"]["account"]["remaining"], 2)
    1.0
    """
    _checks.instance(Release, release=release)
    theorem = theorem_of(release.mechanism)
    guarantee = replace(release.guarantee, profile=intern_profile(release.guarantee.profile))
    said = _about(about, ledger, guarantee.unit)
    document: Json = {
        "format": FORMAT,
        "version": VERSION,
        "written": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "about": said,
        "status": {"is_private": release.is_private, "is_rehearsal": release.is_rehearsal},
        "protection": {
            "unit": guarantee.unit.name,
            "change": guarantee.unit.change,
            "sentence": guarantee.sentence(),
            "public_facts": list(guarantee.public_facts),
        },
        "guarantee": json.loads(guarantee.to_json()),
        "numbers": numbers_of(guarantee, said[ROWS] or 1),
        "mechanism": {
            "name": release.mechanism,
            "note": theorem.note,
            "statement": theorem.statement,
            "note_digest": theorem.digest,
            "reason": release.reason,
            "purpose": release.purpose,
        },
        "facts": [
            {"what": fact.what, "words": fact.words, "source": fact.source.value}
            for fact in release.facts
        ],
        "noise": {"source": release.noise},
        "certificate": {
            "distance": release.certificate.distance,
            "failure": release.certificate.failure,
            "tolerances": [
                {"what": one.what, "value": one.value} for one in release.certificate.tolerances
            ],
        },
        "ledger": _ledger(release, ledger),
        "versions": dict(release.versions) | {"discreet": release.version},
    }
    if scores is not None:
        document["scores"] = document_of_scores(scores)
    if shapes is not None:
        document["shapes"] = document_of_shapes(shapes)
    return Card(_json.dump(document, indent=2) + "\n")


def _about(about: object, ledger: AbstractLedger | None, unit: Unit) -> dict[str, Any]:
    said = {"description": about} if isinstance(about, str) else ({} if about is None else about)
    if not isinstance(said, Mapping):
        raise InputTypeError(
            f"about must be a text, or a dict with any of {', '.join((*ABOUT, ROWS))}; got a value "
            f"of type {type(about).__name__}."
        )
    unknown = [name for name in said if name not in (*ABOUT, ROWS)]
    if unknown:
        raise InputError(f"about may have {', '.join((*ABOUT, ROWS))}; got {unknown} as well.")
    texts, rows = {name: text for name, text in said.items() if name != ROWS}, said.get(ROWS)
    for name, text in texts.items():
        _checks.instance(str, **{f"about[{name!r}]": text})
    if rows is not None and unit.protects_persons:
        raise InputError(
            f"this release protects all records of a person ({unit.name}); a number of records has "
            "no place on its card. Leave rows_per_person out."
        )
    if rows is not None:
        _checks.whole(rows_per_person=rows, at_least=1, at_most=MOST_RECORDS)
    if ledger is not None:
        _checks.instance(AbstractLedger, ledger=ledger)
        check_rows_per_person(ledger, "the card", rows)
        if (ledger.rows_per_person or 1) > 1:
            rows = ledger.rows_per_person
    # ledgers in memory say neither
    known = {"protects": getattr(ledger, "protects", ""), "data": getattr(ledger, "dataset", "")}
    found = dict.fromkeys(ABOUT, "") | known | texts | {ROWS: None if rows is None else int(rows)}
    return found | {"protects": unit.name_protected(found["protects"])}


def _ledger(release: Release, ledger: AbstractLedger | None) -> Json | None:
    if release.receipt_number == 0:
        if ledger is not None:
            raise InputError("this release was not paid for by a ledger; leave ledger out.")
        return None
    return {
        "identity": release.ledger,
        "entry": release.receipt_number,
        "digest": release.entry,
        "account": None if ledger is None else _account(release, ledger),
    }


def _account(release: Release, ledger: AbstractLedger) -> Json:
    number, guarantee = release.receipt_number, release.guarantee
    entries = [entry for entry in ledger.history() if entry.number == number]
    is_other = ledger.identity != release.ledger and not release.entry
    if (
        not entries
        or is_other
        or entries[0].guarantee != guarantee
        or entries[0].digest != release.entry
    ):
        raise InputError(
            f"this ledger has no charge number {number} for this guarantee; show the ledger that "
            "paid for the release."
        )
    part = entries[0].part
    books: Any = ledger if part is None else ledger.for_part(part)  # type: ignore[attr-defined]
    delta = guarantee.quoted_delta
    left: Allowance | None = books.allowance()
    budget = None if left is None else left.budget
    return {
        "state": entries[0].state.value,
        "charged": entries[0].time.isoformat(),
        "budget": None if budget is None else {"epsilon": budget.epsilon, "delta": budget.delta},
        "spent": finite_or_none(books.spent(delta)),
        "spent_in_all": None if budget is None else finite_or_none(books.spent(budget.delta)),
        "part": entries[0].part,
        "remaining": finite_or_none(books.remaining()),
        "remaining_delta": delta if left is None else left.delta,
        "remaining_kind": ANY if left is None else left.kind,
        "delta": delta,
    }


def _check_agreement(document: Json, guarantee: Guarantee) -> None:
    """Raise if the words of a card speak of another guarantee than its profile."""
    said, protection, ledger = document["guarantee"], document["protection"], document["ledger"]
    is_other = document["versions"]["discreet"] != version("discreet")  # it may use other words
    rows = document["about"].get(ROWS) or 1
    sizes = [1, *(group["size"] for group in document["numbers"]["groups"])]
    agrees = (
        said["unit"] == protection["unit"]
        and protection["change"] == guarantee.unit.change
        and (is_other or protection["sentence"] == guarantee.sentence())
        and said["public_facts"] == protection["public_facts"]
        and document["status"]["is_private"] == guarantee.is_private
        and not (document["status"]["is_rehearsal"] and guarantee.is_private)
        and (ledger is None or ledger["account"] is None or guarantee.is_private)
        and (rows in sizes or not guarantee.is_private)
    )
    if not agrees:
        raise InputError("the words of this card do not agree with its guarantee; make it again.")
    if "scores" in document:
        check_scores(document["scores"], is_other=is_other)
    check_shapes(document.get("shapes", []))
