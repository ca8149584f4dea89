"""What is asked of the rows: a public value that holds no data."""

from __future__ import annotations

from abc import ABC, abstractmethod

from discreet.questions.bounds import Bounds


class Question(ABC):
    """Something to be learnt from rows within declared bounds; hashable and printable.

    ``bounds`` say what is declared about the rows. A mechanism says by ``accepts`` whether it has a
    proof for a question.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.questions import VectorSum
    >>> def columns(question: Question) -> int:
    ...     return question.bounds.width
    >>> columns(VectorSum(Bounds(L2Ball(1.0), n_features=3)))
    3
    """

    bounds: Bounds

    @property
    def assumed(self) -> tuple[str, ...]:
        """What whoever asks took as public because it was found in the data."""
        return ()

    @abstractmethod
    def __post_init__(self) -> None:
        """Check the fields."""
