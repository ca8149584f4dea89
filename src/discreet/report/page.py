"""What a card tells people, as blocks that can be written in Markdown or HTML.

The document model of the privacy card: paragraphs, tables, a figure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from discreet._types import Json
from discreet.ledger.allowance import ANY, Allowance
from discreet.privacy import ONE_PERSON, ONE_RECORD, Budget, Unit, unit_named
from discreet.privacy.guarantee import down_to_three_digits
from discreet.privacy.guarantee import in_three_digits as up
from discreet.report.card_shapes import describe_shape
from discreet.report.numbers import curve_of
from discreet.report.tradeoff import Tradeoff

SHOWN_ALARMS = (0.01, 0.05, 0.1, 0.25, 0.5)


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True)
class Alarm:
    """What must not be overlooked."""

    text: str


@dataclass(frozen=True)
class Headline:
    """A few numbers to be seen first: pairs of a number and what it is."""

    numbers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lead:
    """The one sentence to be read if nothing else is."""

    text: str


@dataclass(frozen=True)
class Particulars:
    """What a document begins with: pairs of a name and what stands there."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BudgetBar:
    """How much of the budget is left, from 0 to 1, and the same in words."""

    share_left: float
    words: str


@dataclass(frozen=True)
class Signature:
    """Lines to be filled in by hand."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Items:
    """A list: pairs of a few words to start with, and a sentence."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TableBlock:
    """Rows of cells under a header; the first cell of a row names it."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Quotation:
    """Text to be shown as it is."""

    text: str


@dataclass(frozen=True)
class CurveBlock:
    """The picture of a trade-off, and the same in words."""

    tradeoff: Tradeoff
    words: str


@dataclass(frozen=True)
class ShapesBlock:
    """Pictures of what each column adds to a score, and the same in words."""

    shapes: tuple[Json, ...]
    words: str


Block: TypeAlias = (
    Paragraph
    | Alarm
    | Headline
    | Lead
    | Particulars
    | BudgetBar
    | Signature
    | Items
    | TableBlock
    | Quotation
    | CurveBlock
    | ShapesBlock
)


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; details may be folded away."""

    title: str
    blocks: tuple[Block, ...]
    is_detail: bool = False


@dataclass(frozen=True)
class Page:
    """A title, what comes first, and sections."""

    title: str
    opening: tuple[Block, ...]
    sections: tuple[Section, ...]


def page_of(document: Json) -> Page:
    """Return what the card says to people."""
    about, purpose = document["about"], document["mechanism"]["purpose"]
    name = about["title"] or purpose or document["mechanism"]["name"]
    sections = [
        _protection_section(document),
        _unprotected_section(document),
        _budget_section(document),
        *([_shapes_section(document)] if document.get("shapes") else []),
        *([_scores_section(document)] if "scores" in document else []),
    ]
    details = [_attacker_section(document)] if document["status"]["is_private"] else []
    details += [_facts_section(document), _making_section(document)]
    details += [_numbers_section(document), _versions_section(document)]
    sections += [replace(section, is_detail=True) for section in details]
    return Page(f"Privacy card: {name}", tuple(_opening_blocks(document)), tuple(sections))


def _opening_blocks(document: Json) -> list[Block]:
    blocks: list[Block] = []
    if not document["status"]["is_private"]:
        blocks.append(Alarm(_reason_for_alarm(document)))
    blocks.append(Particulars(_particulars(document)))
    if document["about"]["description"]:
        blocks.append(Paragraph(document["about"]["description"]))
    if document["status"]["is_private"]:
        blocks += _promise_blocks(document)
    blocks.append(Signature(("Name and office", "Date", "Signature")))
    return blocks


def _particulars(document: Json) -> tuple[tuple[str, str], ...]:
    about, ledger = document["about"], document["ledger"]
    account = None if ledger is None else ledger["account"]
    pairs = [("Date", document["written"][:10]), ("Data set", about.get("data", "") or "not named")]
    if account is not None:
        pairs.append(("Charged", f"{account['charged'][:10]}, entry {ledger['entry']}"))
    if document["status"]["is_private"]:
        pairs.append(("Protected", _name_protected(document)))
    return tuple(pairs)


