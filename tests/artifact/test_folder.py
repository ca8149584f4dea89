"""Stored models: they come back as they were, and nothing else comes back."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import tracemalloc
import zipfile
from copy import copy
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from discreet._json import decode_array, encode_array
from discreet.artifact import load, save
from discreet.artifact.codec import decode, encode
from discreet.artifact.folder import ARRAYS, DOCUMENT, _digest
from discreet.artifact.models import kind_of, model_kinds
from discreet.artifact.npz_file import to_bytes
from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box, L1Ball, L1L2Ball, L2Ball, NuclearBall, Product, Simplex
from discreet.ledger import MemoryLedger
from discreet.linear_model import (
    LinearClassifier,
    LinearRegressor,
    LogisticRegression,
    LowRankRegressor,
    Ridge,
    SimplexRegression,
)
from discreet.location import Location, Median, Quantile, Threshold
from discreet.losses import Huber, Pinball
from discreet.preprocessing import BoundedScaler, Category, Numeric
from discreet.privacy import Budget, ReplaceOne
from discreet.svm import LinearSVC
from support.estimators import ALL, declare, labels_for, make
from support.estimators import X as EXAMPLE
from support.learners import ALL as LEARNERS
from support.learners import learn
from support.learners import make as make_learner

GENERATOR = np.random.default_rng(8)
X = GENERATOR.uniform(-1, 1, size=(150, 3)) / 2
SIGNAL = X @ [0.9, -0.6, 0.2]
TWO = np.where(SIGNAL > 0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.2, 0.2])
FRAME = pd.DataFrame({"age": X[:, 0] * 50 + 50, "ward": np.where(X[:, 1] > 0, "a", "b")})
COLUMNS = {"age": Numeric(0, 100, fill=30), "ward": Category(["a", "b", "c"])}


def fit_example(kind):
    """Return an estimator of any kind, fitted to a table that it can learn from."""
    labels = labels_for(kind)
    return make(kind, delta=0.0, max_rows=1000).fit(
        *((EXAMPLE,) if labels is None else (EXAMPLE, labels))
    )


def learn_stream(kind):
    """Return what is public of a learner of a stream that has learnt from a few records."""
    y = {"LinearRegression": SIGNAL, "Experts": None}.get(kind.__name__, TWO)
    return copy(learn(make_learner(kind, horizon=150), X, y))


MODELS = {
    "logistic": lambda: LogisticRegression(delta=0, classes=("no", "yes"), data_norm=1.0).fit(
        X, TWO
    ),
    "logistic, three classes": lambda: LogisticRegression(delta=0, data_norm=1.0).fit(X, THREE),
    "classifier, three classes at once": lambda: LinearClassifier(data_norm=1.0).fit(X, THREE),
    "logistic, truth values": lambda: LogisticRegression(C=0.1, delta=0, data_norm=1.0).fit(
        X, SIGNAL > 0
    ),
    "classifier of columns": lambda: LinearClassifier(delta=0, columns=COLUMNS).fit(FRAME, TWO),
    "classifier of listed columns": lambda: LinearClassifier(
        delta=0, columns=[Numeric(0, 100), Category(["a", "b"])]
    ).fit(FRAME, TWO),
    "support vectors": lambda: LinearSVC(
        delta=0, classes=np.array(["no", "yes"]), unit=ReplaceOne(), data_norm=1.0
    ).fit(X, TWO),
    "regressor of columns": lambda: LinearRegressor(
        delta=0, columns=COLUMNS, target_range=(-1.0, 1.0)
    ).fit(FRAME, SIGNAL),
    "ridge in a ball": lambda: Ridge(
        domain=L2Ball(2.0), data_norm=1.0, target_range=(-1.0, 1.0)
    ).fit(X, SIGNAL),
    "ridge without privacy": lambda: Ridge(
        epsilon=math.inf, data_norm=1.0, target_range=(-1.0, 1.0)
    ).fit(X, SIGNAL),
    "simplex": lambda: SimplexRegression(
        max_rows=1000, entry_bound=1.0, target_range=(-1.0, 1.0)
    ).fit(X, SIGNAL),
    "low rank": lambda: LowRankRegressor(data_norm=1.0, target_norm=1.0).fit(
        X, np.column_stack([SIGNAL, -SIGNAL])
    ),
    "low rank, one target": lambda: LowRankRegressor(data_norm=1.0, target_norm=1.0).fit(X, SIGNAL),
    "quantiles of columns": lambda: Quantile(0.9, bounds=([-1, -1, -1], [1, 1, 2])).fit(X),
    "location": lambda: Location(Huber(0.5), bounds=(-1.0, 1.0)).fit(X),
    "median": lambda: Median(bounds=(-1.0, 1.0)).fit(X),
    "threshold": lambda: Threshold(bounds=(-1.0, 1.0)).fit(X, TWO),
    **{kind.__name__: partial(fit_example, kind) for kind in ALL},
    **{f"online {kind.__name__}": partial(learn_stream, kind) for kind in LEARNERS},
    "scaler": lambda: BoundedScaler(COLUMNS),
    "fitted scaler": lambda: BoundedScaler(COLUMNS).fit(FRAME),
}


@cache
def fitted(name):
    return MODELS[name]()


def answers(model, name):
    table = FRAME if ("column" in name and "quantiles" not in name) or "scaler" in name else X
    if hasattr(model, "transform") and getattr(model, "is_stable_", True):
        yield model.transform(table)
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            yield getattr(model, method)(table)
    for attribute in (
        "coef_", "intercept_", "location_", "threshold_", "classes_", "selected_",
    ):  # fmt: skip
        if hasattr(model, attribute):
            yield getattr(model, attribute)


def test_every_estimator_is_stored_here():
    assert {kind_of(fitted(name)).name for name in MODELS} == set(model_kinds())


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_stored_one(name, tmp_path):
    model = fitted(name)
    again = load(save(model, tmp_path / "model"))
    assert type(again) is type(model)
    for first, second in zip(answers(model, name), answers(again, name), strict=True):
        assert np.asarray(first).dtype == np.asarray(second).dtype
        assert np.asarray(first).tobytes() == np.asarray(second).tobytes() or (
            np.asarray(first).dtype == object and np.array_equal(first, second)
        )
    for parameter, value in model.get_params().items():
        stored = again.get_params()[parameter]
        assert type(stored) is type(value)
        assert np.array_equal(stored, value) if isinstance(value, np.ndarray) else stored == value
    assert set(vars(again)) == set(vars(model))
    if hasattr(model, "release_"):
        assert again.release_.to_json() == model.release_.to_json()
        assert again.privacy_ == model.privacy_


def test_ledger_and_seed_are_not_stored(tmp_path):
    ledger = MemoryLedger(Budget(2.0, 1e-5))
    model = Ridge(ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL)
    again = load(save(model, tmp_path / "paid"))
    assert again.ledger is not ledger  # test_stored_state.py: it refuses to pay
    assert again.release_.ledger == ledger.identity
    with pytest.warns(UserWarning, match="rehearsal"):
        model = Ridge(rehearsal=3, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL)
    again = load(save(model, tmp_path / "rehearsed"))
    assert again.rehearsal is None
    assert again.release_.is_rehearsal


def test_nothing_is_overwritten(tmp_path):
    save(fitted("median"), tmp_path / "model")
    before = (tmp_path / "model" / DOCUMENT).read_bytes()
    with pytest.raises(InputError, match="exists already"):
        save(fitted("HuberRegressor"), tmp_path / "model")
    assert (tmp_path / "model" / DOCUMENT).read_bytes() == before
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="exists already"):
        save(fitted("median"), tmp_path / "link")


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        save(fitted("median"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_model_of_ours_is_refused(tmp_path):
    class Mine(Ridge):
        pass

    for other in (LinearRegression().fit(X, SIGNAL), declare(Mine).fit(X, SIGNAL), 3):
        with pytest.raises(InputTypeError, match="own models"):
            save(other, tmp_path / "model")
    with pytest.raises(InputError, match="not fitted"):
        save(Ridge(data_norm=1.0, target_range=(-1.0, 1.0)), tmp_path / "model")
    model = Ridge(data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, SIGNAL)
    model.rows_ = X
    with pytest.raises(InputError, match="rows_"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 0.1, -0.0, math.inf, "text", [1, [2]], (1, "a"), {"a": Numeric(0, 1)},
        L2Ball(2.0), L1Ball(0.5), L1L2Ball(1.0, 0.7), Box([0, 1], [2, 3]), Simplex(2.0),
        NuclearBall(1.0, (2, 3)), Product([(L2Ball(1.0), 2), (L1Ball(3.0), 1)]), Huber(0.5),
        Pinball(0.9), Category(["a", 1, 2.5, True][:3]), ReplaceOne(),
    ],
    ids=repr,
)  # fmt: skip
def test_arguments_survive(value):
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert again == value
    assert repr(again) == repr(value)


@pytest.mark.parametrize("value", [math.nan, object(), X.astype(object), {1, 2}, lambda: 0, 1j])
def test_arguments_that_are_not_on_the_list_are_refused(value):
    with pytest.raises(InputError, match="stored"):
        encode(value)


def stored(folder):
    """A stored model, as something that can be changed."""
    return json.loads((folder / DOCUMENT).read_text())


def put(folder, document, *, sealed=True):
    if sealed:
        document["digest"] = _digest(document)
    (folder / DOCUMENT).write_text(json.dumps(document))


def with_arrays(folder, data):
    """Put other bytes in place of the arrays, with a digest that fits."""
    document = stored(folder)
    document["arrays"]["digest"] = hashlib.sha256(data).hexdigest()
    (folder / ARRAYS).write_bytes(data)
    put(folder, document)


CHANGES = {
    "another class": (lambda d: d.update(model="os.system"), "models are"),
    "a class that is no text": (lambda d: d.update(model=["Ridge"]), "models are"),
    "another format": (lambda d: d.update(format="pickle"), "not a model"),
    "another version": (lambda d: d.update(version=2), "version"),
    "an unknown field": (lambda d: d.update(more=1), "unknown \\['more'\\]"),
    "a field left out": (lambda d: d.pop("release"), "missing \\['release'\\]"),
    "an unknown argument": (lambda d: d["arguments"].update(more=1), "more"),
    "an argument left out": (lambda d: d["arguments"].pop("C"), "'C'"),
    "the ledger": (lambda d: d["arguments"].update(ledger="x"), "ledger"),
    "an unknown kind": (lambda d: d["arguments"].update(domain={"eval": "1"}), "may hold"),
    "two kinds": (lambda d: d["arguments"].update(domain={"list": [], "tuple": []}), "one field"),
    "a bare list": (lambda d: d["arguments"].update(domain=[1]), "one field"),
    "a wrong set": (
        lambda d: d["arguments"].update(domain={"L2Ball": {"radius": -1.0}}),
        "radius",
    ),
    "an unknown field of a set": (
        lambda d: d["arguments"].update(domain={"L2Ball": {"radius": 1.0, "x": 2}}),
        "unknown",
    ),
    "an unknown attribute": (lambda d: d["learnt"].update(evil_=1), "evil_"),
    "a method": (lambda d: d["learnt"].update(predict=1), "predict"),
    "an attribute twice": (lambda d: d["learnt"].update(coef_=1.0), "twice"),
    "an attribute left out": (lambda d: d["learnt"].pop("classes_"), "leaves"),
    "an array of objects": (
        lambda d: d["learnt"]["classes_"]["array"].update(type="|O"),
        "numbers or text",
    ),
    "text cut short": (
        lambda d: d["learnt"]["classes_"]["array"].update(type="<U1"),
        "fit its type",
    ),
    "one class": (
        lambda d: d["learnt"]["classes_"]["array"].update(values=["no"], shape=[1]),
        "two classes",
    ),
    "a shape that does not fit": (
        lambda d: d["learnt"]["classes_"]["array"].update(shape=[3]),
        "cannot have",
    ),
    "no columns": (lambda d: d["learnt"].update(n_features_in_=0), "number of columns"),
    "other columns": (lambda d: d["learnt"].update(n_features_in_=4), "do not fit"),
    "columns as text": (lambda d: d["learnt"].update(n_features_in_="3"), "number of columns"),
    "a nested attribute": (lambda d: d["learnt"].update(n_features_in_={"list": []}), "numbers"),
    "names of other columns": (
        lambda d: d["learnt"].update(
            feature_names_in_={"array": {"type": "text", "shape": [1], "values": ["a"]}}
        ),
        "a name for each",
    ),
    "shapes that are none": (lambda d: d["arrays"]["shapes"].update(coef_=[-1, 3]), "shape"),
    "huge shapes": (lambda d: d["arrays"]["shapes"].update(coef_=[2**39, 3]), "shape|size"),
    "an array more": (lambda d: d["arrays"]["shapes"].update(feature_names_in_=[3]), "hold"),
    "another release": (lambda d: d["release"].update(more=1), "more"),
    "no release": (lambda d: d.update(release=None), "release"),
    "a profile that is none": (
        lambda d: d["release"]["guarantee"].update(profile={"kind": "eval"}),
        "unknown kind",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_model_is_refused(change, tmp_path):
    """Even if whoever changed it also made the digest fit."""
    folder = save(fitted("logistic"), tmp_path / "model")
    document = stored(folder)
    alter, says = CHANGES[change]
    alter(document)
    put(folder, document)
    with pytest.raises(InputError, match=says):
        load(folder)


def array_file(name="coef_.npy", array=None, compression=zipfile.ZIP_STORED, **options):
    member = io.BytesIO()
    coef = fitted("logistic").coef_ if array is None else array
    np.lib.format.write_array(member, coef, **options)
    file = io.BytesIO(to_bytes({"intercept_": fitted("logistic").intercept_}))
    with zipfile.ZipFile(file, "a", compression) as archive:
        archive.writestr(name, member.getvalue())
    return file.getvalue()


ARRAY_FILES = {
    "not finite": lambda: array_file(array=np.array([[1.0, np.nan, 0.0]])),
    "infinite": lambda: array_file(array=np.array([[1.0, np.inf, 0.0]])),
    "another shape": lambda: array_file(array=np.zeros((3, 1))),
    "single precision": lambda: array_file(array=np.zeros((1, 3), dtype=np.float32)),
    "integers": lambda: array_file(array=np.zeros((1, 3), dtype=np.int64)),
    "pickles": lambda: array_file(array=np.array([[1, "a", None]], dtype=object)),
    "another version": lambda: array_file(version=(2, 0)),
    "another name": lambda: array_file(name="../coef_.npy"),
    "an absolute name": lambda: array_file(name="/etc/coef_.npy"),
    "compressed": lambda: array_file(compression=zipfile.ZIP_DEFLATED),
    "one too few": lambda: to_bytes({"coef_": fitted("logistic").coef_}),
    "no archive": lambda: b"PK\x03\x04 nothing",
    "empty": lambda: b"",
    "too long": lambda: array_file(array=np.zeros((1, 3000))),
}


@pytest.mark.parametrize("case", ARRAY_FILES)
def test_other_arrays_are_refused(case, tmp_path):
    folder = save(fitted("logistic"), tmp_path / "model")
    with_arrays(folder, ARRAY_FILES[case]())
    with pytest.raises(InputError, match="array"):
        load(folder)


def test_the_arrays_of_these_tests_are_right_otherwise(tmp_path):
    folder = save(fitted("logistic"), tmp_path / "model")
    with_arrays(folder, array_file())
    assert np.array_equal(load(folder).coef_, fitted("logistic").coef_)


@pytest.mark.parametrize("file", [DOCUMENT, ARRAYS])
def test_a_damaged_file_is_refused(file, tmp_path):
    """A hundred files cut short, and as many with a byte changed: all refused, all in words."""
    folder = save(fitted("classifier of columns"), tmp_path / "model")
    path = folder / file
    whole = path.read_bytes()
    generator = np.random.default_rng(5)
    for length in generator.choice(len(whole), size=50, replace=False).tolist():
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="holds no model"):
            load(folder)
    for place in generator.choice(len(whole), size=50, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= int(generator.integers(1, 256))
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="holds no model"):
            load(folder)
    path.write_bytes(whole)
    load(folder)


@pytest.mark.parametrize("name", ["threshold", "median", "low rank", "regressor of columns"])
def test_damage_with_a_digest_that_fits_is_refused_or_harmless(name, tmp_path):
    """Numbers in the document replaced by odd values: never anything but InputError."""
    folder = save(fitted(name), tmp_path / "model")
    document = stored(folder)
    odd = (None, True, -1, 1.5, "x", [], {}, {"list": [1]}, 10**30)
    for part in ("arguments", "learnt", "arrays"):
        for field in document[part]:
            for value in odd:
                changed = json.loads(json.dumps(document))
                changed[part][field] = value
                put(folder, changed)
                with contextlib.suppress(InputError):
                    load(folder)


MOST_MEMORY = 2**22
"""What loading a small model takes at most, whatever its file says: a thousand times its size."""


def peak_of_loading(folder):
    tracemalloc.start()
    try:
        with contextlib.suppress(InputError):
            load(folder)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def odd_array(generator):
    """An array as a file may describe it, mostly wrong."""
    count = int(generator.choice([0, 1, 2, 40]))
    sizes = [0, 1, 2, count, 2**31, 10**18]
    letters = ["<U99999", "<U9999", "|U1", "<U0", "text", "<f8", ">i8", "|b1", "<u1"]
    values = {"U": "a", "t": "a", "b": True, "f": 1.5}
    kind = str(generator.choice(letters))
    value = values.get(kind.strip("<>|")[0], 1)
    shape = [int(one) for one in generator.choice(sizes, size=int(generator.integers(0, 4)))]
    right = generator.random() < 0.5
    return {"type": kind, "shape": [count] if right else shape, "values": [value] * count}


@pytest.mark.parametrize("name", ["logistic", "regressor of columns"])
def test_a_small_file_never_asks_for_much_memory(name, tmp_path):
    folder = save(fitted(name), tmp_path / "model")
    document, generator = stored(folder), np.random.default_rng(3)
    assert peak_of_loading(folder) < MOST_MEMORY
    for _ in range(60):
        changed = json.loads(json.dumps(document))
        place = generator.choice(["classes_", "feature_names_in_", "domain", "shapes"])
        if place == "shapes":
            shape = [int(one) for one in generator.choice([1, 3, 2**31, 2**39], size=2)]
            changed["arrays"]["shapes"]["coef_"] = shape
        elif place == "domain":
            changed["arguments"]["domain"] = {
                "list": [{"array": odd_array(generator)} for _ in range(5)]
            }
        else:
            changed["learnt"][str(place)] = {"array": odd_array(generator)}
        put(folder, changed)
        assert peak_of_loading(folder) < MOST_MEMORY


@pytest.mark.parametrize("shape", [(2**31, 3), (2**39, 2**39), (1, 2**39), (2**32, 2**32)])
def test_the_header_of_an_array_asks_for_nothing(shape, tmp_path):
    folder = save(fitted("logistic"), tmp_path / "model")
    member = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(member, header)
    file = io.BytesIO(to_bytes({"intercept_": fitted("logistic").intercept_}))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("coef_.npy", member.getvalue() + bytes(24))
    document = stored(folder)
    document["arrays"]["shapes"]["coef_"] = list(shape)
    put(folder, document)
    with_arrays(folder, file.getvalue())
    assert peak_of_loading(folder) < MOST_MEMORY
    with pytest.raises(InputError, match="coef_"):
        load(folder)


@pytest.mark.parametrize("width", [1, 200, 99_999])
def test_text_of_any_width_survives(width):
    """A type may be wider than its text: so wide that it is stored as narrow as it is."""
    labels = np.array(["no", "yes"], dtype=f"<U{max(width, 3)}")
    again = decode_array(json.loads(json.dumps(encode_array(labels))))
    assert again.tolist() == labels.tolist()
    assert (again.dtype == labels.dtype) == (width < 1000)


def test_one_long_text_among_many_short_ones_survives():
    uneven = np.array([*"abcdefghij" * 100, "x" * 90_000])
    again = decode_array(json.loads(json.dumps(encode_array(uneven))))
    assert again.tolist() == uneven.tolist()


def test_paths_that_lead_elsewhere_are_refused(tmp_path):
    folder = save(fitted("median"), tmp_path / "model")
    moved = tmp_path / "elsewhere.json"
    os.rename(folder / DOCUMENT, moved)
    (folder / DOCUMENT).symlink_to(moved)
    with pytest.raises(InputError, match=r"no file model\.json"):
        load(folder)
    with pytest.raises(InputError, match="there is none of that name"):
        load(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no file model\.json"):
        load(moved)
    (folder / DOCUMENT).unlink()
    (folder / DOCUMENT).mkdir()
    with pytest.raises(InputError, match=r"no file model\.json"):
        load(folder)


def test_deep_documents_are_refused(tmp_path):
    folder = save(fitted("median"), tmp_path / "model")
    deep = {"list": []}
    for _ in range(60):
        deep = {"list": [deep]}
    document = stored(folder)
    document["arguments"]["bounds"] = deep
    put(folder, document)
    with pytest.raises(InputError, match="deep"):
        load(folder)
    (folder / DOCUMENT).write_text("[" * 100_000)
    with pytest.raises(InputError, match="damaged"):
        load(folder)
