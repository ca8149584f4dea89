"""Linear and additive models as ONNX graphs, declared columns and their clipping included."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from discreet.additive import AdditiveClassifier, AdditiveRegressor
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.additive.cell_features import edges_of
from discreet.artifact.models import check_linear, coefficients, kind_of
from discreet.artifact.skops_file import write_whole
from discreet.errors import InputError
from discreet.estimators.classifier import MarginClassifier
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.probability_curve import ProbabilityCurve
from discreet.geometry import ConvexSet, L1L2Ball, L2Ball
from discreet.kernel.kernel_features import KernelEstimator
from discreet.kernels import RBF, BoundedKernel, Kernel, Laplacian, Linear, Matern, Polynomial
from discreet.linear_model import LogisticRegression, PoissonRegressor
from discreet.losses import MarginLogistic
from discreet.losses.logistic import MarginSoftmax, softmax_of
from discreet.preprocessing import Category, Column, Numeric
from discreet.preprocessing.fourier_map import ANGLES, HAIR, FourierMap
from discreet.preprocessing.landmark_map import LandmarkMap

OPSET = 19
IR_VERSION = 9
COLUMNS = "X"
INNER = "discreet/"
TAKEN = ("", "prediction", "margins", "probabilities")
"""What no column of a graph can be called."""


def to_onnx(model: BaseEstimator, path: str | Path) -> Path:
    """Write an ONNX graph that predicts in double precision; return its path.

    A model of plain rows has one input ``X``, of shape (rows, columns). A model of declared columns
    has one input of shape (rows, 1) for each column, of its name or ``column_1``, ``column_2`` and
    so on: numbers as doubles (NaN or infinite if missing), categories as strings, or as doubles if
    their levels are numbers. Clipping, filling and encoding are part of the graph.

    Outputs are ``prediction``; for classifiers ``margins`` as well, and ``probabilities`` if the
    model has them. The guarantee is kept in the metadata of the file, as JSON.

    Needs the extra ``export``.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.linear_model import Ridge
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2)) / 2
    >>> model = Ridge(data_norm=1.0, target_range=(-1, 1)).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     to_onnx(model, Path(place) / "model.onnx").name
    'model.onnx'
    """
    if not isinstance(model, AdditiveEstimator):
        check_linear(model, "to_onnx")
    kind_of(model)
    try:
        import onnx
    except ImportError:
        raise InputError("to_onnx needs onnx; install discreet[export].") from None
    graph = _Graph(onnx)
    outputs = (
        _add_classification(graph, model) if is_classifier(model) else _add_regression(graph, model)
    )
    whole = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, type(model).__name__, graph.inputs, outputs, graph.constants
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="discreet",
        producer_version=model.release_.version,
    )
    onnx.helper.set_model_props(whole, {"guarantee": model.privacy_.to_json()})
    onnx.checker.check_model(whole, full_check=True)
    return write_whole(Path(path), whole.SerializeToString())


class _Graph:
    """Nodes, inputs and constants as they come."""

    def __init__(self, onnx: Any) -> None:
        self._helper, self._numpy, self._types = onnx.helper, onnx.numpy_helper, onnx.TensorProto
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def input(self, name: str, width: int, *, is_text: bool = False) -> str:
        if name in TAKEN or name.startswith(INNER):
            raise InputError(f"a column called {name!r} has no place in a graph; rename it.")
        kind = self._types.STRING if is_text else self._types.DOUBLE
        self.inputs.append(self._helper.make_tensor_value_info(name, kind, ["rows", width]))
        return name

    def output(self, name: str, kind: Any, *shape: Any) -> Any:
        return self._helper.make_tensor_value_info(name, kind, ["rows", *shape])

    def constant(self, value: Any) -> str:
        array = np.asarray(value)
        name = f"{INNER}constant_{len(self.constants)}"
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array.ravel().tolist()]
            tensor = self._helper.make_tensor(name, self._types.STRING, array.shape, texts)
        else:
            tensor = self._numpy.from_array(array, name)
        self.constants.append(tensor)
        return name

    def node(self, operator: str, *inputs: str, result: str | None = None, **options: Any) -> str:
        name = result or f"{INNER}step_{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(operator, list(inputs), [name], **options))
        return name

    def as_double(self, name: str) -> str:
        return self.node("Cast", name, to=self._types.DOUBLE)

    def as_place(self, name: str) -> str:
        return self.node("Cast", name, to=self._types.INT64)

    @property
    def double(self) -> Any:
        return self._types.DOUBLE

    def kind_of(self, array: Any) -> Any:
        if array.dtype.kind in "OU":
            return self._types.STRING
        return self._helper.np_dtype_to_tensor_dtype(array.dtype)


def _add_margins(graph: _Graph, model: Any) -> str:
    """Return the inner products of rows with coefficients, plus intercepts."""
    if isinstance(model, AdditiveEstimator):
        return _add_shapes(graph, model)
    coef, intercept = coefficients(model)
    matrix = graph.constant(np.ascontiguousarray(coef.T))
    declared = getattr(model, "columns", None)
    if isinstance(model, KernelEstimator):
        mapped = _add_features(graph, model)
        return graph.node("Add", graph.node("MatMul", mapped, matrix), graph.constant(intercept))
    if declared is None:
        rows = graph.input(COLUMNS, coef.shape[1])
        return graph.node("Add", graph.node("MatMul", rows, matrix), graph.constant(intercept))
    features = model.fitted_map()
    columns = [_add_column(graph, name, one) for name, one in _name_columns(features.declared)]
    linear = graph.node("MatMul", graph.node("Concat", *columns, axis=1), matrix)
    region = features.region
    if features.kept_share < 1 and isinstance(region, L1L2Ball):
        linear = _shorten_rows(graph, features, region, columns, linear, coef)
    return graph.node("Add", linear, graph.constant(intercept))


def _add_shapes(graph: _Graph, model: AdditiveEstimator) -> str:
    """Return the sum of what each column adds, looked up by the cell of its value."""
    features, total = model.feature_map(), graph.constant(model.intercept_[None, :])
    named, places = _name_columns(features.declared), list[str]()
    for (name, column), table in zip(named, features.tables(model), strict=True):
        find = _find_part if isinstance(column, Numeric) else _find_level
        entries = graph.constant(np.ascontiguousarray(table.T))
        places.append(find(graph, name, column))
        total = graph.node("Add", total, graph.node("Gather", entries, places[-1]))
    for effect in features.pairs(model):
        product = graph.node("Mul", *(
            graph.node("Gather", graph.constant(place[:, None]), places[column])
            for column, place in zip(effect.columns, effect.places, strict=True)
        ))  # fmt: skip
        weight = graph.constant(effect.weight[None, :])
        total = graph.node("Add", total, graph.node("Mul", product, weight))
    return total


def _find_part(graph: _Graph, name: str, column: Any) -> str:
    """Return the part of a range that each number is in: how many parts end before it."""
    cells, first = graph.input(name, 1), graph.constant(np.array([1]))
    is_odd = graph.node("IsNaN", cells)
    if column.fill is not None:
        is_odd = graph.node("Or", is_odd, graph.node("IsInf", cells))
    stands = column.low if column.fill is None else column.fill
    known = graph.node("Where", is_odd, graph.constant(stands), cells)
    inside = graph.node("Clip", known, graph.constant(column.low), graph.constant(column.high))
    ends = graph.constant(edges_of(column)[None, 1:-1])
    passed = graph.as_place(graph.node("GreaterOrEqual", inside, ends))
    place = graph.node("ReduceSum", passed, first, keepdims=0)
    if column.fill is not None:
        return place
    missing = graph.constant(np.int64(edges_of(column).size - 1))
    return graph.node("Where", graph.node("Squeeze", is_odd, first), missing, place)


def _find_level(graph: _Graph, name: str, column: Any) -> str:
    """Return the place of each level, one more for anything else."""
    marks = _add_column(graph, name, column)
    found = graph.node("ReduceMax", marks, graph.constant(np.array([1])), keepdims=0)
    is_there = graph.node("Greater", found, graph.constant(0.0))
    place = graph.node("ArgMax", marks, axis=1, keepdims=0)
    return graph.node("Where", is_there, place, graph.constant(np.int64(column.width)))


def _add_features(graph: _Graph, model: KernelEstimator) -> str:
    """Return the features that a kernel model makes of rows, encoded or clipped to a ball first."""
    mapping, inner = model.fitted_row_map(), model.column_map()
    if isinstance(inner, DeclaredFeatures):
        columns = [_add_encoded(graph, name, one) for name, one in _name_columns(inner.declared)]
        rows = graph.node("Concat", *columns, axis=1)
    else:
        rows = _add_clipped(graph, graph.input(COLUMNS, model.n_features_in_), inner.region)
    if isinstance(mapping, FourierMap):
        return _add_waves(graph, mapping, rows)
    if isinstance(mapping, LandmarkMap):
        entries = _add_kernel(graph, mapping.kernel, rows, mapping.landmarks)
        found = graph.node("MatMul", entries, graph.constant(mapping.matrix))
        return _add_clipped(graph, found, L2Ball(mapping.radius))
    raise InputError(f"to_onnx does not know the features of a {type(model).__name__}; use save.")


def _add_kernel(graph: _Graph, kernel: Kernel, rows: str, landmarks: Any) -> str:
    """Return the entries of a kernel between rows and landmarks."""
    if isinstance(kernel, BoundedKernel):
        return _add_bounded(graph, kernel, rows, landmarks)
    if isinstance(kernel, Linear | Polynomial):
        products = graph.node("MatMul", rows, graph.constant(np.ascontiguousarray(landmarks.T)))
        if isinstance(kernel, Linear):
            return products
        scaled = graph.node("Mul", products, graph.constant(kernel.scale))
        moved = graph.node("Add", scaled, graph.constant(kernel.offset))
        return _multiply_often(graph, moved, kernel.degree)
    apart = graph.node("Unsqueeze", rows, graph.constant(np.array([1])))
    differences = graph.node("Sub", apart, graph.constant(landmarks[None, :, :]))
    axis = graph.constant(np.array([2]))
    if isinstance(kernel, Laplacian):
        distances = graph.node("ReduceL1", differences, axis, keepdims=0)
        return graph.node("Exp", graph.node("Mul", distances, graph.constant(-kernel.gamma)))
    squared = graph.node("ReduceSumSquare", differences, axis, keepdims=0)
    if isinstance(kernel, RBF):
        return graph.node("Exp", graph.node("Mul", squared, graph.constant(-kernel.gamma)))
    if isinstance(kernel, Matern):
        return _add_matern(graph, kernel, squared)
    raise InputError(f"to_onnx does not know {kernel!r}; use save.")


def _add_bounded(graph: _Graph, kernel: BoundedKernel, rows: str, landmarks: Any) -> str:
    """Return entries for feature vectors that are clipped to a radius, each by itself."""
    inner = kernel.kernel
    entries = _add_kernel(graph, inner, rows, landmarks)
    at_landmarks = graph.node("Mul", entries, graph.constant(kernel.factors(landmarks)[None, :]))
    if not isinstance(inner, Linear | Polynomial):  # K(x, x) is the same everywhere
        return graph.node("Mul", at_landmarks, graph.constant(kernel.factors(landmarks[:1])))
    squares = graph.node("ReduceSumSquare", rows, graph.constant(np.array([1])))
    if isinstance(inner, Polynomial):
        scaled = graph.node("Mul", squares, graph.constant(inner.scale))
        moved = graph.node("Add", scaled, graph.constant(inner.offset))
        squares = _multiply_often(graph, moved, inner.degree)
    longest = graph.node("Max", graph.node("Sqrt", squares), graph.constant(1e-300))
    reach = graph.node("Div", graph.constant(kernel.radius), longest)
    return graph.node("Mul", at_landmarks, graph.node("Min", graph.constant(1.0), reach))


def _multiply_often(graph: _Graph, name: str, times: int) -> str:
    """Return a whole power."""
    power = name
    for _ in range(times - 1):
        power = graph.node("Mul", power, name)
    return power


def _add_matern(graph: _Graph, kernel: Matern, squared: str) -> str:
    """Return (1 + t + t^2/3) exp(-t), as much of the polynomial as the smoothness asks for."""
    scale = graph.constant(math.sqrt(2 * kernel.nu) / kernel.length)
    t = graph.node("Mul", graph.node("Sqrt", squared), scale)
    decay = graph.node("Exp", graph.node("Neg", t))
    if kernel.nu == 0.5:
        return decay
    factor = graph.node("Add", graph.constant(1.0), t)
    if kernel.nu == 2.5:
        third = graph.node("Div", graph.node("Mul", t, t), graph.constant(3.0))
        factor = graph.node("Add", factor, third)
    return graph.node("Mul", factor, decay)


def _add_encoded(graph: _Graph, name: str, column: Column) -> str:
    """Return a column as it is encoded: numbers between -1 and 1, levels centred."""
    cells = _add_column(graph, name, column)
    if isinstance(column, Numeric):
        moved = graph.node("Sub", cells, graph.constant(column.middle))
        return graph.node("Div", moved, graph.constant(column.half))
    return graph.node("Sub", cells, graph.constant(1 / column.width))


def _add_clipped(graph: _Graph, rows: str, region: ConvexSet) -> str:
    """Return rows clipped to a ball, each by itself."""
    length = graph.node("ReduceL2", rows, graph.constant(np.array([1])))
    reach = graph.constant(region.reach(1))
    longest = graph.node("Max", length, graph.constant(1e-300))
    factors = graph.node("Min", graph.constant(1.0), graph.node("Div", reach, longest))
    return graph.node("Mul", rows, factors)


def _add_waves(graph: _Graph, mapping: FourierMap, rows: str) -> str:
    """Return cosines and sines; runtimes know sines of doubles, so a quarter turn is added."""
    turns = graph.node("MatMul", rows, graph.constant(np.ascontiguousarray(mapping.frequencies)))
    angles = graph.node("Round", graph.node("Mul", turns, graph.constant(float(ANGLES))))
    whole = graph.node("Floor", graph.node("Div", angles, graph.constant(float(ANGLES))))
    inside = graph.node("Sub", angles, graph.node("Mul", whole, graph.constant(float(ANGLES))))
    sines = graph.node("Mul", inside, graph.constant(2 * math.pi / ANGLES))
    cosines = graph.node("Add", sines, graph.constant(math.pi / 2))
    waves = graph.node("Sin", graph.node("Concat", cosines, sines, axis=1))
    return graph.node("Mul", waves, graph.constant(HAIR / math.sqrt(mapping.n_components)))


def _name_columns(declared: dict[str, Column] | list[Column]) -> list[tuple[str, Column]]:
    if isinstance(declared, dict):
        return [(str(name), column) for name, column in declared.items()]
    return [(f"column_{number}", column) for number, column in enumerate(declared, start=1)]


def _add_column(graph: _Graph, name: str, column: Column) -> str:
    """Return a column in the user's own units: clipped numbers, ones for levels."""
    if isinstance(column, Numeric):
        cells = graph.input(name, 1)
        is_odd = graph.node("Or", graph.node("IsNaN", cells), graph.node("IsInf", cells))
        fill = column.middle if column.fill is None else column.fill
        known = graph.node("Where", is_odd, graph.constant(fill), cells)
        low, high = graph.constant(column.low), graph.constant(column.high)
        return graph.node("Clip", known, low, high)
    if not isinstance(column, Category):
        raise InputError(f"to_onnx knows numbers and categories; {name!r} is neither.")
    is_text = [isinstance(level, str) for level in column.levels]
    if any(is_text) and not all(is_text):
        raise InputError(f"the levels of {name!r} are text and numbers; ONNX needs one of them.")
    cells = graph.input(name, 1, is_text=is_text[0])
    levels = np.array(column.levels, dtype=object if is_text[0] else np.float64)
    return graph.as_double(graph.node("Equal", cells, graph.constant(levels[None, :])))


