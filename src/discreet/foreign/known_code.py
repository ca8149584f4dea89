"""What is known of an object from all that it holds: whether it draws, remembers or prints.

The walk sees attributes, containers, closures and arguments. Only exact types that are listed here
are known; a subclass, a function of somebody else's, or a generator somewhere inside is not.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import functools
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from inspect import signature
from typing import Any

import numpy as np

from discreet._private_part import Sealed

ATOMS = (
    *(type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes),
    *(range, slice, datetime.date, datetime.datetime, datetime.timedelta),
    *(decimal.Decimal, fractions.Fraction),
)
"""Types that hold nothing else."""

CONTAINERS = (list, tuple, set, frozenset, deque, dict, OrderedDict, defaultdict)

FUNCTIONS = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(types.MethodDescriptorType, types.WrapperDescriptorType),
)

NAMED_FUNCTIONS = ("cython_function_or_method", "_ArrayFunctionDispatcher")
"""Types of functions that cannot be imported."""

OWN = "discreet"
TAKEN_WHOLE = ("discreet.ledger", "discreet.record", "discreet.privacy")
"""What models of this library hold and do not ask when they predict."""

LIBRARIES = ("math", "numpy", "scipy", "sklearn", OWN)
"""Whose functions and classes are known, but for those that draw."""

ARRAYS = (np.ndarray, np.ma.MaskedArray, functools.partial)

OF_SCIKIT_LEARN = tuple(
    f"sklearn.{name}"
    for name in (
        *("_loss", "base", "calibration", "compose", "cross_decomposition"),
        *("discriminant_analysis", "dummy", "ensemble", "feature_extraction", "feature_selection"),
        *("frozen", "gaussian_process", "impute._base", "impute._knn", "isotonic", "kernel_ridge"),
        *("linear_model", "metrics", "model_selection._search", "model_selection._split"),
        *("multiclass", "multioutput", "naive_bayes", "neighbors", "pipeline"),
        *("neural_network._multilayer_perceptron", "neural_network._stochastic_optimizers"),
        *("preprocessing", "svm", "tree"),
        *("utils._bunch", "utils._tags", "utils._metadata_requests", "utils._encode"),
    )
)
"""Modules whose models predict without drawing; others may not."""

OF_OTHERS = ("scipy.sparse", "scipy.interpolate", "numpy._globals")

DRAWN_FROM_IN_FITS = ("random_state", "_rng", "_random_state", "_feature_subsample_rng")
"""Attributes of scikit-learn's that a fit draws from, and a prediction does not."""

DRAWING_DUMMIES = ("stratified", "uniform")


