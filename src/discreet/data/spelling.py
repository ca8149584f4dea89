"""Which declared label a cell means, each cell by itself."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.data.kinds import TRUTHS

Label = str | float


class DeclaredLabels:
    """Declared labels, and how cells spell them.

    Text is compared as it is. Numbers are compared as numbers, so that 1, "1" and "1.0" mean the
    same; true and false, in any case, are 1 and 0. Everything else is no label.

    Examples
    --------
    >>> DeclaredLabels([False, True]).find("TRUE"), DeclaredLabels(["1", "2"]).find("1")
    (True, '1')
    >>> DeclaredLabels([0, 1]).find("true"), DeclaredLabels([0, 1]).find(True)
    (1, 1)
    >>> DeclaredLabels([1, 2]).find(7) is None
    True
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self.listed = tuple(labels)
        self._text = {label for label in labels if isinstance(label, str)}
        self._numbers = {float(label): label for label in labels if not isinstance(label, str)}

    def find(self, cell: object) -> Label | None:
        """Return the label that a cell means, None if it means none."""
        if isinstance(cell, str):
            if cell in self._text:
                return cell
            if cell.lower() in TRUTHS:
                return self._numbers.get(TRUTHS[cell.lower()])
        if not isinstance(cell, (str, float, int)):
            return None
        try:
            return self._numbers.get(float(cell))
        except (ValueError, OverflowError):
            return None

    def find_or_keep(self, cell: object) -> object:
        """Return the label that a cell means, and the cell itself if it means none.

        Examples
        --------
        >>> DeclaredLabels(["no", "yes"]).find_or_keep("Yes")
        'Yes'
        """
        label = self.find(cell)
        return cell if label is None else label