def _shorten_rows(
    graph: _Graph,
    features: DeclaredFeatures,
    region: L1L2Ball,
    columns: list[str],
    linear: str,
    coef: Any,
) -> str:
    """Return margins of rows that are clipped about the middle of each range."""
    encoded = []
    for (_, column), cells in zip(_name_columns(features.declared), columns, strict=True):
        if isinstance(column, Numeric):
            moved = graph.node("Sub", cells, graph.constant(column.middle))
            cells = graph.node("Div", moved, graph.constant(column.half))
        encoded.append(cells)
    rows = graph.node("Concat", *encoded, axis=1)
    axis = graph.constant(np.array([1]))
    tiny = graph.constant(1e-300)
    total = graph.node("Max", graph.node("ReduceL1", rows, axis), tiny)
    length = graph.node("Max", graph.node("ReduceL2", rows, axis), tiny)
    factors = graph.node(
        "Min",
        graph.constant(1.0),
        graph.node("Div", graph.constant(region.l1_radius), total),
        graph.node("Div", graph.constant(region.l2_radius), length),
    )
    origin = np.concatenate([column.origin() for column in features.columns])
    middle = graph.constant(origin @ coef.T)
    around = graph.node("Mul", factors, graph.node("Sub", linear, middle))
    return graph.node("Add", middle, around)


