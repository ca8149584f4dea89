"""Which declared label a cell means, each cell by itself."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.schema.schema import Label

SPELLED = {"true": 1.0, "false": 0.0}


class Labels:
    """Declared labels, and how cells spell them.

    Text is compared as it is. Numbers are compared as numbers, so that 1, "1" and "1.0" mean the
    same; truth values are also spelled true and false, in any case. Everything else is no label.

    Examples
    --------
    >>> Labels([False, True]).meant("TRUE"), Labels(["1", "2"]).meant("1"), Labels([1, 2]).meant(7)
    (True, '1', None)
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self._text = {label for label in labels if isinstance(label, str)}
        self._numbers = {float(label): label for label in labels if not isinstance(label, str)}
        self._has_truths = any(isinstance(label, bool) for label in labels)

    @property
    def are_text(self) -> bool:
        """Whether no label is a number or a truth value."""
        return not self._numbers

    def meant(self, cell: object) -> Label | None:
        """Return the label that a cell means, None if it means none."""
        if isinstance(cell, str):
            if cell in self._text:
                return cell
            if self._has_truths and cell.lower() in SPELLED:
                return self._numbers.get(SPELLED[cell.lower()])
        if not isinstance(cell, (str, float, int)):
            return None
        try:
            return self._numbers.get(float(cell))
        except (ValueError, OverflowError):
            return None
