"""The public feature map keeps its promises whatever the rows hold."""

import datetime
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from discreet.data.frame import Frame as StoredFrame
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L1Ball, L2Ball
from discreet.preprocessing import BoundedScaler, Category, Column, Numeric
from discreet.questions.bounds import Bounds, LabelSet

DECLARED = {
    "age": Numeric(0, 120),
    "pay": Numeric(-1e5, 3.7e6, fill=1000),
    "tiny": Numeric(0.1, 0.1 + 1e-15),
    "town": Category(["a", "b", "c"]),
    "flag": Category([False, True]),
    "code": Category([1, 2.5, "x", "7", 7, -3]),
}
COLUMNS = list(DECLARED.values())
SETTINGS = [
    {"centre_categories": True},
    {"centre_categories": False},
    {"centre_categories": False, "sparse_output": True},
    {"centre_categories": True, "data_norm": None},
    {"centre_categories": False, "data_norm": None, "sparse_output": True},
    {"centre_categories": True, "data_norm": 3.7},
]
law = settings(derandomize=True, deadline=None)
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


class Hostile(float):
    def __float__(self):
        raise RuntimeError("4711")


HOSTILE = [
    math.nan, math.inf, -math.inf, None, 1e308, -1e308, 5e-324, 10**400, "", "zzz", "nan", "1e999",
    b"a", 1j, np.complex128(1j), np.nan, np.float32(3), np.longdouble("1e4000"), Decimal("sNaN"),
    datetime.date(2020, 1, 1), np.datetime64("NaT"), object(), (), [1], np.array([1.0]), Hostile(1),
]  # fmt: skip
cells = st.one_of(
    st.sampled_from(HOSTILE),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.text(max_size=3),
    st.sampled_from(["a", "b", "c", 1, 2.5, "x", "7", 7, 0.1, 0.1 + 1e-15, 120]),
)
tables = st.lists(st.tuples(*[cells] * len(COLUMNS)), min_size=1, max_size=12)


def objects(rows):
    table = np.empty((len(rows), len(COLUMNS)), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            table[i, j] = cell
    return table


def dense(encoded):
    return encoded.toarray() if sparse.issparse(encoded) else encoded


class Frame(StoredFrame):
    """A stored table of columns of objects; its values can be guarded."""

    def __init__(self, columns, *, guarded=False):
        super().__init__(
            {
                name: cells if isinstance(cells, np.ndarray) else np.array(cells, dtype=object)
                for name, cells in columns.items()
            }
        )
        self._guarded = guarded

    def __getitem__(self, name):
        if self._guarded:
            raise RuntimeError("a value was read")
        return super().__getitem__(name)


def in_box(columns, **parameters):
    """Return the map to [-1, 1], which no norm shortens."""
    return BoundedScaler(columns, data_norm=None, **parameters)


# Laws


@every_setting
@law
@given(rows=tables)
def test_no_row_exceeds_the_declared_norms(setting, rows):
    scaler = BoundedScaler(COLUMNS, **setting)
    encoded = dense(scaler.transform(objects(rows)))
    assert encoded.shape == (len(rows), scaler.n_features_out)
    assert encoded.dtype == np.float64
    for order in (1, 2, math.inf):
        assert (np.linalg.norm(encoded, ord=order, axis=1) <= scaler.row_norm(order)).all()


@every_setting
@law
@given(rows=tables, data=st.data())
def test_every_row_is_encoded_by_itself(setting, rows, data):
    scaler = BoundedScaler(COLUMNS, **setting)
    together = dense(scaler.transform(objects(rows)))
    kept = data.draw(st.permutations(range(len(rows))))[: data.draw(st.integers(1, len(rows)))]
    some = dense(scaler.transform(objects([rows[i] for i in kept])))
    assert some.tobytes() == together[kept].tobytes()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("centred", [True, False])
def test_the_norms_are_reached_by_some_row(order, centred):
    scaler = BoundedScaler(COLUMNS, centre_categories=centred)
    row = scaler.transform([[120, 1e9, 1, "a", True, "x"]])
    assert np.linalg.norm(row, ord=order, axis=1) == pytest.approx(scaler.row_norm(order))


def test_the_norms_are_those_of_the_formula():
    sizes = np.array([3, 2, 6])
    centred, plain = (in_box(COLUMNS, centre_categories=c) for c in (True, False))
    assert centred.row_norm() == pytest.approx(math.sqrt(3 + (1 - 1 / sizes).sum()), rel=1e-14)
    assert centred.row_norm(1) == pytest.approx(3 + 2 * (1 - 1 / sizes).sum(), rel=1e-14)
    assert plain.row_norm() == pytest.approx(math.sqrt(6), rel=1e-14)
    assert plain.row_norm(1) == pytest.approx(6, rel=1e-14)
    assert plain.row_norm() > math.sqrt(6)


@pytest.mark.parametrize("size", [2, 3, 7, 10, 49, 1000])
@pytest.mark.parametrize(("ball", "order"), [(L2Ball, 2), (L1Ball, 1)])
def test_clipping_to_the_declared_norm_changes_nothing(size, ball, order):
    scaler = BoundedScaler([Category(range(size)), *[Numeric(-0.1, 0.3)] * 40])
    X = np.full((size, 41), -0.1)
    X[:, 0] = np.arange(size)
    encoded = scaler.transform(X)
    _, scale = ball(scaler.row_norm(order)).clip_rows(encoded)
    assert (scale == 1).all()


@every_setting
def test_sparse_dense_lists_arrays_and_frames_agree(setting):
    rows = [[30, 5.0, 0.1, "a", True, 7], [-4, None, 9, "q", False, "7"], ["3", 1, 0, "c", 1, 2.5]]
    expected = BoundedScaler(COLUMNS, **{**setting, "sparse_output": False}).transform(rows)
    columns = dict(zip(DECLARED, map(list, zip(*rows, strict=True)), strict=True))
    frame = Frame({name: np.array(columns[name], dtype=object) for name in reversed(DECLARED)})
    for scaler, X in [
        (BoundedScaler(COLUMNS, **setting), tuple(map(tuple, rows))),
        (BoundedScaler(COLUMNS, **setting), objects(rows)),
        (BoundedScaler(DECLARED, **setting), frame),
    ]:
        encoded = scaler.fit_transform(X)
        assert isinstance(encoded, sparse.csr_array) == setting.get("sparse_output", False)
        np.testing.assert_array_equal(dense(encoded), expected)


# Columns


def test_a_number_is_clipped_scaled_and_filled():
    X = np.array([[0.0], [30.0], [60.0], [120.0], [500.0], [-9.0], [np.nan], [np.inf], [-np.inf]])
    encoded = in_box([Numeric(0, 120, fill=90)]).transform(X).ravel()
    assert encoded.tolist() == [-1, -0.5, 0, 1, 1, -1, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.longdouble, "U9"])