def _add_regression(graph: _Graph, model: Any) -> list[Any]:
    """Add the prediction of a regression."""
    margins = _add_margins(graph, model)
    if isinstance(model, AdditiveRegressor):
        ends = map(graph.constant, model.target_ends)
        margins = graph.node("Clip", margins, *ends)
    is_single = isinstance(model, AdditiveRegressor) or np.ndim(model.coef_) == 1
    operator = "Exp" if isinstance(model, PoissonRegressor) else "Identity"
    told = graph.node(operator, margins) if is_single else margins
    if not is_single:
        graph.node("Identity", told, result="prediction")
        return [graph.output("prediction", graph.double, len(model.coef_))]
    graph.node("Squeeze", told, graph.constant(np.array([1])), result="prediction")
    return [graph.output("prediction", graph.double)]


def _add_classification(graph: _Graph, model: Any) -> list[Any]:
    """Add classes, margins and probabilities."""
    classes = np.asarray(model.classes_)
    labels = classes.astype(object) if classes.dtype.kind in "OU" else classes
    if labels.dtype.kind == "O" and not all(isinstance(name, str) for name in labels.tolist()):
        raise InputError("ONNX needs classes that are all text or all numbers.")
    margins = _add_margins(graph, model)
    axis = graph.constant(np.array([1]))
    if len(classes) == 2:
        shown, width = graph.node("Squeeze", margins, axis), []
        place = graph.as_place(graph.node("Greater", shown, graph.constant(0.0)))
    else:
        shown, width = margins, [len(classes)]
        place = graph.node("ArgMax", margins, axis=1, keepdims=0)
    graph.node("Gather", graph.constant(labels), place, result="prediction", axis=0)
    graph.node("Identity", shown, result="margins")
    outputs = [
        graph.output("prediction", graph.kind_of(labels)),
        graph.output("margins", graph.double, *width),
    ]
    if isinstance(model, LogisticRegression | MarginClassifier | AdditiveClassifier):
        _add_probabilities(graph, model, margins, len(classes), axis)
        outputs.append(graph.output("probabilities", graph.double, len(classes)))
    return outputs