def _promise_blocks(document: Json) -> list[Block]:
    """Return the promise to whoever is protected: one person, one record, or several together."""
    numbers, about = document["numbers"], document["about"]
    rows = about.get("rows_per_person") or 1
    groups = {group["size"]: group for group in numbers["groups"]}
    one = numbers["quoted"] | {"best_guess": numbers["best_guess"]} if rows == 1 else groups[rows]
    epsilon = "no bound" if one["epsilon"] is None else up(one["epsilon"])
    of = "" if rows == 1 else f" for {rows} records together"
    whom = _name_protected(document)
    prior = f"it is equally likely that the data do or do not hold {whom}"
    if _unit(document).is_replace:
        prior = f"two values of {whom} are equally likely"
    best = _percent_up(one["best_guess"])
    blocks: list[Block] = [
        Lead(
            f"Suppose that beforehand {prior}. Whoever must then guess from this result is right "
            f"at most {best} of the time; a coin is right half of the time."
        ),
        Headline(
            (
                (epsilon, f"epsilon{of}"),
                (up(one["delta"]), "delta"),
                (best, "best guess of an attacker; blind: 50 %"),
            )
        ),
    ]
    account = (document["ledger"] or {}).get("account")
    if account is not None and account["budget"] is not None and account["remaining"] is not None:
        share = account["remaining"] / account["budget"]["epsilon"]
        blocks.append(BudgetBar(min(1.0, share), _allowance_in_words(account)))
    return blocks


def _unit(document: Json) -> Unit:
    return unit_named(document["protection"]["unit"])


def _name_protected(document: Json) -> str:
    """Say what is protected: a person if the unit is one; else records, and whose they are said."""
    about, unit = document["about"], _unit(document)
    named = about["protects"].strip()
    rows = about.get("rows_per_person")
    if unit.protects_persons:
        return f"all records of {unit.name_protected(named)}"
    if rows is not None and rows > 1:
        one = ONE_PERSON if named in ("", ONE_RECORD) else named
        return f"{rows} records together (the data owner says that {one} has at most so many)"
    if named in ("", ONE_RECORD) or rows is None:
        return ONE_RECORD
    return f"{ONE_RECORD}, which the data owner says is {named}"


def _reason_for_alarm(document: Json) -> str:
    if document["status"]["is_rehearsal"]:
        return (
            "NOTHING IS PRIVATE. This is a simulation (rehearsal): seeded noise can be reproduced "
            "and subtracted. "
            "Do not publish the result."
        )
    return (
        "NOTHING IS PRIVATE. No privacy was asked for, and none is promised. Do not publish the "
        "result."
    )


ONE_ROW = (
    "One record means one row as given to fit. Whoever has several rows in that table, because "
    "rows were copied, resampled (oversampling, bootstrap) or collected repeatedly, is protected "
    "as the table says; nothing is promised beyond, to whoever has more."
)

ONE_PERSON_IS = (
    "A person is whoever shares a value of the column of ids, as given to fit, with however many "
    "records. People who share an id, and one person under two ids, are not what is protected. "
    "Records without an id are not used."
)

EXCHANGED = (
    " It is about what so many of their records say; whether somebody is in the data, and with how "
    "many records, is not protected."
)


def _protection_section(document: Json) -> Section:
    protection, about = document["protection"], document["about"]
    blocks: list[Block] = [Paragraph(protection["sentence"])]
    if document["status"]["is_private"]:
        blocks.append(
            Paragraph(
                f"What is protected is {_name_protected(document)}: {_change_in_words(document)} "
                "could not be noticed, beyond what the numbers of this card say, by anyone who "
                "sees this result, whatever else they know."
            )
        )
        if _unit(document).protects_persons:
            blocks.append(Paragraph(ONE_PERSON_IS))
        else:
            blocks += _blocks_on_several_records(document)
    if about["contact"]:
        blocks.append(Paragraph(f"Questions: {about['contact']}"))
    return Section("What is protected", tuple(blocks))


def _blocks_on_several_records(document: Json) -> list[Block]:
    """Say what one record is, and what is promised to someone with several."""
    about, numbers, blocks = document["about"], document["numbers"], list[Block]()
    if about["protects"] not in ("", ONE_RECORD) and about.get("rows_per_person") is None:
        blocks.append(
            Paragraph(
                f"The publisher speaks of {about['protects']}. How many records that is at "
                "most was not declared, so no more than one record is promised here."
            )
        )
    blocks.append(Paragraph(ONE_ROW + (EXCHANGED if _unit(document).is_replace else "")))
    one = numbers["quoted"] | {"size": 1, "best_guess": numbers["best_guess"]}
    blocks.append(_group_table("Someone with several records", "records", one, numbers))
    return blocks


