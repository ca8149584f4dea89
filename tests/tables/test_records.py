"""In a CSV file no single record changes how another is read, whatever quotes it holds."""

from __future__ import annotations

import csv
import io
import itertools
from unittest.mock import patch

import numpy as np
import pytest

from discreet import tables
from discreet.data.stored import csv as csv_table
from discreet.data.stored import csv_records as records
from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric
from discreet.schema import Schema, Target

SCHEMA = Schema(
    {"n": Numeric(0, 10), "t": Category(["ab", "c,d", "e\nf", 'g"h', "x"])},
    Target("y", "classification", classes=("c", "d")),
)
PLAIN = ["1,ab,c", "2,zz,d", "3,x,c"]
QUOTED = ['1,"ab",c', '"2","c,d","d"', '3,"e\nf",c', '4,"g""h",c', '5,"",""', '6,"\n","c"']
COMMAS = ['1,",",c', '2,",","\n"', '3,",","c"']
"""Rows whose cells, read inside out, are cells as well."""


def line_with(places):
    """Return a short line with quotes at some places."""
    line = "7,ab,c"
    for place in sorted(places, reverse=True):
        line = f'{line[:place]}"{line[place:]}'
    return line


LINES = [
    line_with(places)
    for count in range(5)
    for places in itertools.combinations_with_replacement(range(7), count)
]


def rows_of(path, lines, end="\n", last="\n"):
    path.write_bytes((end.join(["n,t,y", *lines]) + last).encode())
    table = tables.open_table(path, SCHEMA).fit_arguments()
    kept = [
        table["X"]["n"].view(np.int64).tolist(),
        table["X"]["t"].expand().tolist(),
        table["y"].expand().tolist(),
    ]
    return list(zip(*kept, strict=True))


def test_two_records_that_leave_a_quote_open_are_taken_for_one(tmp_path):
    # What the check does not promise: it is about one malformed record.
    path = tmp_path / "a.csv"
    first, second = '7,"ab,c', '8,",c'
    assert len(rows_of(path, [*PLAIN, first, *PLAIN, second, *PLAIN])) == 2 * len(PLAIN) + 1
    for one in (first, second):
        with pytest.raises(InputError, match="opens a quote that no cell closes"):
            rows_of(path, [*PLAIN, one, *PLAIN])


@pytest.mark.parametrize(
    ("others", "end", "last"),
    [(PLAIN, "\n", "\n"), (QUOTED, "\r\n", ""), (COMMAS, "\n", ""), (PLAIN, "\r", "\r")],
    ids=["plain", "quoted", "inside out", "returns"],
)
def test_every_line_of_up_to_four_quotes_is_refused_or_leaves_the_others_alone(
    tmp_path, others, end, last
):
    path = tmp_path / "a.csv"
    usual = rows_of(path, others, end, last)
    assert len(usual) == len(others)
    accepted = set()
    for number, line in enumerate(LINES):
        place = number % (len(others) + 1)
        try:
            found = rows_of(path, [*others[:place], line, *others[place:]], end, last)
        except InputError:
            continue
        accepted.add(line)
        assert [*found[:place], *found[place + 1 :]] == usual, line
    assert {'"7",ab,c', '7,"ab","c"', '7,"""ab",c', '7,ab,"c"'} <= accepted


def test_the_line_that_swallowed_all_after_it_is_refused(tmp_path):
    with pytest.raises(InputError, match="a quote stands within a cell"):
        rows_of(tmp_path / "a.csv", ['20.25,a"b,"yes', *PLAIN])


def test_a_column_that_is_not_declared_may_not_hold_such_quotes_either(tmp_path):
    schema = Schema(SCHEMA.columns, SCHEMA.target, ignored=("id",))
    path = tmp_path / "a.csv"
    path.write_text('id,n,t,y\na"b,1,ab,c\n2,1,ab,c\n"3,1,ab,c\n')
    with pytest.raises(InputError, match="a quote stands within a cell"):
        tables.open_table(path, schema).fit_arguments()


def verdict(text):
    """Return what is wrong with a text, byte by byte; the scan must say the same."""
    state = "start"
    for byte in text:
        if state == "quoted":
            state = "closing" if byte == '"' else "quoted"
        elif byte in ",\n\r":
            state = "start"
        elif byte == '"' and state in ("start", "closing"):
            state = "quoted"
        elif byte == '"' or state == "closing":
            return "within a cell"
        else:
            state = "plain"
    return "no cell closes" if state == "quoted" else None


def said_of(path, content):
    path.write_bytes(content)
    try:
        records.check_records(path)
    except InputError as error:
        return next(words for words in ("within a cell", "no cell closes") if words in str(error))
    return None


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 2**20])
def test_the_scan_is_the_state_machine_wherever_its_windows_end(tmp_path, at_once):
    generator = np.random.default_rng(at_once)
    seen = set()
    with patch.object(records, "SCANNED_AT_ONCE", at_once):
        for number in range(200):
            text = "".join('""",\n\ra'[place] for place in generator.integers(7, size=number % 12))
            mark = "\ufeff" if number % 5 == 0 else ""
            expected = verdict(text)
            # One quote that is wrong is as good as another: the last state is not reached.
            assert said_of(tmp_path / "a.csv", (mark + text).encode()) == expected, text
            seen.add(expected)
    assert len(seen) == 3


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_records_are_cut_alike_wherever_blocks_end(tmp_path, ending):
    # Long and short records, with quotes and line ends in them, parsed a few bytes at a time.
    generator = np.random.default_rng(3)
    cells = ["ab", "c,d", "e\nf", 'g"h', "", "\r\n", '""', "x" * 9]
    path = tmp_path / "a.csv"
    for _ in range(30):
        rows = [[str(generator.integers(9)), generator.choice(cells), "c"] for _ in range(12)]
        written = io.StringIO()
        style = csv.QUOTE_ALL if generator.random() < 0.5 else csv.QUOTE_NONNUMERIC
        writer = csv.writer(written, lineterminator=ending, quoting=style)
        writer.writerows([["n", "t", "y"], *([int(row[0]), *row[1:]] for row in rows)])
        path.write_bytes(written.getvalue().encode())
        with patch.object(csv_table, "PARSED_AT_ONCE", int(generator.integers(28, 60))):
            found = tables.open_table(path, SCHEMA).fit_arguments()["X"]
        assert found["n"].tolist() == [float(row[0]) for row in rows]
        levels = SCHEMA.columns["t"].levels
        assert found["t"].expand().tolist() == [
            row[1] if row[1] in levels else None for row in rows
        ]


def test_a_line_is_too_long_or_not_wherever_it_is(tmp_path):
    # A parser that reads in blocks would refuse some of these lines, depending on those before.
    path = tmp_path / "a.csv"
    with (
        patch.object(records, "LONGEST_LINE", 40),
        patch.object(records, "SCANNED_AT_ONCE", 16),
        patch.object(csv_table, "PARSED_AT_ONCE", 42),
    ):
        for filler, longest in itertools.product(range(45), ('1,"\n{}",c', "1,{},c")):
            before = ["2," + "z" * min(filler, 30) + ",c"] * (1 + filler % 3)
            fits = longest.format("x" * (40 - len(longest.format(""))))
            assert len(rows_of(path, [*before, fits, *PLAIN])) == len(before) + 4
            with pytest.raises(InputError, match="longer than"):
                rows_of(path, [*before, fits.replace("x", "xx", 1), *PLAIN])