def test_every_type_of_number_is_read(dtype):
    X = np.array([[0], [1]]).astype(dtype)
    one_hot = in_box([Category([0, 1])], centre_categories=False)
    assert in_box([Numeric(0, 1)]).transform(X).tolist() == [[-1], [1]]
    assert one_hot.transform(X).tolist() == [[1, 0], [0, 1]]


def test_a_long_number_overflows_without_a_warning():
    X = np.array([[np.longdouble("1e4000")]])
    assert in_box([Numeric(0, 4, fill=4)]).transform(X).tolist() == [[1.0]]


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("unknown", [None, math.nan, "d", "A", 0, object()])
def test_a_missing_or_undeclared_level_is_the_zero_vector(centred, unknown):
    scaler = BoundedScaler([Category(["a", "b"])], centre_categories=centred)
    assert scaler.transform([[unknown]]).tolist() == [[0.0, 0.0]]


def test_text_is_itself_before_it_is_a_number():
    scaler = BoundedScaler([Category(["7", 7, 8])], centre_categories=False)
    encoded = scaler.transform([["7"], [7], ["8"], ["7.0"]])
    assert encoded.argmax(axis=1).tolist() == [0, 1, 2, 1]


# Fold


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_a_folded_model_decides_as_the_encoded_one(centred, shape):
    declared = {
        "age": Numeric(0, 120),
        "town": Category(["a", "b", "c"]),
        "pay": Numeric(-1e5, 3.7e6),
        "flag": Category([False, True]),
    }
    rng = np.random.default_rng(1)
    n = 50
    columns = {
        "age": rng.uniform(0, 120, n),
        "town": rng.choice(["a", "b", "c", "unknown"], n),
        "pay": rng.uniform(-1e5, 3.7e6, n),
        "flag": rng.integers(0, 3, n),
    }
    scaler = BoundedScaler(declared, centre_categories=centred)
    coef = rng.normal(size=(*shape, scaler.n_features_out))
    intercept = rng.normal(size=shape)
    folded = scaler.fold(coef, intercept)
    hot = [
        columns["age"][:, None],
        columns["town"][:, None] == ["a", "b", "c"],
        columns["pay"][:, None],
        columns["flag"][:, None] == [0, 1],
    ]
    own = np.hstack(hot).astype(float) @ np.moveaxis(folded.coef, -1, 0) + folded.intercept
    encoded = scaler.transform(Frame(columns)) @ np.moveaxis(coef, -1, 0) + intercept
    assert folded.coef.shape == coef.shape
    assert np.shape(folded.intercept) == shape
    np.testing.assert_allclose(own, encoded, rtol=1e-12, atol=1e-12)


