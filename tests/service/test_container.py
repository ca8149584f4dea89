"""The container file names what is there: files, extras, options."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

from support.place import COMMAND

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_everything_that_is_copied_is_there_and_not_ignored():
    kept = set(re.findall(r"^!(.+)$", (ROOT / ".containerignore").read_text(), re.MULTILINE))
    assert (ROOT / ".dockerignore").read_text() == (ROOT / ".containerignore").read_text()
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", TEXT, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    assert set(copied) == kept
    assert all((ROOT / name).exists() for name in copied)
    named = {PROJECT["readme"], *PROJECT["license-files"]}
    assert named <= set(copied)  # what the build of the package reads


def test_the_extras_exist():
    (extras,) = re.findall(r"'\.\[(.+)\]'", TEXT)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_command_can_be_run():
    (entry,) = re.findall(r"^ENTRYPOINT (.+)$", TEXT, re.MULTILINE)
    (more,) = re.findall(r"^CMD (\[.+\])$", TEXT, re.MULTILINE)
    program, command, *rest = [*_words(entry), *_words(more)]
    assert (program, command) == ("discreet", "serve")
    COMMAND.commands["serve"].make_context("discreet", rest)  # refuses an unknown option


def _words(text):
    return [word.rstrip(",") for word in shlex.split(text.strip("[]"))]


def test_it_does_not_run_as_root():
    last = TEXT.rpartition("FROM ")[2]
    assert re.search(r"^USER discreet$", last, re.MULTILINE)
