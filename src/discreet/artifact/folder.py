"""A fitted model in a folder: one JSON document and one file of arrays; no pickle.

Serialisation: SHA-256 digests against damage, an atomic rename against half a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from discreet import _json
from discreet._json import decode_array, encode_array
from discreet._types import Json
from discreet.additive.pair_effect import list_pairs
from discreet.artifact import npz_file
from discreet.artifact.codec import decode, encode
from discreet.artifact.models import (
    NOT_STORED,
    ModelKind,
    fitted_attributes,
    kind_of,
    model_kinds,
)
from discreet.errors import DiscreetError, InputError
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.estimators.storing import STORED_WITHOUT
from discreet.kernel.landmark_model import LandmarkModel
from discreet.ledger.memory import LostLedger
from discreet.record import Release

FORMAT = "discreet model"
VERSION = 1
DOCUMENT, ARRAYS = "model.json", "arrays.npz"
FIELDS = {"format", "version", "model", "arguments", "learnt", "arrays", "release", "digest"}
MOST_BYTES = 2**33

LATER_ARGUMENTS = frozenset(["calibration", "expected_rows"])
LATER_LEARNT = frozenset(["margin_", "probability_curve_", "ranges_"])
"""What older files lack: arguments with defaults, and what a fit left, None for such a model."""

LATER_OF_ONE = dict.fromkeys(
    ("LinearSVC", "LogisticRegression", "Ridge", "Lasso", "ElasticNet", "HuberRegressor",
     "PoissonRegressor", "QuantileRegressor"),
    frozenset(["columns"]),
)  # fmt: skip
"""Arguments that older files of one model lack, and those of others never did."""


def save(model: BaseEstimator, folder: str | Path) -> Path:
    """Store a fitted model, its release and guarantee in a new folder; return the folder.

    The folder appears as a whole or not at all, and one that exists is never changed. The ledger
    and ``rehearsal`` are not stored: a loaded model predicts, and says what was promised.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.linear_model import Ridge
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(1000, 2)) / 2
    >>> model = Ridge(data_norm=1.0, target_range=(-1, 1)).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     again = load(save(model, Path(place) / "model"))
    >>> bool((again.predict(X) == model.predict(X)).all()), again.privacy_ == model.privacy_
    (True, True)
    """
    kind = kind_of(model)
    parts, numbers = _split(fitted_attributes(model, kind))
    document: Json = {
        "format": FORMAT,
        "version": VERSION,
        "model": kind.name,
        "arguments": _arguments(model),
        "learnt": parts,
        "release": json.loads(model.release_.to_json()) if kind.is_released else None,
    }
    data = npz_file.to_bytes(numbers)
    document["arrays"] = {
        "shapes": npz_file.shapes_of(numbers),
        "digest": hashlib.sha256(data).hexdigest(),
    }
    document["digest"] = _digest(document)
    where = Path(folder)
    _write_folder(where, {DOCUMENT: _json.dump(document, indent=1).encode(), ARRAYS: data})
    return where


def load(folder: str | Path) -> Any:
    """Return the model that :func:`save` stored; anything else is refused with a reason.

    Nothing in the files is run or looked up by name: classes come from a closed list.

    Examples
    --------
    >>> load("no/such/folder")
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: no/such/folder must be a folder that save() wrote; ...
    """
    where = Path(folder)
    text = _read(where, DOCUMENT)
    try:
        document = _json.parse(text.decode("utf-8"), "a stored model")
        return _rebuild_model(document, where)
    except DiscreetError as error:
        raise InputError(f"{where} holds no model that can be read: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        pass  # a message of these might quote anything
    raise InputError(f"{where} holds no model that can be read: its parts do not fit together.")


def _arguments(model: Any) -> Json:
    found = (
        model.stored_arguments()
        if isinstance(model, LandmarkModel)
        else model.get_params(deep=False)
    )
    return {name: encode(found[name]) for name in found if name not in NOT_STORED}


def _split(learnt: dict[str, Any]) -> tuple[Json, dict[str, Any]]:
    """Return what goes into the document, and arrays of numbers."""
    parts: Json = {}
    numbers: dict[str, Any] = {}
    for name, value in learnt.items():
        if isinstance(value, np.ndarray) and value.dtype == np.float64 and name != "classes_":
            if not np.isfinite(value).all():
                raise InputError(f"{name} has entries that are not finite; it cannot be stored.")
            numbers[name] = value
        elif isinstance(value, np.ndarray):
            parts[name] = {"array": encode_array(value)}
        else:
            parts[name] = encode(value)
    return parts, numbers


def _digest(document: Json) -> str:
    """Return the SHA-256 of a document without its digest: a guard against damage, not malice."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _write_folder(where: Path, files: dict[str, bytes]) -> None:
    """Write files into a new folder that appears as a whole."""
    if os.path.lexists(where):
        raise InputError(f"{where} exists already; choose a new folder.")
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=where.parent, prefix=f".{where.name}-"))
    except OSError as error:
        raise InputError(f"{where.parent} could not be written to: {error.strerror}.") from None
    try:
        for name, data in files.items():
            with open(aside / name, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        aside.chmod(0o755)
        if os.path.lexists(where):
            raise InputError(f"{where} exists already; choose a new folder.")
        os.rename(aside, where)
    except OSError as error:
        raise InputError(f"{where} could not be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _read(where: Path, name: str) -> bytes:
    path = where / name
    try:
        if not path.is_file() or path.is_symlink():
            problem = f"it has no file {name}" if where.exists() else "there is none of that name"
            raise InputError(f"{where} must be a folder that save() wrote; {problem}.")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} is too large for a model.")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} could not be read: {error.strerror}.") from None