@every_setting
@law
@given(rows=tables, seed=st.integers(0, 2**32 - 1))
def test_plain_features_and_folded_coefficients_decide_as_the_encoded_ones(setting, rows, seed):
    # For every row: values outside their range, missing ones and unknown levels included.
    columns = [column for column in COLUMNS if column != DECLARED["tiny"]]
    table = np.delete(objects(rows), COLUMNS.index(DECLARED["tiny"]), axis=1)
    scaler = BoundedScaler(columns, **setting)
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(2, scaler.n_features_out))
    intercept = rng.normal(size=2)
    folded = scaler.fold(coef, intercept)
    plain = scaler.plain(table)
    assert plain.shape == (len(rows), scaler.n_features_out)
    own = plain @ folded.coef.T + folded.intercept
    encoded = dense(scaler.transform(table)) @ coef.T + intercept
    np.testing.assert_allclose(own, encoded, rtol=0, atol=1e-12)


def test_plain_features_of_a_narrow_range_lose_no_more_than_its_rounding():
    scaler = BoundedScaler([DECLARED["tiny"]])
    rows = [[0.0], [0.1], [0.1 + 1e-15], [9.0], [None]]
    coef, intercept = scaler.fold([1.0], 0.0)
    own = scaler.plain(rows) @ coef + intercept
    np.testing.assert_allclose(own, scaler.transform(rows)[:, 0], rtol=0, atol=0.1)


def test_plain_features_are_clipped_and_filled_and_nothing_else():
    scaler = BoundedScaler({"age": Numeric(0, 120, fill=30), "town": Category(["a", "b", "c"])})
    table = Frame(
        {
            "town": np.array(["b", "a", "zzz", None], dtype=object),
            "age": np.array([41.5, 500.0, -1.0, np.nan]),
        }
    )
    assert scaler.plain(table).tolist() == [
        [41.5, 0, 1, 0],
        [120, 1, 0, 0],
        [0, 0, 0, 0],
        [30, 0, 0, 0],
    ]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
@pytest.mark.parametrize("centred", [True, False])
def test_the_origin_of_a_column_is_encoded_as_zeros(column, centred):
    origin = column.origin()
    assert origin.shape == (column.width,)
    if isinstance(column, Numeric):
        cell = np.array([origin[0]])
        assert column.encode(cell, centred=centred).tolist() == [[0.0]]
        assert column.plain(cell)[0].tolist() == origin.tolist()
    else:
        unknown = np.array([None], dtype=object)
        assert column.encode(unknown, centred=centred)[0].tolist() == origin.tolist()
        assert column.plain(unknown)[0].tolist() == origin.tolist()


@pytest.mark.parametrize("columns", [COLUMNS, DECLARED])
def test_plain_features_of_another_table_are_refused(columns):
    with pytest.raises((InputError, InputTypeError), match="must"):
        BoundedScaler(columns).plain(np.zeros((2, 5)))


@pytest.mark.parametrize(("coef", "intercept"), [([1.0], 0), (1.0, 0), ([[1, 2]], [1, 2, 3])])
def test_folding_another_shape_is_refused(coef, intercept):
    with pytest.raises(InputError, match="must"):
        BoundedScaler([Numeric(0, 1)] * 2).fold(coef, intercept)


def test_folding_what_is_no_number_is_refused():
    with pytest.raises(InputTypeError, match="coef"):
        BoundedScaler([Numeric(0, 1)]).fold(["a"], 0)


# Bounds


def test_bounds_declare_the_encoded_rows():
    scaler = BoundedScaler(DECLARED)
    labels = LabelSet([-1, 1])
    bounds = scaler.bounds(labels, intercept=1.0, max_rows=1000)
    features = L2Ball(scaler.row_norm())
    assert bounds == Bounds(features, scaler.n_features_out, labels, 1.0, max_rows=1000)
    assert scaler.bounds() == Bounds(features, scaler.n_features_out)


def test_another_order_is_refused():
    with pytest.raises(InputError, match="order"):
        BoundedScaler(COLUMNS).row_norm(3)


# scikit-learn


def state(scaler):
    return pickle.dumps(scaler.__dict__)


