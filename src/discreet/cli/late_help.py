"""Help that quotes lists of the library: they are imported when help is shown, and not before."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

LEARNERS, MECHANISMS = "{LEARNERS}", "{MECHANISMS}"
"""What stands in a help text for the names of those that fit linear models, and of all."""


class LateHelp(TyperCommand):
    """A command whose help may name mechanisms."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write help, with the names that it quotes."""
        for parameter in self.params:
            quoted: Any = parameter
            if "{" in (quoted.help or ""):
                quoted.help = _with_names(quoted.help)
        super().format_help(ctx, formatter)


def _with_names(text: str) -> str:
    from discreet import mechanisms  # slow to import

    learners, all_of_them = mechanisms.LEARNERS, (each.name for each in mechanisms.REGISTRY)
    return text.replace(LEARNERS, ", ".join(learners)).replace(MECHANISMS, ", ".join(all_of_them))
