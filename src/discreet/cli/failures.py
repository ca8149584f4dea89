"""Where every failure of a command becomes one line and an exit code.

Handling of exceptions: none of them reaches the terminal as a traceback.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer

import discreet.errors
from discreet.cli import HOW, NEEDED, console
from discreet.cli.console import one_line
from discreet.cli.late_help import PlainGroup
from discreet.errors import DiscreetError, PrivacyError

# Typer has brought its own copy of these classes since it no longer needs Click.
(UsageError,) = (kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")
(Shown,) = (kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


STOPPED = "interrupted. What was charged to the ledger stands."


class Unwritten(DiscreetError):
    """A release is safe, but not where it was asked for; the message says where."""


class Interrupted(DiscreetError):
    """A command was stopped, and what it had is safe; the message says where."""


class Commands(PlainGroup):
    """Commands that end with one clear line where they cannot do what they are asked."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run a command and leave; no failure shows a traceback."""
        arguments = list(sys.argv[1:] if args is None else args)
        name = " ".join(["discreet", *self._words(arguments)])
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, ValueError):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        code, problem = self._run(arguments, prog_name or "discreet")
        if problem:
            print(f"{name}: {one_line(problem)}", file=sys.stderr)
        _discard_output()
        sys.exit(code)

    def _run(self, arguments: list[str], program: str) -> tuple[int, str]:
        """Return the exit code, and what went wrong."""
        try:
            # A warning of a library may quote a value; one that is imported from now on may bring a
            # filter of its own, so what passes the filters is not shown either.
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("ignore")
                code = super().main(arguments or ["--help"], program, standalone_mode=False)
                sys.stdout.flush()
        except Exception as error:
            return _explain(error)
        except KeyboardInterrupt:
            code = console.INTERRUPTED
        if code == console.INTERRUPTED:
            return code, STOPPED
        return (code if isinstance(code, int) else console.DONE), ""

    def _words(self, arguments: list[str]) -> list[str]:
        """Return the names of the command and its subcommand."""
        words: list[str] = []
        known: Any = self
        for argument in arguments:
            known = getattr(known, "commands", {}).get(argument)
            if known is None:
                break
            words.append(argument)
        return words


def _explain(error: Exception) -> tuple[int, str]:
    """Return the exit code of an error, and what to say about it."""
    if isinstance(error, UsageError):
        context = getattr(error, "ctx", None)
        path = "discreet" if context is None else context.command_path
        said = error.format_message().strip().rstrip(".")  # type: ignore[attr-defined]
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(said, nl=bool(said))  # the help, unless it has been shown already
            return console.WRONG_INPUT, ""
        return (
            console.WRONG_INPUT,
            f"{said}{'' if said.endswith('?') else '.'} Try '{path} --help'.",
        )
    if isinstance(error, Shown):
        return console.WRONG_INPUT, error.format_message()  # type: ignore[attr-defined]
    if isinstance(error, typer.Abort):
        return console.INTERRUPTED, STOPPED
    if isinstance(error, Interrupted):
        return console.INTERRUPTED, str(error)
    if isinstance(error, (Unwritten, getattr(discreet.errors, "LedgerError", Unwritten))):
        return console.FILES, str(error)
    if isinstance(error, PrivacyError):
        return console.REFUSED, str(error)
    if isinstance(error, DiscreetError):
        return console.WRONG_INPUT, str(error)
    if isinstance(error, OSError):
        return console.FILES, _explain_system_error(error)
    if isinstance(error, MemoryError):
        return console.FILES, "there is not enough memory for this table."
    if isinstance(error, ModuleNotFoundError):
        how = f": {HOW}" if error.name in NEEDED else "."
        return console.FILES, f"this needs the package {error.name!r}, which is not installed{how}"
    return console.BUG, _explain_bug(error)


def _explain_system_error(error: OSError) -> str:
    """Return what the operating system refused; messages of other libraries may say too much."""
    if error.errno == errno.EPIPE:
        return ""
    reason = os.strerror(error.errno) if error.errno else "a file cannot be read or written"
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def _explain_bug(error: Exception) -> str:
    """Return where a bug is; the error's own message may quote a value."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"this is a bug of Discreet ({type(error).__name__} in {Path(place.filename).name}, line "
        f"{place.lineno}). Please report it; nothing of your data is in this message."
    )


def _discard_output() -> None:
    """Give up what the output does not take, or Python would complain about it at the end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
