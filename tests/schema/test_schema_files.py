"""Schema files: what is written reads back the same, and what is wrong is named."""

from __future__ import annotations

import contextlib
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric
from discreet.schema import (
    Schema,
    Target,
    Undeclared,
    parse,
    parse_sheet,
    read,
    write,
    write_sheet,
)
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
            ends = low, low + draw(some.floats(1, 1e9))
            fill = draw(some.none() | some.just(low))
            if draw(some.booleans()):
                return Numeric(None, None, fill, public_bounds=ends)
            if draw(some.booleans()):
                return Numeric(*map(round, ends), whole=True)
            return Numeric(*ends, fill)
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
    is_of_persons = draw(some.booleans())
    units = [f"{unit}_person" if is_of_persons else unit for unit in ("add_remove", "replace")]
    return Schema(
        {name: draw(columns()) for name in names[1:]},
        target,
        name=draw(TEXT),
        protects=draw(TEXT),
        unit=draw(some.sampled_from([*units, "auto"])),
        ignored=() if is_of_persons else tuple(names[:1]),
        person=names[0] if is_of_persons else None,
        epsilon=draw(some.none() | some.floats(1e-3, 100)),
        delta=draw(some.none() | some.floats(0, 0.1)),
        mechanism=draw(some.sampled_from(["auto", "output_perturbation"])),
        max_rows=draw(some.none() | some.integers(1, 2**27)),
        expected_rows=draw(some.none() | some.integers(1, 2**27)),
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


def test_bounds_to_find_a_range_within_are_a_declaration_without_a_type():
    schema = parse(SCHEMA.replace('type = "number"\nrange = [18', "public_bounds = [18"))
    assert schema.columns["age"] == Numeric(None, None, public_bounds=(18, 100))
    assert "age" in schema.declared_columns()
    with pytest.raises(InputError, match="spreadsheet has no column"):
        write_sheet(schema)


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
        (
            "range = [18, 100]",
            "range = [18, 100]\npublic_bounds = [0, 200]",
            r"\[columns.age\] has a range and public_bounds; keep the range if it is known",
        ),
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


SHORT = """
[target]
name = "back"
task = "classification"
classes = ["no", "yes"]
[columns]
age = [18, 100]
ward = ["surgery", "medicine"]
smokes = [false, true]
stage = [1, 2, 3]
stay = { range = [0, 30], missing = 5 }
[[group]]
columns = ["q1", "q2"]
range = [1, 5]
[[group]]
columns = ["north", "south"]
categories = ["open", "shut"]
"""


def test_short_forms_and_groups_declare_what_long_ones_do():
    question, door = Numeric(1, 5), Category(["open", "shut"])
    assert parse(SHORT).columns == {
        "age": Numeric(18, 100),
        "ward": Category(["surgery", "medicine"]),
        "smokes": Category([False, True]),
        "stage": Category([1, 2, 3]),
        "stay": Numeric(0, 30, 5),
        "q1": question,
        "q2": question,
        "north": door,
        "south": door,
    }
    assert parse(write(parse(SHORT))) == parse(SHORT)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[18, 100]", "[100, 18]", r"\[columns\] age range must be \[lowest, highest\]; got"),
        ("[18, 100]", "[]", r"\[columns\] age is not yet declared. Write a range, \[18, 100\]"),
        ("[18, 100]", '["a"]', r"\[columns\] age a category must have at least two levels"),
        ("[18, 100]", "18", r"\[columns.age\] must be a table; got 18"),
        ("[[group]]", "[group]", "in two pairs of brackets"),
        ('["q1", "q2"]', '["age"]', "the column 'age' is declared twice"),
        ('["q1", "q2"]', '"q1"', r"\[\[group\]\] columns must be a list of names"),
        ("range = [1, 5]", "rang = [1, 5]", r"\[\[group\]\] has an unknown key 'rang'"),
        ("range = [1, 5]", "", r"\[\[group\]\] q1: must say type"),
    ],
)
def test_a_mistake_in_a_short_form_is_named_with_its_place(old, new, said):
    text = (
        SHORT.replace(old, new, 1)
        if old != "[[group]]"
        else SHORT[: SHORT.rindex(old)].replace(old, new)
    )
    with pytest.raises(InputError, match=said):
        parse(text)


