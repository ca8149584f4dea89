"""Schema files: what is written reads back the same, and what is wrong is named."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric
from discreet.schema import Schema, Target, Undeclared, parse, read, write
from support.place import REGRESSION, SCHEMA

TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXT.filter(bool)
NUMBERS = some.floats(-1e9, 1e9) | some.integers(-(2**53), 2**53)
LEVELS = some.lists(NAMES, min_size=2, max_size=4, unique=True) | some.lists(
    NUMBERS, min_size=2, max_size=4, unique_by=float
)


@some.composite
def columns(draw):
    match draw(some.integers(0, 3)):
        case 0:
            low = draw(some.floats(-1e9, 1e9))
            return Numeric(low, low + draw(some.floats(1, 1e9)), draw(some.none() | some.just(low)))
        case 1:
            return Category(draw(LEVELS))
        case 2:
            return Undeclared("number")
        case _:
            return Undeclared("category")


@some.composite
def targets(draw):
    name = draw(TEXT)
    if draw(some.booleans()):
        return Target(name, "classification", classes=draw(LEVELS.map(tuple) | some.just(())))
    low = draw(some.none() | some.floats(-1e9, 1e9))
    return Target(name, "regression", range=None if low is None else (low, low + 1.5))


@some.composite
def schemas(draw):
    names = draw(some.lists(NAMES, min_size=2, max_size=6, unique=True))
    target = draw(targets().filter(lambda target: target.name not in names))
    return Schema(
        {name: draw(columns()) for name in names[1:]},
        target,
        name=draw(TEXT),
        protects=draw(TEXT),
        unit=draw(some.sampled_from(["add_remove", "replace"])),
        ignored=tuple(names[:1]),
        epsilon=draw(some.none() | some.floats(1e-3, 100)),
        delta=draw(some.none() | some.floats(0, 0.1)),
        mechanism=draw(some.sampled_from(["auto", "output_perturbation"])),
        max_rows=draw(some.none() | some.integers(1, 2**27)),
        rows_per_person=draw(some.none() | some.integers(1, 1000)),
    )


@settings(derandomize=True, max_examples=60, deadline=None)
@given(schema=schemas(), note=TEXT, preamble=TEXT)
def test_what_is_written_reads_back_the_same(schema, note, preamble):
    text = write(
        schema, notes=dict.fromkeys(schema.columns, note), preamble=" ".join(preamble.split())
    )
    assert parse(text) == schema


def test_a_schema_without_comments_is_plain_toml():
    assert set(tomllib.loads(SCHEMA)) == {"data", "target", "columns", "privacy", "model"}
    assert parse(SCHEMA).columns["stay"] == Numeric(0, 30, 5)
    assert parse(REGRESSION).target == Target("cost", "regression", range=(0, 1000))


def test_truth_values_are_not_numbers_when_they_are_read_back():
    schema = Schema({"a": Category([True, False])}, Target("b", "classification", (False, True)))
    again = parse(write(schema))
    assert [type(label) for label in again.target.classes] == [bool, bool]
    assert [type(level) for level in again.columns["a"].levels] == [bool, bool]


def test_a_byte_order_mark_is_no_part_of_a_schema():
    assert parse("\ufeff" + SCHEMA) == parse(SCHEMA)


def test_what_is_left_open_is_refused_when_it_is_needed_and_not_before():
    schema = parse(SCHEMA.replace("[18, 100]", "[]"))
    assert schema.columns["age"] == Undeclared("number")
    with pytest.raises(InputError, match=r"range of 'age' is not yet declared.*from knowledge"):
        schema.declared_columns()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "range = [18, 100]",
            "rnage = [18, 100]",
            r"here.toml: \[columns.age\] .*'rnage'.*'range'",
        ),
        ("range = [18, 100]", "range = [100, 18]", r"range must be \[lowest, highest\]; got"),
        ('["no", "yes"]', '["no", 1]', r"\[target\] classes must be all text"),
        ('["no", "yes"]', '["", "yes"]', r'\[target\] classes must not hold ""'),
        ('["surgery",', '["",', r'\[columns.ward\] categories must not hold ""'),
        ('["surgery",', '["1", 2,', r"\[columns.ward\] categories must not mix '1'"),
        ('["surgery",', '["True", 2,', "categories must not mix 'True'"),
        ('"add_remove"', '"person"', "unit must be one of"),
        ("[privacy]", "[privcay]", "did you mean 'privacy'"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_was_expected(
    tmp_path, monkeypatch, old, new, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.toml").write_text(SCHEMA.replace(old, new))
    with pytest.raises(InputError, match=said):
        read("here.toml")


def test_labels_that_files_would_not_tell_apart_are_refused_without_a_file_too():
    target = Target("y", "regression", range=(0, 1))
    for levels in (["", "a"], ["nan", 2], ["false", 2]):
        with pytest.raises(InputError, match="categories of 'x' must not"):
            Schema({"x": Category(levels)}, target)
    Schema({"x": Category(["a", 2]), "z": Category(["1", "true"])}, target)