def _add_sigmoid(graph: _Graph, name: str) -> str:
    """Return 1/(1 + exp(-z)), exact in its tail, where runtimes cut their own short."""
    small = graph.node("Exp", graph.node("Neg", graph.node("Abs", name)))
    whole = graph.node("Add", graph.constant(1.0), small)
    is_negative = graph.node("Less", name, graph.constant(0.0))
    top = graph.node("Where", is_negative, small, graph.constant(1.0))
    return graph.node("Div", top, whole)


def _add_softmax(graph: _Graph, loss: MarginSoftmax | None, margins: str, axis: str) -> None:
    """Add the probabilities of classes that were learnt at once (see MarginSoftmax)."""
    ahead = graph.constant(math.exp(loss.margin if loss is not None else 0.0))
    top = graph.node("ReduceMax", margins, axis)
    sizes = graph.node("Exp", graph.node("Sub", margins, top))
    others = graph.node("Sub", graph.node("ReduceSum", sizes, axis), sizes)
    weights = graph.node("Mul", sizes, graph.node("Add", sizes, graph.node("Mul", ahead, others)))
    graph.node("Div", weights, graph.node("ReduceSum", weights, axis), result="probabilities")


def _add_curve(graph: _Graph, curve: ProbabilityCurve, margins: str) -> str:
    """Return log-odds: on either side of zero a sum of ramps, one for each change of slope."""
    nodes, odds = curve.points
    slopes = np.diff(odds) / np.diff(nodes)
    zero = int(np.flatnonzero(nodes == 0)[0])
    sides = []
    for way, away, rises in (
        (margins, nodes[zero:-1], slopes[zero:]),
        (graph.node("Neg", margins), -nodes[zero:0:-1], slopes[:zero][::-1]),
    ):
        ramps = graph.node("Relu", graph.node("Sub", way, graph.constant(away[None, :])))
        changes = graph.constant(np.diff(rises, prepend=0.0)[:, None])
        sides.append(graph.node("MatMul", ramps, changes))
    return graph.node("Sub", *sides)