def _group_table(caption: str, of: str, one: Json | None, numbers: Json) -> TableBlock:
    rows = tuple(
        (
            str(group["size"]),
            "no bound" if group["epsilon"] is None else up(group["epsilon"]),
            up(group["delta"]),
            _percent_up(group["best_guess"]),
        )
        for group in ([] if one is None else [one]) + numbers["groups"]
    )
    return TableBlock(caption, (of, "epsilon", "delta", "best guess"), rows)


def _change_in_words(document: Json) -> str:
    """Say what must not show: the change of a record, or of all that belong to one person."""
    change, rows = document["protection"]["change"], document["about"].get("rows_per_person") or 1
    return str(change) if rows == 1 else f"{change} up to {rows} times over"


def _attacker_section(document: Json) -> Section:
    numbers = document["numbers"]
    belief, curve = numbers["belief"], curve_of(numbers)
    even = next((one for one in belief["beliefs"] if one["before"] == 0.5), None)
    except_for = (
        f", except with a chance of at most {up(belief['exception'])} in either direction"
        if belief["exception"] > 0
        else ""
    )
    unit = _unit(document)
    one, says = ("person", "records say") if unit.protects_persons else ("record", "says")
    owner = f"{one}'s" if unit.protects_persons else one
    doubt = (
        f"whether a certain {owner} {says} one thing or another"
        if unit.is_replace
        else f"whether a certain {one} is in the data"
    )
    blocks: list[Block] = []
    rows_each = document["about"].get("rows_per_person") or 1
    if rows_each > 1:
        blocks.append(
            Paragraph(
                f"The beliefs and the curve here are about one record; {rows_each} records that "
                "change together are in the table of several records, and on top."
            )
        )
    if even is not None:
        blocks.append(
            Paragraph(
                f"Someone who thought it 50:50 {doubt} can at most come to believe it to "
                f"{_percent_up(even['at_most'])}{except_for}."
            )
        )
    rows = tuple(
        (
            _percent_up(one["before"]),
            _percent_down(one["at_least"]),
            _percent_up(one["at_most"]),
        )
        for one in belief["beliefs"]
    )
    blocks.append(TableBlock(f"Beliefs about one {one}", ("before", "at least", "at most"), rows))
    blocks.append(
        Paragraph(
            "Whoever must guess which of two equally likely neighbours this result is from is "
            f"right at most {_percent_up(numbers['best_guess'])} of the time; blind guessing is "
            "right half of the time."
        )
    )
    misses = curve.misses(SHOWN_ALARMS)
    listed = "; ".join(
        f"{_percent_up(alarms)} against {_percent_down(float(share))}"
        for alarms, share in zip(SHOWN_ALARMS, misses, strict=True)
    )
    blocks.append(
        CurveBlock(
            curve,
            f"Best attacks on one {one}. An attack that tells two neighbouring data sets apart "
            "with some share of false alarms misses at least the share that the curve shows. "
            "The dashed line is blind guessing; the closer the curve, the less can be learnt. "
            f"False alarms against misses, at least: {listed}.",
        )
    )
    whole = "Families and households" if unit.protects_persons else "Families or repeated entries"
    known = f"a {owner} {says}, if {'they are' if unit.protects_persons else 'it is'} known to be"
    two = f" What {known} in the data, counts as two: one that goes and one that comes."
    blocks.append(
        Paragraph(
            f"{whole} are protected less, because all their records change together."
            f"{'' if unit.is_replace else two}"
        )
    )
    if unit.protects_persons:
        blocks.append(_group_table("Groups of persons", "persons", None, numbers))
    return Section("What an attacker could still learn", tuple(blocks))


