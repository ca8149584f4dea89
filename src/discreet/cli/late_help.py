"""Help pages: lists of the library are imported when they are shown, types told in plain words."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

LEARNERS, MECHANISMS = "{LEARNERS}", "{MECHANISMS}"
"""What stands in a help text for the names of those that fit linear models, and of all."""

WORDS = {"path": "FILE", "file": "FILE", "str": "TEXT", "float": "NUMBER", "int": "NUMBER"}
"""What an option takes, for people; Typer would say ``<list[float]>``."""


class LateHelp(TyperCommand):
    """A command whose help may name mechanisms."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write help, with the names that it quotes."""
        for parameter in self.params:
            quoted: Any = parameter
            if "{" in (quoted.help or ""):
                quoted.help = _with_names(quoted.help)
        say_types_plainly(self, ctx)
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """Commands that belong together."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write help in plain words."""
        say_types_plainly(self, ctx)
        super().format_help(ctx, formatter)


def say_types_plainly(command: Any, ctx: Any) -> None:
    """Say FILE, NUMBER or TEXT of what options take, and nothing of flags and arguments."""
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument":
            if hasattr(parameter, "display_type_rich"):
                parameter.display_type_rich = _nothing  # its name says what it is
        elif parameter.metavar is None:
            parameter.metavar = "" if parameter.is_flag else _word_for(parameter, ctx)


def _nothing(ctx: Any) -> None:
    return None


def _word_for(parameter: Any, ctx: Any) -> str | None:
    """Return what an option takes; None to leave it to a Typer that says it otherwise."""
    if not hasattr(parameter, "display_type"):
        return None
    said = parameter.display_type(ctx).strip("<>").removeprefix("list[").removesuffix("]")
    return WORDS.get(said.removesuffix(" range"))


def _with_names(text: str) -> str:
    from discreet import mechanisms  # slow to import

    learners, all_of_them = mechanisms.LEARNERS, (each.name for each in mechanisms.REGISTRY)
    return text.replace(LEARNERS, ", ".join(learners)).replace(MECHANISMS, ", ".join(all_of_them))
