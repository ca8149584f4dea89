"""A ledger for persons with several records charges for all of them together."""

from __future__ import annotations

import json
import math
import shlex

import pytest
import sqlalchemy as sql

from discreet.errors import BudgetExceeded, InputError, UnitMismatch
from discreet.ledger import Ledger, MemoryLedger
from discreet.ledger.account import Account
from discreet.ledger.durable.sql_tables import BOOKS, DATASETS
from discreet.privacy import (
    AddRemoveOne,
    Approximate,
    Budget,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    SampledGaussian,
    WithinDistance,
    ZeroConcentrated,
    gaussian_multiplier,
    group_delta,
    group_epsilon,
    group_profile,
)
from discreet.record import Release
from discreet.report import card
from support.behind import open_behind
from support.place import run

UNIT = AddRemoveOne()

PROFILES = [
    Pure(0.1),
    Laplace(0.2),
    Gaussian(0.1),
    WithinDistance(Gaussian(0.1), 1e-20),
    ZeroConcentrated(0.01),
]


def pure(epsilon):
    return Guarantee(Pure(epsilon), UNIT)


def make(kind, folder, **options):
    """Return an empty ledger of a kind."""
    if kind == "memory":
        return MemoryLedger(Budget(3.0, 1e-5), **options)
    return Ledger.create(folder / "p.db", Budget(3.0, 1e-5), **options)


@pytest.mark.parametrize("size", [2, 5, 30])
@pytest.mark.parametrize("profile", PROFILES, ids=repr)
def test_a_groups_profile_is_never_below_what_the_group_is_promised(profile, size):
    """Compared with the chain of neighbours, which is sound for any profile."""
    delta = 1e-9
    together = group_profile(profile, size, delta)
    for epsilon in (0.5, 2.0, 6.0):
        assert together.delta(epsilon) >= min(1.0, group_delta(profile, size, epsilon)) * (1 - 1e-6)
    if profile.pure_epsilon == float("inf"):
        assert together.epsilon(delta) >= group_epsilon(profile, size, delta) * (1 - 1e-9)


@pytest.mark.parametrize("size", [2, 5, 30])
def test_a_group_under_approximate_privacy_adds_up_the_exceptions_of_its_chain(size):
    """Dwork and Roth (2014), theorem 2.2 and its chain: e**(i epsilon) delta for each step i."""
    for profile in (Approximate(0.1, 1e-9), WithinDistance(Pure(0.1), 1e-12)):
        together = group_profile(profile, size, 1e-9)
        exceptions = profile.delta(0.1) * math.expm1(size * 0.1) / math.expm1(0.1)
        assert together.level == pytest.approx(size * 0.1)
        assert exceptions <= together.exception <= exceptions * (1 + 1e-9)


def test_a_group_that_is_promised_nothing_costs_more_than_any_budget():
    assert group_profile(Approximate(50.0, 1e-3), 30, 1e-3) == NoPrivacy()
    ledger = MemoryLedger(Budget(100.0, 1e-2), rows_per_person=30)
    with pytest.raises(BudgetExceeded, match="30 records of one person"):
        ledger.charge(Guarantee(Approximate(50.0, 1e-3), UNIT, quoted_delta=1e-3))


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_ten_releases_of_a_tenth_fill_the_budget_of_three_records(tmp_path, kind):
    ledger = make(kind, tmp_path, rows_per_person=3)
    assert ledger.remaining(0.0) == pytest.approx(1.0, abs=1e-5)
    for _ in range(10):
        receipt = ledger.charge(pure(0.1))
    assert receipt.guarantee == pure(0.1)  # of the release itself
    assert ledger.history()[0].epsilon == 0.3
    assert ledger.spent(0.0) == pytest.approx(3.0)
    with pytest.raises(BudgetExceeded, match="for 3 records of one person"):
        ledger.charge(pure(0.01))
    if kind == "file":
        assert ledger.verify().is_sound
        assert Ledger(tmp_path / "p.db").rows_per_person == 3


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("profile", [Gaussian(0.05), SampledGaussian(2.0, 0.01, 50)], ids=repr)
def test_what_is_charged_is_what_the_card_says_of_the_group(profile, rows):
    account = Account(Budget(3.0, 1e-5), rows_per_person=rows)
    promise = Guarantee(profile, UNIT, quoted_delta=1e-7)
    charged = account.group_guarantee(promise)
    assert charged.epsilon(1e-7) == pytest.approx(group_epsilon(profile, rows, 1e-7), rel=1e-6)