def _rebuild_model(document: Json, where: Path) -> Any:
    if document.get("format") != FORMAT:
        raise InputError("it is not a model of this library.")
    if document.get("version") != VERSION or document["version"] is True:
        raise InputError(f"it has another version than {VERSION}, which is the one that is read.")
    _json.check_fields(document, FIELDS, "a stored model")
    if document["digest"] != _digest(document):
        raise InputError("its digest does not fit; the document was damaged.")
    kinds, name = model_kinds(), document["model"]
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InputError(f"models are {', '.join(sorted(kinds))}; got {name!r}.")
    learnt = _read_learnt(document, kind, _read(where, ARRAYS))
    model = kind.model(**_decode_arguments(document["arguments"], kind))
    for name, value in learnt.items():
        setattr(model, name, value)
    if kind.is_released:
        model.release_ = Release.from_json(json.dumps(document["release"]))
        model.privacy_ = model.release_.guarantee
        if model.release_.ledger:
            model.ledger = LostLedger(STORED_WITHOUT)
    elif document["release"] is not None:
        raise InputError(f"a {document['model']} has no release.")
    _check_shapes(model, kind)
    return model


def _decode_arguments(arguments: Any, kind: ModelKind) -> Json:
    known = {name for name in kind.model._get_param_names() if name not in NOT_STORED}
    if isinstance(arguments, dict):
        later = LATER_ARGUMENTS | LATER_OF_ONE.get(kind.model.__name__, frozenset())
        known -= later - set(arguments)
    _json.check_fields(arguments, known, "the arguments of a model")
    return {name: decode(value) for name, value in arguments.items()}


def _read_learnt(document: Json, kind: ModelKind, data: bytes) -> dict[str, Any]:
    about = _json.check_fields(document["arrays"], {"shapes", "digest"}, "arrays")
    shapes, parts = about["shapes"], document["learnt"]
    if not isinstance(shapes, dict) or not isinstance(parts, dict):
        raise InputError("what a fit left must be a JSON object.")
    names = [*shapes, *parts]
    if len(set(names)) != len(names):
        raise InputError("something that a fit left comes twice.")
    later = kind.learnt & LATER_LEARNT - set(names)
    if not kind.learnt - later <= set(names) <= kind.learnt | kind.optional:
        wanted = sorted(kind.learnt | kind.optional)
        raise InputError(f"a fit leaves {wanted}; the file has {sorted(names)}.")
    for shape in shapes.values():
        if not isinstance(shape, list) or len(shape) > 2 or not all(map(_is_length, shape)):
            raise InputError("the shape of an array must be one or two lengths.")
    if hashlib.sha256(data).hexdigest() != about["digest"]:
        raise InputError("the digest of the arrays does not fit; their file was damaged.")
    plain = {name: _decode_part(value) for name, value in parts.items()}
    return dict.fromkeys(later) | plain | npz_file.from_bytes(data, shapes)


def _is_length(length: object) -> bool:
    return type(length) is int and 0 < length < 2**40


def _decode_part(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"array"}:
        return decode_array(value["array"])
    if isinstance(value, dict | list):
        raise InputError("what a fit left must be numbers, text or arrays.")
    return value


