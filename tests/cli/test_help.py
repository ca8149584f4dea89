"""Help pages: in plain words, with examples that can be pasted."""

from __future__ import annotations

import inspect
import re
import shlex

import pytest

from support.place import COMMAND, run


def every_command(command=COMMAND, words=()):
    """Yield the words of every command and group, and what runs it."""
    yield words, command
    for name, inside in getattr(command, "commands", {}).items():
        yield from every_command(inside, (*words, name))


COMMANDS = dict(every_command())
LEAVES = {
    words: command
    for words, command in COMMANDS.items()
    if words and not hasattr(command, "commands")
}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "discreet")
def test_a_help_page_names_no_type_of_a_programming_language(words, tmp_path):
    page = run(tmp_path, [*words, "--help"])
    assert page.code == 0
    assert not re.search(r"<\w+>|<list\[|BOOLEAN|INTEGER", page.output)
    assert "--help" in page.output


def examples():
    for words, command in LEAVES.items():
        text = inspect.cleandoc(command.callback.__doc__).replace("\\\n", " ")
        lines = [line.strip() for line in text.splitlines() if line.startswith("    discreet ")]
        yield pytest.param(words, lines, id=" ".join(words))


@pytest.mark.parametrize(("words", "lines"), list(examples()))
def test_an_example_can_be_pasted(words, lines):
    assert lines
    for line in lines:
        program, *rest = shlex.split(line.partition(" | ")[0])
        assert (program, tuple(rest[: len(words)])) == ("discreet", words)
        # Refuses an option that does not exist, a missing argument, a number that is none.
        COMMANDS[words].make_context("discreet", rest[len(words) :])


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_a_help_page_says_what_is_charged(words):
    purpose, _, rest = inspect.cleandoc(LEAVES[words].callback.__doc__).partition("\n\n")
    assert purpose.endswith(".")
    assert re.search(r"\bcharge[sd]?\b", purpose + rest, flags=re.IGNORECASE)
