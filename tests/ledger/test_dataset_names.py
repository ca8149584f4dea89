"""One name to a reader is one data set in a ledger."""

from __future__ import annotations

import pytest

from discreet.errors import InputError
from discreet.ledger import Ledger
from discreet.privacy import Budget

CYRILLIC = "d\N{CYRILLIC SMALL LETTER A}ta"
ALL_CYRILLIC = "\N{CYRILLIC SMALL LETTER ES}\N{CYRILLIC SMALL LETTER O}\N{CYRILLIC SMALL LETTER ER}"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.db"
    Ledger.create(path, Budget(1.0), dataset="data")
    return path


@pytest.mark.parametrize(
    "name", ["data ", " data", "DATA", "Data", "\N{FULLWIDTH LATIN SMALL LETTER D}ata"]
)
def test_a_name_that_differs_in_form_alone_is_the_same_data_set(path, name):
    with pytest.raises(InputError, match="has a data set 'data' already"):
        Ledger.create(path, Budget(9.0), dataset=name)
    assert Ledger(path, name).key == Ledger(path).key


@pytest.mark.parametrize(
    "name",
    [
        CYRILLIC,
        "da\u200bta",
        "d\N{GREEK SMALL LETTER ALPHA}ta",
        "d\u0430\u0442\u0430",
        "dat\u00e1",
        "da ta",
        "da_ta",
    ],
)
def test_a_look_alike_of_a_data_set_is_refused(path, name):
    with pytest.raises(InputError, match=r"looks like|mixes letters|cannot be seen"):
        Ledger.create(path, Budget(9.0), dataset=name)
    assert len(Ledger.datasets(path)) == 1


def test_a_word_of_another_alphabet_that_reads_as_a_latin_one_is_refused(path):
    Ledger.create(path, Budget(1.0), dataset="cop")
    with pytest.raises(InputError, match="looks like 'cop'"):
        Ledger.create(path, Budget(1.0), dataset=ALL_CYRILLIC)


@pytest.mark.parametrize(
    "name",
    [
        "data 2",
        "Patients 2024",
        "\u60a3\u8005 data",
        "d\u00e9c\u00e8s",
        "\u043f\u0430\u0446\u0438\u0435\u043d\u0442\u044b",
    ],
)
def test_other_names_are_kept_as_they_are_written(path, name):
    assert Ledger.create(path, Budget(1.0), dataset=f"  {name} ").dataset == name
    assert {each.name for each in Ledger.datasets(path)} == {"data", name}