def _check_shapes(model: Any, kind: ModelKind) -> None:
    """Raise unless what a fit left could have come from one fit."""
    found = vars(model)
    columns = found.get("n_features_in_")
    if columns is not None and not _is_length(columns):
        raise InputError("the number of columns must be a whole number, at least one.")
    names = found.get("feature_names_in_")
    if names is not None and (names.dtype != object or names.shape != (columns,)):
        raise InputError("there must be a name for each column.")
    classes = found.get("classes_")
    if classes is not None and not (classes.ndim == 1 and len(set(classes.tolist())) > 1):
        raise InputError("there must be at least two classes, all different.")
    if "location_" in found and np.shape(model.location_) != (columns,):
        raise InputError("a location must have a number for each column.")
    if "coef_" in found:
        _check_coefficients(model, columns)
    if "cell_values_" in found:
        _check_cells(model)
    if "ranges_" in found:
        _check_ranges(model)
    if "threshold_" in found:
        _check_threshold(model, columns)
    if found.get("probability_curve_") is not None:
        _check_curve(model)


def _check_cells(model: Any) -> None:
    """Raise unless there are values, and shares, of as many cells as the columns have."""
    features, classes = model.feature_map(), len(getattr(model, "classes_", ()))
    if len(features.columns) != model.n_features_in_:
        raise InputError("there must be a declaration for each column.")
    lines, cells = classes if classes > 2 else 1, int(features.ends[-1])
    found = (model.cell_values_, model.cell_shares_, model.intercept_, model.cell_bands_)
    wanted = ((lines, cells), (cells,), (lines,), (lines, cells) if model.bands else ())
    if tuple(map(np.shape, found)) != wanted:
        raise InputError("shapes must have a value, and a share, for each cell of the columns.")
    if getattr(model, "multiclass_", None) != ("softmax" if classes > 2 else None):
        raise InputError("three or more classes of an additive model are learnt by softmax.")
    weights, places = model.pair_weights_, model.cell_places_
    pairs = (lines, len(list_pairs(features.columns))), (cells,)
    is_none = weights is None and places is None
    if not is_none and (np.shape(weights), np.shape(places)) != pairs:
        raise InputError("there must be a weight for each pair of columns, and places of cells.")


def _check_curve(model: Any) -> None:
    if len(model.classes_) != 2 or not isinstance(model.probability_curve_, np.ndarray):
        raise InputError("a curve of probabilities is an array, and one of two classes.")
    ProbabilityCurve(model.probability_curve_)


def _check_ranges(model: Any) -> None:
    """Raise unless there is a range for each that was sought, within its public bounds."""
    features, ranges = model.feature_map(), model.ranges_
    if ranges is None and features.sought is None:
        return
    if not isinstance(ranges, np.ndarray) or not isinstance(features, DeclaredFeatures):
        raise InputError("there must be a range for each column with public bounds.")
    if not features.holds_ranges(ranges):
        raise InputError("ranges that were found must be two ends within each public bounds.")


def _check_coefficients(model: Any, columns: int) -> None:
    declared = getattr(model, "columns", None)
    width = model.fitted_map().width_of(columns)
    if declared is not None and len(declared) != columns:
        raise InputError("there must be a declaration for each column.")
    if hasattr(model, "classes_"):
        classes = len(model.classes_)
        ways = (None,) if classes == 2 else ("softmax", "one_vs_rest")
        if model.multiclass_ not in ways:
            raise InputError(f"{classes} classes are learnt by one of {ways}.")
        rows = 1 if classes == 2 else classes
        wanted: tuple[tuple[int, ...], tuple[int, ...]] = ((rows, width), (rows,))
    elif np.ndim(model.coef_) == 2 and model.__sklearn_tags__().target_tags.multi_output:
        wanted = ((len(model.coef_), width), (len(model.coef_),))
    else:
        wanted = ((width,), ())
    if (np.shape(model.coef_), np.shape(model.intercept_)) != wanted:
        raise InputError("coefficients and intercept do not fit the columns and classes.")
    is_number = isinstance(model.intercept_, float | np.ndarray)
    if not (isinstance(model.coef_, np.ndarray) and is_number):
        raise InputError("coefficients and intercept must be numbers.")


def _check_threshold(model: Any, columns: int) -> None:
    place, direction = model.column_, model.direction_
    if not (type(place) is int and 0 <= place < columns and len(model.classes_) == 2):
        raise InputError("a threshold must be in one of the columns, between two classes.")
    if (
        direction not in (-1, 1)
        or type(direction) is not int
        or type(model.threshold_) is not float
    ):
        raise InputError("a threshold must be a number, and its direction 1 or -1.")