def _unprotected_section(document: Json) -> Section:
    if not document["status"]["is_private"]:
        everything = "Everything: whatever is in the records may show in the result."
        return Section("What is not protected", (Paragraph(everything),))
    items = [
        (
            "Facts about everybody.",
            "What is true of the population may be learnt, and may be bad news for somebody who "
            "took no part: that smoking harms is not a secret of any smoker.",
        ),
        (
            "What is taken as public:",
            "; ".join(document["protection"]["public_facts"]) or "nothing beside the code",
        ),
        (
            "Before and beside the release.",
            "The promise is about the rows as they were given. What was learnt from them before "
            "(scales, fills, a choice of columns or settings), exact scores of them, and a "
            "split by position, where one record more or fewer moves others across the cut, are "
            "not covered.",
        ),
        (
            "Time and traces.",
            "How long the computation took, memory, logs and error reports of other programs.",
        ),
        (
            "Other publications.",
            "Anything published about the same records outside of the ledger adds to the loss.",
        ),
        (
            "The data themselves.",
            "Whoever holds or steals the records needs no release; this card is not about access.",
        ),
    ]
    return Section("What is not protected", (Items(tuple(items)),))


def _budget_section(document: Json) -> Section:
    ledger = document["ledger"]
    title = "How much of the budget is left"
    if ledger is None:
        if document["status"]["is_private"]:
            words = (
                "No ledger was kept: how much other releases about the same records have spent is "
                "not known."
            )
        else:
            words = "Nothing was charged: no ledger takes a release without privacy."
        return Section(title, (Paragraph(words),))
    blocks: list[Block] = []
    account = ledger["account"]
    if account is not None:
        delta, total = up(account["delta"]), account["budget"]
        whole = ""
        if total is not None:
            whole = f" The budget holds at delta {_format_number(total['delta'])}."
        spent = "no bound" if account["spent"] is None else f"epsilon {up(account['spent'])}"
        blocks.append(
            Paragraph(
                f"The ledger, when this card was written: {_allowance_in_words(account)} All "
                f"releases so far together come to {spent} at delta {delta}"
                f"{_total_in_words(account)}.{whole}"
            )
        )
    else:
        blocks.append(Paragraph("The ledger was not shown when this card was written."))
    rows = [("ledger", ledger["identity"]), ("entry", str(ledger["entry"]))]
    if ledger["digest"]:
        rows.append(("digest of the entry", ledger["digest"]))
    if account is not None:
        rows += [("charged", account["charged"]), ("state", account["state"])]
    blocks.append(TableBlock("Ledger entry", ("what", "value"), tuple(rows)))
    return Section(title, tuple(blocks))


def _shapes_section(document: Json) -> Section:
    shapes = tuple(document["shapes"])
    words = (
        "What each column adds to the score, value by value, the most important column first. All "
        "pictures have one scale; on the dashed line nothing is added. Grey at the bottom is how "
        "often values occur (square roots of noisy shares); shaded is where they do not, so that "
        "nothing holds a curve there. All of it was released, and there is noise in all of it."
    )
    header = ("column", "importance", "least", "most", "missing")
    rows = tuple(map(describe_shape, shapes))
    table = TableBlock("What columns add, the most important first", header, rows)
    return Section("What the model looks like", (ShapesBlock(shapes, words), table))


def _scores_section(document: Json) -> Section:
    scores = document["scores"]
    blocks: list[Block] = []
    if not scores["is_private"]:
        blocks.append(Alarm("THESE SCORES ARE NOT PRIVATE. Do not publish those of private rows."))
    whom = (
        "rows like those that were scored, drawn independently of the model"
        if scores["of"] == "population"
        else "the rows that were scored, on which the model was fitted, and about no others"
    )
    blocks.append(
        Paragraph(
            f"An interval covers the exact score with a chance of {100 * scores['level']:.3g} %, "
            f"noise and binning included. It is about {whom}."
        )
    )
    rows = tuple(
        (
            line["score"],
            f"{line['value']:.4g}",
            f"{line['low']:.4g} to {line['high']:.4g}",
            line["reason"],
        )
        for line in scores["lines"]
    )
    blocks.append(TableBlock("Scores", ("score", "estimate", "interval", "note"), rows))
    if scores["entry"] is not None:
        paid = f"They were charged by themselves: entry {scores['entry']} of {scores['ledger']}."
    elif scores["is_private"]:
        paid = "No ledger was charged for them."
    else:
        paid = "Nothing was charged for them."
    both = (
        " The same records were used for the model: the model and its scores count, one after the "
        "other, and together they are protected less than this card says of the model."
        if scores["of"] == "sample"
        else " Whoever is among the records of the model too is protected less: both count."
    )
    blocks.append(
        Paragraph(
            f"What is promised about the rows that were scored: {scores['sentence']} {paid}"
            + (both if scores["is_private"] else "")
        )
    )
    return Section("How good it is", tuple(blocks))