def _add_probabilities(graph: _Graph, model: Any, margins: str, classes: int, axis: str) -> None:
    """Add the probabilities of classes."""
    loss = model.fitted_loss()
    if model.multiclass_ == "softmax":
        _add_softmax(graph, softmax_of(loss), margins, axis)
        return
    curve = model.probability_curve()
    if curve is not None:
        chances = _add_sigmoid(graph, _add_curve(graph, curve, margins))
    elif isinstance(loss, MarginLogistic):
        width = graph.constant(loss.margin)
        ahead = _add_sigmoid(graph, graph.node("Add", width, margins))
        behind = _add_sigmoid(graph, graph.node("Sub", width, margins))
        chances = graph.node("Div", ahead, graph.node("Add", ahead, behind))
    else:
        chances = _add_sigmoid(graph, margins)
    if classes == 2:
        rest = graph.node("Sub", graph.constant(1.0), chances)
        graph.node("Concat", rest, chances, result="probabilities", axis=1)
        return
    total = graph.node("ReduceSum", chances, axis)
    is_some = graph.node("Greater", total, graph.constant(0.0))
    divided = graph.node("Div", chances, graph.node("Where", is_some, total, graph.constant(1.0)))
    even = graph.constant(1 / classes)
    graph.node("Where", is_some, divided, even, result="probabilities")