def test_fit_keeps_nothing_of_the_values():
    one, other = np.zeros((3, 6)), np.full((9, 6), np.nan)
    assert state(BoundedScaler(COLUMNS).fit(one)) == state(BoundedScaler(COLUMNS).fit(other))


def test_fit_reads_no_value_of_a_frame():
    frame = Frame(dict.fromkeys(DECLARED), guarded=True)
    scaler = BoundedScaler(DECLARED).fit(frame)
    assert scaler.feature_names_in_.tolist() == list(DECLARED)
    assert scaler.n_features_in_ == 6
    with pytest.raises(RuntimeError):
        scaler.transform(frame)


def test_fitting_again_on_an_array_forgets_the_names():
    scaler = BoundedScaler(COLUMNS).fit(Frame(dict.fromkeys(DECLARED)))
    assert not hasattr(scaler.fit(np.zeros((1, 6))), "feature_names_in_")


@pytest.mark.parametrize("columns", [COLUMNS, tuple(COLUMNS), DECLARED])
def test_clones_and_pickles_are_the_same_map(columns):
    scaler = BoundedScaler(columns, centre_categories=False, sparse_output=True)
    assert scaler.columns is columns
    for copy in (clone(scaler), pickle.loads(pickle.dumps(scaler))):
        assert copy.get_params() == scaler.get_params()
        assert copy.row_norm() == scaler.row_norm()


def test_the_map_needs_no_fit():
    scaler = in_box([Numeric(0, 1)])
    check_is_fitted(scaler)
    assert scaler.transform([[1]]).tolist() == [[1.0]]
    assert scaler.__sklearn_tags__().input_tags.allow_nan


def test_pipelines_and_column_transformers_accept_it():
    X = np.array([[0.0, 1, 5], [1, 2, np.nan], [0.2, 1, 5], [0.9, 2, 6]])
    y = [0, 1, 0, 1]
    scaler = BoundedScaler([Numeric(0, 1), Category([1, 2])])
    both = ColumnTransformer([("own", scaler, [0, 1]), ("rest", "drop", [2])])
    model = make_pipeline(both, LogisticRegression()).fit(X, y)
    assert model.predict(X).tolist() == y
    assert both.fit(X).get_feature_names_out().tolist() == ["own__x0", "own__x1_1", "own__x1_2"]


def test_features_are_named_after_columns_and_levels():
    columns = [Numeric(0, 1), Category(["a", 2])]
    assert BoundedScaler(columns).get_feature_names_out().tolist() == ["x0", "x1_a", "x1_2"]
    named = BoundedScaler(dict(zip("pq", columns, strict=True)))
    assert named.get_feature_names_out().tolist() == ["p", "q_a", "q_2"]
    assert named.get_feature_names_out(["q", "p"]).tolist() == ["p", "q_a", "q_2"]
    fitted = BoundedScaler(columns).fit(Frame({"p": [], "q": []}))
    assert fitted.get_feature_names_out().tolist() == ["p", "q_a", "q_2"]
    with pytest.raises(InputError, match="input_features"):
        BoundedScaler(columns).get_feature_names_out(["p"])
    with pytest.raises(InputError, match="order"):
        fitted.get_feature_names_out(["q", "p"])


def test_pandas_frames_are_encoded_and_returned():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "town": pd.Categorical(["a", None, "b"]),
            "age": pd.array([30, None, 150], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
        },
        index=[7, 8, 9],
    )
    declared = {name: DECLARED[name] for name in ("age", "town", "flag")}
    scaler = in_box(declared, centre_categories=False).set_output(transform="pandas")
    encoded = scaler.fit_transform(frame)
    assert list(encoded.columns) == scaler.get_feature_names_out().tolist()
    assert list(encoded.index) == [7, 8, 9]
    assert encoded.to_numpy().tolist() == [
        [-0.5, 1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 0, 1, 0, 1, 0],
    ]
    text = frame.assign(town=["a", None, "b"])
    np.testing.assert_array_equal(scaler.transform(text), encoded)
    with pytest.raises(InputError, match="datetime64"):
        scaler.transform(frame.assign(age=pd.Timestamp("2020-01-01")))


def test_polars_frames_are_encoded():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"town": ["a", None, "b"], "age": [30, None, 150]})
    declared = {name: DECLARED[name] for name in ("age", "town")}
    encoded = in_box(declared, centre_categories=False).fit_transform(frame)
    assert encoded.tolist() == [[-0.5, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0]]


# Refusals


@pytest.mark.parametrize(
    "limits",
    [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (0, 1e101), (0, 1e-101), (0, 1, 2),
     (0, 1, -1e-9), (0, 1, math.nan)],
)  # fmt: skip
def test_limits_that_make_no_range_are_refused(limits):
    with pytest.raises(InputError, match="must"):
        Numeric(*limits)