def _facts_section(document: Json) -> Section:
    rows = tuple((fact["what"], fact["words"], fact["source"]) for fact in document["facts"])
    if not rows:
        return Section("What was declared, and by whom", (Paragraph("Not recorded."),))
    return Section(
        "What was declared, and by whom",
        (
            Paragraph(
                "Values outside of what is declared are clipped before anything else; the "
                "declarations are kept by the code, not by the data."
            ),
            TableBlock("Declared facts", ("about", "fact", "who says so"), rows),
        ),
    )


def _allowance_in_words(account: Json) -> str:
    """Say what may still be released, in the words of the ledger."""
    left, total = account["remaining"], account["budget"]
    if left is None:
        return "Any epsilon may still be released."
    if total is None:
        return f"Epsilon {down_to_three_digits(left)} may still be released."
    told = {
        "remaining_delta": account["delta"],
        "remaining_kind": ANY,
    } | account  # an older card says less
    at, kind = told["remaining_delta"], told["remaining_kind"]
    allowance = Allowance(left, at, kind, Budget(total["epsilon"], total["delta"]))
    return allowance.sentence()


def _total_in_words(account: Json) -> str:
    """Say what was spent at the delta of the whole budget, if that is another."""
    total, spent = account["budget"], account["spent_in_all"]
    if total is None or spent is None or total["delta"] == account["delta"]:
        return ""
    return f", and to epsilon {up(spent)} at delta {up(total['delta'])}"


def _making_section(document: Json) -> Section:
    mechanism, certificate = document["mechanism"], document["certificate"]
    rows = [
        ("mechanism", mechanism["name"]),
        ("purpose", mechanism["purpose"] or "not said"),
        ("why so", mechanism["reason"] or "there was nothing to choose"),
        ("source of noise", document["noise"]["source"] or "not recorded"),
        (
            "distance of the computed from the ideal law, counted above",
            _format_number(certificate["distance"]),
        ),
        ("chance added to delta", _format_number(certificate["failure"])),
    ]
    rows += [(one["what"], _format_number(one["value"])) for one in certificate["tolerances"]]
    return Section(
        "How it was made",
        (
            TableBlock("Mechanism and certificate", ("what", "value"), tuple(rows)),
            Paragraph(
                f"What is proved, from {mechanism['note']} "
                f"(SHA-256 {mechanism['note_digest'][:16]}…):"
            ),
            Quotation(_unwrap(mechanism["statement"])),
        ),
    )


def _unwrap(text: str) -> str:
    """Return text with the lines of each paragraph joined; lists, tables and formulas stay."""
    lines: list[str] = []
    for line in text.split("\n"):
        joins = bool(lines and lines[-1].strip() and line.strip())
        if joins and not re.match(r"[-*|]|\s{4}", line) and not re.match(r"\||\s{4}", lines[-1]):
            lines[-1] = f"{lines[-1]} {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _numbers_section(document: Json) -> Section:
    profile = document["guarantee"]["profile"]["kind"]
    rows = tuple(
        (up(entry["delta"]), "no bound" if entry["epsilon"] is None else up(entry["epsilon"]))
        for entry in document["numbers"]["epsilons"]
    )
    told = Paragraph(
        f"The guarantee is a whole privacy profile (kind: {profile}); the JSON card carries it, "
        "and any epsilon or delta can be read off it. Numbers are rounded up."
    )
    if not rows:
        return Section("All numbers", (Paragraph("There are none: nothing is promised."),))
    table = TableBlock("Epsilon at several deltas", ("delta", "epsilon"), rows)
    return Section("All numbers", (told, table))


def _versions_section(document: Json) -> Section:
    rows = tuple((name, version) for name, version in document["versions"].items())
    return Section(
        "Versions",
        (
            TableBlock("Software that made the release", ("software", "version"), rows),
            Paragraph(f"Card written {document['written']}."),
        ),
    )


def _percent_up(share: float) -> str:
    return _percent(share, ROUND_CEILING)


def _percent_down(share: float) -> str:
    return _percent(share, ROUND_FLOOR)


def _percent(share: float, way: str) -> str:
    # Twelve digits first: 0.01 is not quite a hundredth.
    exact = Decimal(f"{100 * share:.10f}")
    return f"{exact.quantize(Decimal('0.1'), way):f}".removesuffix(".0") + "\u00a0%"


def _format_number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else str(value)