def test_what_remains_for_persons_is_accepted(tmp_path):
    for rows in (2, 7):
        ledger = MemoryLedger(Budget(3.0, 1e-5), rows_per_person=rows)
        ledger.charge(Guarantee(Gaussian(0.01), UNIT, quoted_delta=1e-9))
        left = ledger.remaining()
        assert left > 0
        ledger.charge(Guarantee(Approximate(left, 1e-9), UNIT, quoted_delta=1e-9))


def test_parts_and_persons_with_several_records_exclude_one_another(tmp_path):
    with pytest.raises(InputError, match="may lie in several parts"):
        Ledger.create(tmp_path / "p.db", Budget(1.0), parts=["a", "b"], rows_per_person=2)
    for wrong in (0, -1, 1.5, True, 10**9):
        with pytest.raises((InputError, TypeError)):
            MemoryLedger(Budget(1.0), rows_per_person=wrong)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_card_that_states_another_number_is_refused(tmp_path, kind):
    ledger = make(kind, tmp_path, rows_per_person=3)
    receipt = ledger.charge(pure(0.1))
    release = Release(
        1.0, receipt.guarantee, "laplace_sum", receipt.number, "0.1", ledger=ledger.identity,
        entry=receipt.digest,
    )  # fmt: skip
    for said in (1, 5, 30):
        with pytest.raises(
            InputError, match=f"at most 3 records of one person, the card says {said}"
        ):
            card(release, ledger=ledger, about={"rows_per_person": said})
    for about in (None, {"rows_per_person": 3}):
        assert "epsilon for 3 records together" in card(release, ledger=ledger, about=about).html()


def test_a_ledger_of_an_older_format_means_one_record(tmp_path):
    path = tmp_path / "p.db"
    Ledger.create(path, Budget(1.0)).charge(pure(0.5))
    with open_behind(path) as connection:
        facts = json.loads(connection.execute(sql.select(DATASETS.c.facts)).scalar_one())
        assert "rows_per_person" not in facts  # as it was written then
        connection.execute(BOOKS.update().values(format=3))
    ledger = Ledger(path)
    assert (ledger.rows_per_person, ledger.remaining()) == (1, 0.5)
    assert ledger.verify().is_sound


def test_the_command_creates_a_ledger_for_persons(tmp_path):
    made = run(tmp_path, "ledger create p.db --epsilon 2 --rows-per-person 4 --json")
    assert json.loads(made.output)["rows_per_person"] == 4
    assert "charged for 4 records together" in run(tmp_path, "ledger show p.db").output


@pytest.mark.parametrize(
    ("budget", "rows", "spent"),
    [(Budget(0.5, 1e-5), 5, 0.05), (Budget(3.0, 1e-5), 2, 0.9), (Budget(1.0, 1e-6), 2, 0.25)],
)
def test_what_is_left_for_persons_is_admitted_pure_gaussian_or_as_a_point(budget, rows, spent):
    ledger = MemoryLedger(budget, rows_per_person=rows)
    ledger.charge(Guarantee(Pure(spent), UNIT))
    left = ledger.remaining(1e-9)
    assert left > 0
    for profile in (
        Pure(left),
        Approximate(left, 1e-9),
        Gaussian(1 / gaussian_multiplier(Budget(left, 1e-9))),
    ):
        fresh = MemoryLedger(budget, rows_per_person=rows)
        fresh.charge(Guarantee(Pure(spent), UNIT))
        fresh.charge(Guarantee(profile, UNIT, quoted_delta=1e-9))


PERSONS = ["add_remove_person", "replace_person"]
RECORDS = ["add_remove", "replace", "zero_out"]


def promise(unit, epsilon=0.5):
    return Guarantee(Pure(epsilon), unit)


@pytest.mark.parametrize("kind", ["memory", "file"])
@pytest.mark.parametrize(
    ("kept", "released"),
    [(kept, released) for kept in (*PERSONS, *RECORDS) for released in (*PERSONS, *RECORDS)],
)
def test_a_ledger_protects_persons_or_records_and_refuses_the_other(tmp_path, kind, kept, released):
    ledger = make(kind, tmp_path, unit=kept)
    if kept == released:
        ledger.charge(promise(released))
        assert ledger.spent(0.0) == 0.5
        return
    with pytest.raises(UnitMismatch, match=f"protects the unit '{kept}'"):
        ledger.charge(promise(released))
    assert not ledger.history()