def reach(start: Any, leave: Iterable[str] = (), whole: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield an object and all that it holds, each once.

    Examples
    --------
    >>> [type(one).__name__ for one in reach({"a": [len]})]
    ['dict', 'list', 'builtin_function_or_method']
    """
    waiting, seen = [start], dict[int, Any]()
    left = frozenset(leave)
    while waiting:
        one = waiting.pop()
        if type(one) in ATOMS or id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        if not _module_of(type(one)).startswith(whole):
            waiting.extend(_parts(one, left))


def _parts(one: Any, left: frozenset[str]) -> Iterator[Any]:
    """Yield what an object holds, as far as Python tells."""
    if isinstance(one, type | types.ModuleType | types.BuiltinFunctionType | np.ufunc):
        return
    if isinstance(one, dict):
        yield getattr(one, "default_factory", None)
        yield from list(one.keys())
        yield from list(one.values())
    elif isinstance(one, list | tuple | set | frozenset | deque):
        yield from list(one)
    elif isinstance(one, np.ndarray | np.generic):
        if one.dtype.hasobject:
            yield from one.ravel().tolist()
    elif isinstance(one, functools.partial):
        yield from (one.func, one.args, one.keywords)
    elif isinstance(one, types.MethodType):
        yield from (one.__self__, one.__func__)
    elif isinstance(one, types.FunctionType):
        yield from (one.__defaults__, one.__kwdefaults__)
        for cell in one.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not filled yet
                continue
    yield from (value for name, value in _attributes(one) if name not in left)


def _attributes(one: Any) -> Iterator[tuple[str, Any]]:
    named = getattr(one, "__dict__", None)
    if isinstance(named, dict):
        yield from list(named.items())
    for kind in type(one).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            held = kind.__dict__.get(name)
            if isinstance(held, types.MemberDescriptorType):
                try:
                    yield name, held.__get__(one)
                except AttributeError:  # not set
                    continue


def is_known(start: Any, *, fits: bool) -> bool:
    """Say whether code is known to be silent, and to say the same of the same whatever came before.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> is_known(DummyClassifier(), fits=False)
    True
    >>> is_known(DummyClassifier(strategy="uniform"), fits=False), is_known(print, fits=False)
    (False, False)
    """
    leave = () if fits else DRAWN_FROM_IN_FITS
    return all(_is_known(one, fits) for one in reach(start, leave, TAKEN_WHOLE))


def is_ours(one: Any) -> bool:
    """Say whether an object is of this library, and of no class or method of somebody else's.

    Examples
    --------
    >>> from discreet.linear_model import Ridge
    >>> is_ours(Ridge()), is_ours(type("Mine", (Ridge,), {"__module__": "mine"})())
    (True, False)
    """
    is_patched = any(callable(getattr(type(one), name, None)) for name in vars(one))
    return _is_of(type(one), (OWN,)) and not is_patched


def _is_known(one: Any, fits: bool) -> bool:
    kind = type(one)
    module = _module_of(kind)
    if kind in CONTAINERS or kind in ARRAYS:
        return True
    if isinstance(one, type):
        return _is_of(one, ("builtins", *LIBRARIES))
    if isinstance(one, np.ufunc):  # but not one that was made of a function
        return getattr(np, one.__name__, None) is one
    if kind in FUNCTIONS or kind.__name__ in NAMED_FUNCTIONS:
        return _is_known_function(one)
    if isinstance(one, np.generic | np.dtype):
        return _is_within(module, ("numpy",))
    if _is_within(module, OF_SCIKIT_LEARN):
        return _is_known_estimator(one, fits)
    if _is_within(module, (OWN,)):  # what can be fitted could be charged for
        return not isinstance(one, Sealed) and not (fits and hasattr(kind, "fit"))
    return _is_within(module, OF_OTHERS)


def _is_known_function(one: Any) -> bool:
    bound_to = getattr(one, "__self__", None)
    if isinstance(one, types.BuiltinFunctionType) and not (
        bound_to is None or isinstance(bound_to, types.ModuleType)
    ):
        return False
    if _is_of(one, ("numpy.random",)) or draws_at_random(one):
        return False
    written_in = getattr(one, "__globals__", {}).get("__name__", _module_of(one))
    return _is_of(one, LIBRARIES) and _is_within(written_in, LIBRARIES)


def _is_known_estimator(one: Any, fits: bool) -> bool:
    named = getattr(one, "__dict__", {})
    if named.get("verbose"):
        return False
    if not fits:
        return named.get("strategy") not in DRAWING_DUMMIES or "dummy" not in type(one).__module__
    seed = named.get("random_state", 0)
    return isinstance(seed, int | np.integer) and not isinstance(seed, bool)


def draws_at_random(function: Any) -> bool:
    """Say whether a function has a seed that was left open.

    Examples
    --------
    >>> from sklearn.feature_selection import f_regression, mutual_info_regression
    >>> draws_at_random(f_regression), draws_at_random(mutual_info_regression)
    (False, True)
    """
    try:
        seed = signature(function).parameters.get("random_state")
    except (TypeError, ValueError):
        return False
    return seed is not None and seed.default is None


def _module_of(kind: Any) -> str:
    module = getattr(kind, "__module__", None)
    return module if isinstance(module, str) else ""


def _is_of(one: Any, modules: tuple[str, ...]) -> bool:
    return _is_within(_module_of(one), modules)


def _is_within(module: str, modules: tuple[str, ...]) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in modules)