def test_all_that_is_left_open_is_told_at_once():
    text = SCHEMA.replace("[18, 100]", "[]").replace("[0, 30]\nmissing = 5", "[]")
    schema = parse(text.replace('["surgery", "medicine"]', "[]").replace('["no", "yes"]', "[]"))
    with pytest.raises(InputError) as refused:
        schema.declared_columns()
    said = str(refused.value)
    assert "[target] classes of 'back' is not yet declared" in said
    assert "range of 'age', 'stay' are not yet declared" in said
    assert "categories of 'ward' is not yet declared" in said


@settings(derandomize=True, max_examples=60, deadline=None)
@given(schema=schemas())
def test_a_spreadsheet_reads_back_the_same_or_is_refused(schema):
    text = None
    with contextlib.suppress(InputError):  # spaces at an end of a name, for example
        text = write_sheet(schema)
    assert text is None or parse_sheet(text) == schema


SHEET = """column,role,type,lowest,highest,missing,values
age,use,number,18,100,,
stay,,number,0,30,5,
ward,use,category,,,,surgery; medicine
back,predict,category,,,,no; yes
id,ignore,,,,,
protects,setting,,,,,one patient
epsilon,setting,,,,,0.5
name,setting,,,,,patients
mechanism,setting,,,,,output_perturbation
rows_per_person,setting,,,,,1
"""


def test_a_spreadsheet_says_what_a_toml_file_does():
    assert parse_sheet(SHEET) == parse(SCHEMA)
    saved_in_europe = SHEET.replace("surgery; medicine", '"surgery; medicine"')
    saved_in_europe = saved_in_europe.replace("no; yes", '"no; yes"').replace(",", ";")
    assert parse_sheet("\ufeff" + saved_in_europe.replace("\n", "\r\n")) == parse(SCHEMA)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("column,role", "age,stay", "first line of a schema in CSV must be column,role"),
        ("age,use", "age,predict", "line 5: one column is predicted"),
        ("age,use", "age,target", "line 2: role must be use, predict, ignore, setting; got"),
        ("age,use", ",use", "line 2: the first cell must name a column"),
        ("stay,,", "age,,", "line 3: the column 'age' is declared twice"),
        ("18,100", "18,", "line 2: a range needs lowest and highest"),
        ("18,100", "18,old", "line 2: highest must be a number"),
        ("18,100", "100,18", r"\[columns.age\] range must be \[lowest, highest\]"),
        ("use,number", "use,text", "line 2: type must be number, whole or category"),
        ("surgery; medicine", "surgery", "at least two levels"),
        ("epsilon,setting", "epslion,setting", "line 8: a setting must be one of"),
        ("18,100,,", "18,100,,a; b", "line 2: values are for categories"),
    ],
)
def test_a_mistake_in_a_spreadsheet_is_named_with_its_line(old, new, said):
    with pytest.raises(InputError, match=said):
        parse_sheet(SHEET.replace(old, new, 1))


def test_a_schema_may_be_read_from_either_kind_of_file(tmp_path):
    (tmp_path / "schema.csv").write_text(SHEET)
    assert read(tmp_path / "schema.csv") == parse(SCHEMA)
    with pytest.raises(InputError, match=r"a TOML file \(.toml\), or a spreadsheet \(.csv\)"):
        read(tmp_path / "schema.xlsx")


def with_data(text):
    """Return a schema with other lines under [data]."""
    return parse(f"[data]\n{text}\n{SCHEMA[SCHEMA.index('[target]') :]}")


def test_who_names_a_column_of_ids_protects_persons():
    schema = with_data('person = "patient_id"')
    assert (schema.unit, schema.protects) == ("add_remove_person", "one person")
    assert schema.contributions() == {}
    schema.check_promise()  # however many rows one has
    assert "patient_id" not in schema.declared_columns()
    few = with_data('person = "patient_id"\nunit = "replace_person"\nrows_per_person = 3')
    assert few.unit == "replace_person"
    assert few.contributions() == {"contributions": "cap", "rows_per_person": 3}
    assert with_data("rows_per_person = 3").contributions() == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('unit = "add_remove_person"', "whose row each is must be declared"),
        ('person = "patient_id"\nunit = "replace"', "protects rows, whosever they are"),
        ('person = "patient_id"\nignored = ["patient_id"]', "that is nothing else"),
        ('person = "age"', "that is nothing else"),
        ('person = "back"', "that is nothing else"),
        ('person = ""', "that is nothing else"),
        ("person = 3", "person must be text"),
        ('person = "patient_id"\nunit = "person"', "unit must be one of"),
    ],
)
def test_a_column_of_ids_and_a_unit_agree(text, problem):
    with pytest.raises(InputError, match=problem):
        with_data(text)
