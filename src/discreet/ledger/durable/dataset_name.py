"""Names of data sets: what is one name to a reader is one data set in a ledger.

Normal form NFKC, case and white space do not tell names apart, and a name that a reader would take
for another one is refused. Look-alikes are found by a skeleton: marks are dropped, and letters of
the Greek and Cyrillic alphabets, and digits, become the Latin letters that they resemble.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from discreet.errors import InputError

LOOKS_LIKE = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕЅІЈКМНОРСТУХαβγεικνορτυχωавгеӏікмнорстухјѕԁԛԝүһ01|",  # noqa: RUF001
    "abezhikmnoptyxabesijkmhopctyxabyeikvoptuxwabreiikmhopctyxjsdqwyholl",
)

MANY_LETTERS = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}
"""Scripts that are written together, and beside others."""


def tidy_name(name: str) -> str:
    """Return a name as it is kept: in normal form, without white space to spare.

    Examples
    --------
    >>> tidy_name("  Patients   2024 ")
    'Patients 2024'
    """
    tidied = " ".join(unicodedata.normalize("NFKC", name).split())
    if not tidied.isprintable():
        raise InputError("the name of a data set must not have letters that cannot be seen.")
    if len(scripts := _scripts_of(tidied)) > 1:
        listed = " and ".join(sorted(script.capitalize() for script in scripts))
        raise InputError(
            f"the name {tidied!r} mixes letters of the alphabets {listed}, some of which look the "
            "same; write it in one."
        )
    return tidied


def _scripts_of(name: str) -> set[str]:
    letters = [letter for letter in name if letter.isalpha()]
    return {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters} - MANY_LETTERS


def are_same(first: str, second: str) -> bool:
    """Say whether two names differ in form, case and white space at most.

    Examples
    --------
    >>> are_same("data", " DATA "), are_same("data", "data 2")
    (True, False)
    """
    return _fold(first) == _fold(second)


def _fold(name: str) -> str:
    normal = unicodedata.normalize("NFKC", name)
    return unicodedata.normalize("NFKC", " ".join(normal.casefold().split()))


def find_look_alike(name: str, known: Iterable[str]) -> str | None:
    """Return the name among those that are known which a reader would take this one for.

    Examples
    --------
    >>> find_look_alike("d\\N{CYRILLIC SMALL LETTER A}ta", ["patients", "data"])
    'data'
    """
    return next((each for each in known if _skeleton(each) == _skeleton(name)), None)


def _skeleton(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name).translate(LOOKS_LIKE)
    plain = "".join(letter for letter in apart if unicodedata.category(letter)[0] not in "MC")
    return _fold(plain).translate(LOOKS_LIKE).replace(" ", "").replace("_", "").replace("-", "")
