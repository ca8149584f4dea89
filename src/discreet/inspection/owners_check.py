"""Looking at a table as a fit would, without paying and without keeping anything.

For the owner of the table alone; nothing here touches a ledger, and nothing it finds is released.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from discreet import _checks
from discreet.data.frame import Frame
from discreet.data.given_column import column_of
from discreet.data.matrix import hold_table
from discreet.data.stored import Encoding, OpenedTable, Wanted, is_table, open_table
from discreet.data.stored.table import Piece
from discreet.errors import InputError, InputTypeError, PrivacyError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap, PlainFeatures
from discreet.estimators.fit import accept_target, check_lengths
from discreet.estimators.targets import LabelTarget, LearningTarget, SeveralNumbers
from discreet.inspection.findings import TARGET, Contradiction, Promised, judge
from discreet.inspection.inspection_report import InspectionReport
from discreet.inspection.leaking_steps import find_leaks, is_surrounded
from discreet.inspection.table_survey import (
    TableSurvey,
    count_rows,
    state_columns,
    state_numbers,
)
from discreet.inspection.tallies import TableTally
from discreet.privacy import ONE_RECORD, unit_named

ANYTHING = ("", 0)
"""Labels of two kinds: a column of which is read whatever it holds."""


def check(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    person: Any = None,
    rows_per_person: int | None = None,
    protects: str = ONE_RECORD,
) -> InspectionReport:
    """Say what a fit of this model would do to this table, for the eyes of its owner only.

    **The result is as private as the table.** It is made of its cells, no noise is added, and no
    ledger is asked. Use it to find mistakes before a budget is spent: classes that are spelt
    otherwise, a range of the wrong unit, a column that is empty. To choose ranges by it gives
    something away that no guarantee covers. Do not store, send or publish it.

    Of a ``Pipeline`` or a search of scikit-learn it names every step that learns from rows without
    privacy, with what to use instead; the table is looked at if no step does.

    Parameters
    ----------
    model
        An estimator of this library, with everything declared, alone or within those of
        scikit-learn; it need not be fitted, and is not changed.
    X, y
        Rows and labels, as for ``fit``: arrays, data frames, Arrow tables; the path of Parquet
        files, which are read a few rows at a time; Dask collections, which are looked at where
        they are.
    target
        The column of a stored table that holds the labels.
    person
        Whose row each is: one name or number for each row, or the name of a column of a stored
        table. None if it is not to be looked at.
    rows_per_person
        How many rows of one person the promise is meant for; one if nobody says. If the model's
        unit is a person, it is what the model says.
    protects
        What one record is, or one person, in words.

    Returns
    -------
    InspectionReport
        Prints as text. What is serious comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearClassifier
    >>> from discreet.preprocessing import Numeric
    >>> model = LinearClassifier(columns=[Numeric(0, 1000)], classes=["no", "yes"])
    >>> found = check(model, np.array([[47.0], [71.0], [18.0]]), ["no", "Yes", "no"])
    >>> found.is_serious, [finding.where for finding in found if finding.is_serious]
    (True, ['the target', 'column 1'])
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> for finding in check(make_pipeline(StandardScaler(), model), np.ones((3, 1)), [0, 1, 0]):
    ...     print(finding.where, "->", finding.advice)
    standardscaler -> Declare columns= on the model, or use preprocessing.BoundedScaler: ...
    """
    if is_surrounded(model):
        return _look_around(model, X, y, target, person, rows_per_person, protects)
    if not isinstance(model, PrivateEstimator):
        raise InputTypeError(
            "model must be an estimator of this library, and X as it is given to its fit; got a "
            f"value of type {type(model).__name__}."
        )
    promised = _find_promise(model, rows_per_person, protects)
    model = copy(model)  # names of columns are kept in it, as in a fit
    model.ledger = None
    if is_table(X):
        looked = _look_at_stored(model, X, y, target, person)
    else:
        if target is not None:
            raise InputError("target names a column of stored tables; pass y with arrays.")
        looked = _look_at_held(model, X, y, person)
    survey, tally, contradictions = looked
    findings = judge(survey, tally, contradictions, promised, model.row_limit)
    return InspectionReport(survey, tally, findings)


def _find_promise(model: Any, rows_per_person: int | None, protects: str) -> Promised:
    """Return to whom a fit of a model makes its promise."""
    unit = unit_named(model.unit)
    if rows_per_person is not None:
        _checks.whole(rows_per_person=rows_per_person, at_least=1)
    if not unit.protects_persons:
        return Promised(protects, rows=rows_per_person or 1)
    if rows_per_person not in (None, model.rows_per_person):
        raise InputError(
            f"the model protects persons and uses {model.rows_per_person or 'all'} rows of each; "
            "leave rows_per_person out."
        )
    return Promised(unit.name_protected(protects), persons=True, rows=model.rows_per_person)


def _look_around(
    model: Any,
    X: Any,
    y: Any,
    target: Any,
    person: Any,
    rows_per_person: int | None,
    protects: str,
) -> InspectionReport:
    """Look at the steps around a private model, and through them if none learns from rows."""
    found = tuple(find_leaks(model))
    if found or not isinstance(model, Pipeline):
        count = 0 if is_table(X) else X.shape[0] if hasattr(X, "shape") else len(X)
        return InspectionReport(TableSurvey(()), TableTally(count, ()), found)
    *steps, (_, last) = model.steps
    for _, step in steps:
        X = X if step in (None, "passthrough") else clone(step).fit_transform(X)
    return check(
        last,
        X,
        y,
        target=target,
        person=person,
        rows_per_person=rows_per_person,
        protects=protects,
    )


Looked = tuple[TableSurvey, TableTally, list[Contradiction]]


def _look_at_held(model: PrivateEstimator, X: Any, y: Any, person: Any) -> Looked:
    """Look at a table in memory."""
    features = model.feature_map().of_columns
    contradictions: list[Contradiction] = []
    rows: Any
    if isinstance(features, DeclaredFeatures):
        rows, survey = _read_declared(features, X, contradictions)
        count = count_rows(rows) if rows.columns else len(X)
    else:
        accepted = features.accept(model, X)
        rows, (count, width) = accepted.encode(), accepted.shape
        rows = rows + _origin(features) if _origin(features) else rows
        survey = _state_plain(model, features, width, is_sparse=accepted.is_sparse)
    whose = None if person is None else column_of(person, "person")
    if whose is not None:
        check_lengths(count, len(whose))
    learnt, labels = _accept_labels(model, y, count, contradictions)
    survey = replace(survey, target=learnt)
    tally = survey.look(Piece(rows, labels, None), count, None if whose is None else whose.cells)
    return survey, tally, contradictions


def _read_declared(
    features: DeclaredFeatures, X: Any, contradictions: list[Contradiction]
) -> tuple[Frame, TableSurvey]:
    """Return the cells of declared columns, but for those whose type contradicts them."""
    held = hold_table(X)
    scaler = features.scaler.fit(held)
    names = list(getattr(scaler, "feature_names_in_", _number_names(len(features.columns))))
    cells = {}
    for place, name in enumerate(names):
        try:
            cells[name] = scaler.read_column(held, place)
        except (InputError, InputTypeError) as refusal:
            contradictions.append(Contradiction(name, str(refusal)))
    return Frame(cells), _state_declared(features, names, list(cells))


def _accept_labels(
    model: PrivateEstimator, y: Any, count: int, contradictions: list[Contradiction]
) -> tuple[LearningTarget | None, Any]:
    """Return what is learnt, and the labels; nothing if their type contradicts it."""
    target = model.learning_target(y)
    if target is None or isinstance(target, SeveralNumbers):
        return target, y
    labels = accept_target(model, y)
    check_lengths(count, len(labels))
    try:
        if isinstance(target, LabelTarget):
            target.check(labels)
    except (InputError, InputTypeError) as refusal:
        contradictions.append(Contradiction(TARGET, str(refusal)))
        return None, None
    return target, labels


def _look_at_stored(model: PrivateEstimator, X: Any, y: Any, name: Any, person: Any) -> Looked:
    """Look at a table that is stored elsewhere, a few rows at a time or where they are."""
    learnt = model.learning_target()
    opened = open_table(X, y, target=name, targets="none" if learnt is None else "one")
    features, contradictions = model.feature_map().of_columns, list[Contradiction]()
    found = features.find(model, opened)
    wanted, names = found.wanted, list(getattr(model, "feature_names_in_", ()))
    if person is not None:
        _checks.instance(str, person=person)
        if opened.names is None or wanted is None:
            raise InputError("a Dask array has no column of that name; compute it, and pass both.")
    if opened.names is not None and wanted is not None:
        wanted = tuple(one for one in wanted if _goes(opened, one, contradictions))
        if person is not None and person not in names:
            _try_column(opened, Wanted(person, ANYTHING))
            wanted = (*wanted, Wanted(person, ANYTHING))
    names = names or _number_names(found.width)
    kept = names if opened.names is None or wanted is None else [column.name for column in wanted]
    if isinstance(features, DeclaredFeatures):
        survey = _state_declared(features, names, kept)
    else:
        survey = _state_plain(model, features, found.width)
        survey = replace(survey, columns=tuple(c for c in survey.columns if c.name in kept))
    encoding = Encoding(wanted, _keep_as_it_is, found.width)
    if isinstance(learnt, LabelTarget):
        encoding = replace(encoding, label=_keep_as_it_is, labels=learnt.values)
        opened, learnt, encoding = _drop_target(opened, learnt, encoding, contradictions)
    survey = replace(survey, target=learnt, person=person)
    return survey, _add_up(opened, survey, encoding), contradictions


def _goes(opened: OpenedTable, column: Wanted, contradictions: list[Contradiction]) -> bool:
    """Say whether the type of a stored column goes with what is declared; note why it does not."""
    try:
        _try_column(opened, column)
    except (InputError, InputTypeError) as refusal:
        contradictions.append(Contradiction(column.name, str(refusal)))
        return False
    return True


def _try_column(opened: OpenedTable, column: Wanted) -> None:
    """Refuse a stored column as a fit would: by its name and its type."""
    replace(opened, targets=()).source(Encoding((column,), _keep_as_it_is, 1))


def _drop_target(
    opened: OpenedTable,
    learnt: LabelTarget,
    encoding: Encoding,
    contradictions: list[Contradiction],
) -> tuple[OpenedTable, LabelTarget | None, Encoding]:
    """Leave out a target whose type contradicts what is declared, and note why."""
    try:
        opened.source(encoding)
    except (InputError, InputTypeError) as refusal:
        contradictions.append(Contradiction(TARGET, str(refusal)))
        return replace(opened, targets=()), None, replace(encoding, label=None, labels=None)
    return opened, learnt, encoding


def _add_up(opened: OpenedTable, survey: TableSurvey, encoding: Encoding) -> TableTally:
    try:
        parts = opened.survey(survey.look, encoding)
    except PrivacyError:  # its words speak of a charge, and there was none
        parts = []
    if not parts:
        raise InputError("the table could not be read: a file or a partition is broken or changed.")
    return reduce(add, parts)


def _state_declared(features: DeclaredFeatures, names: list[str], kept: list[str]) -> TableSurvey:
    columns = tuple(one for one in state_columns(features, names) if one.name in kept)
    is_whole = len(columns) == len(names)
    if not is_whole or features.kept_share == 1:  # declared columns fit into their bound
        return TableSurvey(columns)
    if features.sought is not None:  # what is clipped depends on ranges that only a fit finds
        return TableSurvey(columns)
    return TableSurvey(columns, region=features.region, encoder=features)


def _state_plain(
    model: PrivateEstimator, features: FeatureMap, width: int, *, is_sparse: bool = False
) -> TableSurvey:
    names = list(getattr(model, "feature_names_in_", _number_names(width)))
    columns, region = state_numbers(names, model.row_region(width), _origin(features))
    return TableSurvey(() if is_sparse else columns, region=region)


def _origin(features: FeatureMap) -> float:
    """Return what entries are counted from in a fit."""
    return features.origin if isinstance(features, PlainFeatures) else 0.0


def _number_names(width: int) -> list[str]:
    return [f"column {place + 1}" for place in range(width)]


def _keep_as_it_is(cells: Any) -> Any:
    return cells
