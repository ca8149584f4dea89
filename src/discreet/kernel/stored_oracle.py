"""Oracles that were stored, taken up again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet import _json
from discreet.errors import InputError
from discreet.gate import reopen
from discreet.kernel.bounded_update_oracle import BoundedUpdateOracle
from discreet.kernel.gaussian_process_oracle import GaussianProcessOracle
from discreet.kernel.oracle_estimator import CODEC, OracleEstimator
from discreet.ledger import AbstractLedger

KINDS: dict[str, type[OracleEstimator]] = {
    kind.__name__: kind for kind in (BoundedUpdateOracle, GaussianProcessOracle)
}

FIELDS = {"oracle", "parameters", "columns", "names"}

NO_MODEL = "this store holds an oracle and no estimator; take it up with discreet.gate.reopen."


def open_oracle(store: str | Path, ledger: AbstractLedger | None = None) -> Any:
    """Resume an oracle from its store; nothing is charged, and several processes may.

    Parameters
    ----------
    store
        Where the fit put it: the path of an SQLite file, or the address of a PostgreSQL data base.
    ledger
        The ledger that paid for it, which knows how many answers it has given; None if no ledger
        did that outlives its process.

    Returns
    -------
    GaussianProcessOracle or BoundedUpdateOracle
        What goes on where others stopped, or beside them.

    Raises
    ------
    StoreError
        There is no oracle, it was changed or cut off, or an older copy was put in its place.
    PrivacyError
        Another ledger paid for it, or one that was not given; others may read the file; or this
        version plans otherwise.
    InputError
        The oracle was not stored by an estimator.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from discreet.kernel import GaussianProcessOracle
    >>> X = np.linspace(-1, 1, 400)[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = GaussianProcessOracle(
    ...         1.0, 1e-6, data_norm=1.0, classes=[False, True], store=f"{folder}/a.oracle"
    ...     ).fit(X, X[:, 0] > 0)
    ...     told = model.ask([[0.5]])
    ...     again = open_oracle(f"{folder}/a.oracle")
    ...     bool(again.ask([[0.5]]) == told), again.n_answers_
    (True, 1)
    """
    oracle = reopen(store, ledger=ledger)
    if not oracle.note:
        raise InputError(NO_MODEL)
    note = _json.parse(oracle.note, "a stored oracle")
    _json.check_fields(note, FIELDS, "a stored oracle")
    if note["oracle"] not in KINDS:
        raise InputError(NO_MODEL)
    parameters = CODEC.decode(note["parameters"])
    try:
        model = KINDS[note["oracle"]](**parameters, store=store, ledger=ledger)
    except TypeError:
        raise InputError("this oracle was stored by another version of the library.") from None
    model.n_features_in_ = int(note["columns"])
    if note["names"] is not None:
        model.feature_names_in_ = np.array(note["names"], dtype=object)
    model.take_up(oracle)
    return model
