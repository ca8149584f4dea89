"""What a fit has to be told, because nothing guesses it: a refusal that says what to declare."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

from discreet.errors import InputError

Declarations = tuple[tuple[str, ...], ...]
"""Groups of parameters; of each, one has to be declared."""


class _Parameter(NamedTuple):
    """What a parameter declares, in words, and how it may be written."""

    meaning: str
    example: str


_PARAMETERS = {
    "columns": _Parameter(
        "what each column can hold",
        'columns={"age": Numeric(18, 100), "sex": Category(["f", "m"])}',
    ),
    "data_norm": _Parameter("the largest Euclidean norm of a row", "data_norm=5.0"),
    "entry_bound": _Parameter("the largest entry of a row", "entry_bound=1.0"),
    "data_range": _Parameter("the lowest and highest entry of a row", "data_range=(0, 1)"),
    "horizon": _Parameter("how many records there will be, at most", "horizon=100_000"),
    "experts": _Parameter("who is to be followed", 'experts=["mean", "last week", "model"]'),
    "loss_range": _Parameter("the least and the largest loss", "loss_range=(0, 1)"),
    "bounds": _Parameter("what the numbers of a block are clipped to", "bounds=(-1, 1)"),
    "classes": _Parameter("the classes", 'classes=["no", "yes"]'),
    "estimator": _Parameter("what is fitted", "estimator=LogisticRegression(data_norm=5.0)"),
    "param_grid": _Parameter("what is chosen among", 'param_grid={"C": [0.01, 0.1]}'),
    "param_distributions": _Parameter(
        "what candidates are drawn from", 'param_distributions={"C": [0.01, 0.1, 1.0]}'
    ),
    "procedure": _Parameter("what chooses columns on a block", "procedure=SelectKBest(k=5)"),
    "proposal": _Parameter("how far one record may move a median", "proposal=0.1"),
    "target_range": _Parameter("the lowest and highest target", "target_range=(0, 100)"),
}


class Declaring(Protocol):
    """An estimator that says which of its parameters have to be declared."""

    must_declare: ClassVar[Declarations]


def refuse_undeclared(model: Declaring) -> None:
    """Refuse a model of which something is not declared, and say what is missing, all at once.

    Examples
    --------
    >>> from discreet.linear_model import Ridge
    >>> refuse_undeclared(Ridge())
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: Ridge must be told columns (what each column can hold) or ...
    """
    missing = [ways for ways in model.must_declare if all(_is_left_out(model, way) for way in ways)]
    if not missing:
        return
    name = type(model).__name__
    wanted = ", and ".join(" or ".join(map(_describe, ways)) for ways in missing)
    call = ", ".join(_PARAMETERS[ways[0]].example for ways in missing)
    raise InputError(
        f"{name} must be told {wanted}; it is not guessed, and not read from the rows. Declare it "
        f"from what you know, as in {name}({call})."
    )


def _is_left_out(model: Declaring, name: str) -> bool:
    return getattr(model, name) is None


def _describe(name: str) -> str:
    return f"{name} ({_PARAMETERS[name].meaning})"