def test_a_refusal_between_persons_and_records_says_why():
    with pytest.raises(UnitMismatch, match="not promised of a person with several: fit with unit="):
        MemoryLedger(Budget(1.0), "add_remove_person").charge(promise("add_remove"))
    with pytest.raises(UnitMismatch, match="Persons and single records do not add up"):
        MemoryLedger(Budget(1.0), "add_remove").charge(promise("add_remove_person"))


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_releases_with_any_number_of_records_of_a_person_add_up_in_one_ledger(tmp_path, kind):
    """Each is about the same neighbours, however it bounds what a person contributes."""
    ledger = make(kind, tmp_path, unit="add_remove_person")
    facts = ("each person counts once, shared among their records", "at most 3 records are used")
    for fact in facts:
        ledger.charge(
            Guarantee(Gaussian(0.1), "add_remove_person", public_facts=(fact,), quoted_delta=1e-7)
        )
    assert ledger.spent(1e-7) == pytest.approx(Gaussian(0.1 * math.sqrt(2)).epsilon(1e-7), rel=1e-6)
    assert ledger.total().public_facts == facts


@pytest.mark.parametrize("unit", PERSONS)
def test_a_unit_of_persons_has_neither_parts_nor_a_number_of_records(tmp_path, unit):
    with pytest.raises(InputError, match="may lie in several parts"):
        Ledger.create(tmp_path / "p.db", Budget(1.0), unit=unit, parts=["a", "b"])
    with pytest.raises(InputError, match="all records of a person, however many"):
        Ledger.create(tmp_path / "p.db", Budget(1.0), unit=unit, rows_per_person=2)
    with pytest.raises(InputError, match="all records of a person, however many"):
        MemoryLedger(Budget(1.0), unit, rows_per_person=2)


def test_patients_and_households_are_different_units(tmp_path):
    path = tmp_path / "p.db"
    made = Ledger.create(path, Budget(1.0), unit="add_remove_person", person="patient")
    assert (made.protects, Ledger(path).declared.person) == ("one person", "patient")
    assert made.verify().is_sound
    Ledger(path).check_declaration("the schema", "add_remove_person", "one person", 3, "patient")
    with pytest.raises(UnitMismatch, match="these are different units"):
        made.check_declaration("the schema", "add_remove_person", "one person", None, "household")
    with pytest.raises(UnitMismatch, match="these are different units"):
        made.check_declaration("the schema", "add_remove_person", "one person", None)
    with pytest.raises(InputError, match="is one person of this table"):
        made.check_declaration("the schema", "add_remove_person", "one household", 1, "patient")
    with pytest.raises(InputError, match="a column of ids is for a unit of persons"):
        Ledger.create(tmp_path / "q.db", Budget(1.0), person="patient")


def test_a_ledger_that_names_no_column_takes_any_whose_words_agree(tmp_path):
    made = Ledger.create(tmp_path / "p.db", Budget(1.0), unit="replace_person")
    made.check_declaration("the schema", "replace_person", "one person", None, "household")


def test_a_ledger_of_rows_says_so_when_words_speak_of_something_else(tmp_path):
    said = run(
        tmp_path, shlex.split("ledger create p.db --epsilon 2 --protects 'one patient'")
    ).output
    assert "ROWS are counted, each as one patient" in said
    assert "unit add_remove_person" in said
    for name, options in enumerate(
        (
            "",
            '--protects "one patient" --unit add_remove_person --person id',
            '--protects "one patient" --rows-per-person 4',
        )
    ):
        made = run(tmp_path, shlex.split(f"ledger create {name}.db --epsilon 2 {options}"))
        assert made.code == 0
        assert "ROWS" not in made.output


def test_a_ledger_of_persons_shows_its_column(tmp_path):
    run(tmp_path, "ledger create p.db --epsilon 2 --unit add_remove_person --person id")
    shown = run(tmp_path, "ledger show p.db").output
    assert "protects one person (unit add_remove_person, a person is whoever shares a value of id)"\
        in shown  # fmt: skip