@pytest.mark.parametrize("limits", [("0", 1), (0, None), (False, True), (0, 1, "mean")])
def test_limits_that_are_not_numbers_are_refused(limits):
    with pytest.raises(InputTypeError, match="must be a number"):
        Numeric(*limits)


@pytest.mark.parametrize(
    "levels", [[], ["a"], ["a", "a"], [1, 1.0], [True, 1], [1, math.nan], [1, 2**53 + 1]]
)
def test_levels_that_make_no_category_are_refused(levels):
    with pytest.raises(InputError, match="must"):
        Category(levels)


@pytest.mark.parametrize("levels", ["ab", {"a", "b"}, {"a": 1, "b": 2}, 3, ["a", None], [b"a", 1]])
def test_levels_of_another_type_are_refused(levels):
    with pytest.raises(InputTypeError, match="must be"):
        Category(levels)


@pytest.mark.parametrize(
    "parameters",
    [
        {"columns": Numeric(0, 1)},
        {"columns": "age"},
        {"columns": [(1, 0)]},
        {"columns": {"age": (0, 1, 1)}},
        {"columns": {0: Numeric(0, 1)}},
        {"columns": [Numeric(0, 1)], "centre_categories": 1},
        {"columns": [Numeric(0, 1)], "sparse_output": None},
        {"columns": []},
        {"columns": {}},
        {"columns": [Numeric(0, 1)], "sparse_output": True},
    ],
    ids=str,
)
def test_parameters_that_make_no_map_are_refused_when_it_is_used(parameters):
    scaler = BoundedScaler(**parameters)
    for use in (scaler.fit, scaler.transform, lambda _: scaler.row_norm()):
        with pytest.raises((InputError, InputTypeError), match="must"):
            use(np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("columns", "X", "error"),
    [
        (COLUMNS[:2], np.zeros((3, 1)), InputError),
        (COLUMNS[:2], np.zeros(2), InputError),
        (COLUMNS[:2], [[1, 2], [4711]], InputError),
        (COLUMNS[:2], [4711, 4711], InputError),
        (COLUMNS[:2], 4711, InputTypeError),
        (COLUMNS[:2], None, InputTypeError),
        (COLUMNS[:2], sparse.csr_array(np.eye(2)), InputTypeError),
        (COLUMNS[:2], Frame({"age": [4711]}), InputError),
        (DECLARED, np.zeros((3, 6)), InputTypeError),
        (DECLARED, Frame({"age": [4711]}), InputError),
        (DECLARED, Frame({**dict.fromkeys(DECLARED), "more": [4711]}), InputError),
    ],
)
def test_other_columns_than_declared_are_refused(columns, X, error):
    for use in (BoundedScaler(columns).fit, BoundedScaler(columns).transform):
        with pytest.raises(error, match="must") as refusal:
            use(X)
        assert "4711" not in str(refusal.value)


def test_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    twins = pandas.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(InputError, match="twice"):
        BoundedScaler({"age": Numeric(0, 1)}).fit(twins)


def test_a_listed_map_fitted_on_a_frame_wants_the_same_order():
    one, other = Frame({"a": [1], "b": [2]}), Frame({"b": [2], "a": [1]})
    scaler = in_box([Numeric(0, 2)] * 2).fit(one)
    assert scaler.transform(one).tolist() == [[0, 1]]
    with pytest.raises(InputError, match="order"):
        scaler.transform(other)


@pytest.mark.parametrize("dtype", ["complex", "datetime64[s]", "timedelta64[s]", "S3"])
def test_types_no_declaration_speaks_of_are_refused(dtype):
    with pytest.raises(InputError, match="column 0 must"):
        BoundedScaler([Numeric(0, 1)]).transform(np.zeros((2, 1), dtype=dtype))


def test_columns_cannot_be_abstract():
    with pytest.raises(TypeError):
        Column()


def test_the_quick_way_through_plain_cells_is_the_slow_one():
    cells = np.array([1, 2.5, None, True, -0.0, float("nan"), float("inf"), 10**30], dtype=object)
    column = Numeric(-5, 5, fill=2)
    whole = column.encode(cells, centred=True)
    odd = column.encode(np.append(cells, "x"), centred=True)[:-1]  # one cell that is no number
    huge = column.encode(np.append(cells, 10**400), centred=True)[:-1]  # one beyond all floats
    np.testing.assert_array_equal(whole, odd)
    np.testing.assert_array_equal(whole, huge)
