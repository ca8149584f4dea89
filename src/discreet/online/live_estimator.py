"""An estimator that learns through one interaction, and follows its answers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from discreet import _checks
from discreet.data.given_column import family
from discreet.data.records import loosen_labels, loosen_rows
from discreet.data.stored import is_table
from discreet.errors import InputError, InteractionEnded, LargeDeltaWarning
from discreet.estimators.base import PrivateEstimator, silence
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit, Table, noise_from, refuse_undeclared
from discreet.estimators.targets import LabelTarget, LearningTarget
from discreet.gate import interact
from discreet.interaction import Interaction, refuse_empty_rounds
from discreet.ledger import AbstractLedger
from discreet.online.learner_note import describe_learner, refuse_unsaved
from discreet.online.record_reading import RecordReader
from discreet.policy.task import Asked, Shape
from discreet.preprocessing import Category
from discreet.privacy import Budget, Unit, unit_named
from discreet.privacy.large_delta import LARGE_DELTA, question_delta
from discreet.record import Fact, Origin, Release

OWN = frozenset(["_interaction", "_reader", "_asked", "_known"])
"""What a copy does not get: there is one learner."""

LOCK = "_lock"
"""Under which name a learner keeps what only one thread at a time may hold."""

COPIED = (
    "this is a copy, which predicts and does not learn; the learner itself goes on elsewhere. Hand "
    "it over with save and resume."
)


@with_fields
class LiveEstimator(PrivateEstimator):
    """Learns from records in their order, and can be asked at any time.

    What follows from the last answer is worked out when somebody asks for it. Copies and pickles
    have what is public, and do not learn.
    """

    must_declare: ClassVar[Declarations] = (("horizon",),)

    unit: str | Unit = "replace"
    max_rows: ClassVar[None] = None  # type: ignore[misc]
    horizon: int | None = None
    batch: int | None = None

    _interaction: Interaction = field(init=False)
    _asked: Asked = field(init=False)
    _known: int = field(init=False)  # how many answers there were when this one was kept

    def _check(self) -> None:
        _checks.whole(horizon=self.horizon, at_least=1)
        if self.batch is not None:
            _checks.whole(batch=self.batch, at_least=1)

    @property
    def _follows(self) -> frozenset[str]:
        """The attributes that follow from an answer."""
        return self.learns | {"release_", "privacy_"}

    @silence
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        purpose: str = "",
    ) -> Self:
        """Begin anew, pay again, and learn from rows in their order.

        Parameters
        ----------
        X, y
            As for :meth:`partial_fit`.
        sample_weight
            None: every record counts once.
        target, purpose
            As for :meth:`partial_fit`.
        """
        if sample_weight is not None:
            raise InputError(
                f"{type(self).__name__} counts every record once: its proof knows no weights. "
                "Leave sample_weight out."
            )
        return self._fit(X, y, None, target, purpose)

    def _learn(self, X: Any, y: Any, weights: Any, target: Any, purpose: str) -> None:
        for name in (*self._follows, *OWN, "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._learn_more(X, y, target, purpose)

    @silence
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        *,
        target: str | None = None,
        purpose: str = "",
    ) -> Self:
        """Learn from more rows, in their order; the first call pays for the whole stream.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, a data frame, an Arrow table, or the path of
            Parquet files, which are read in their order, a few rows at a time.
        y
            One label for each row; left out if labels are a column of files.
        classes
            As in scikit-learn; they must be those that were declared.
        target
            The column of files that holds the labels.
        purpose
            What the ledger writes beside the charge, in the first call.
        """
        if classes is not None:
            self._check_classes(classes)
        self._refuse_copies()
        self._learn_more(X, y, target, purpose)
        return self

    def _check_classes(self, classes: Any) -> None:
        """Refuse classes that are not those declared."""
        raise InputError("only classifiers have classes; leave classes out.")

    def _refuse_copies(self) -> None:
        if "_interaction" not in self.__dict__ and "release_" in self.__dict__:
            raise InteractionEnded(COPIED)

    def _learn_more(self, X: Any, y: Any, target: Any, purpose: str) -> None:
        """Check, accept, begin if nothing has begun, and feed."""
        self._check_all(purpose)
        features = self.checked_map()
        X = self._as_table(X)
        if family(X) == "dask":
            raise InputError(
                "rows of Dask stay with their workers, in no order; a stream has one. Pass files "
                "or arrays."
            )
        with self._one_at_a_time():
            before = self.known_columns()
            try:
                table = self._take(features, X, y, target)
                if before and self.known_columns() != before:
                    raise InputError(
                        "these rows have other columns than those before; a stream keeps its "
                        "columns."
                    )
                if "_interaction" not in self.__dict__:
                    self._begin(features, table.rows.width, table.target, purpose)
            except BaseException:
                self.know_columns(before)
                raise
        self._feed(table.rows, None)

    def _one_at_a_time(self) -> Any:
        """Return what is held while columns become known and a stream begins, which is once."""
        return self.__dict__.setdefault(LOCK, threading.RLock())

    def _take(self, features: FeatureMap, X: Any, y: Any, target: Any) -> Table:
        """Accept or open a table; no cell is read."""
        if is_table(X):
            return self._open(features, X, y, None, target)
        if target is not None:
            raise InputError("target names a column of stored tables; pass y with arrays.")
        X = loosen_rows(X, partial(_labels_declared, features))
        labels = self.learning_target()
        if isinstance(labels, LabelTarget):
            y = loosen_labels(y, labels.check)
        return self._accept(features, X, y, None)

    def _check_all(self, purpose: str = "") -> None:
        """Refuse parameters that are wrong whatever the records."""
        _checks.instance(str, purpose=purpose)
        refuse_undeclared(self)
        self._check()

    def known_columns(self) -> dict[str, Any]:
        """Return what is kept of columns: how many, and their names if they have any."""
        count, names = (self.__dict__.get(name) for name in ("n_features_in_", "feature_names_in_"))
        known = {} if count is None else {"n_features_in_": count}
        return known if names is None else known | {"feature_names_in_": list(names)}

    def know_columns(self, known: Mapping[str, Any]) -> None:
        """Keep what is known of columns, and nothing else."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        for name, value in known.items():
            is_list = isinstance(value, list)
            setattr(self, name, np.array(value, dtype=object) if is_list else value)

    def _begin(
        self, features: FeatureMap, width: int, target: LearningTarget | None, purpose: str
    ) -> None:
        """Plan, pay for all that will ever be said, and begin."""
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        horizon = int(self.horizon)  # type: ignore[arg-type]  # it was checked
        labels = None if target is None else target.labels
        asked = self._ask(Fit(features, target, Shape(width, horizon, labels), budget, unit))
        arriving = f"at most {horizon:,}, in the order in which they arrive"
        self._doubt_delta(budget, horizon)
        if isinstance(self.ledger, AbstractLedger) and self.ledger.is_durable:
            refuse_unsaved(self)
        interaction = interact(
            asked.mechanism,  # type: ignore[arg-type]
            asked.question,  # type: ignore[arg-type]
            budget=budget,
            unit=unit,
            ledger=self.ledger,
            noise=noise_from(self.rehearsal),
            purpose=purpose or f"online.{type(self).__name__}",
            facts=(*asked.facts, Fact("records", arriving, Origin.DECLARED)),
            reasons=asked.reasons,
        )
        self.take_up(interaction)
        if self.verbose > 0:
            print(interaction.guarantee.sentence())

    def take_up(self, interaction: Interaction) -> None:
        """Learn through an interaction from now on."""
        declared = interaction.declared
        self._interaction = interaction
        self._asked = Asked(declared.question, declared.mechanism)

    def _doubt_delta(self, budget: Budget, horizon: int) -> None:
        """Warn of a delta above one over the number of records."""
        if not budget.is_private or self.rehearsal is not None or budget.delta > LARGE_DELTA:
            return
        doubt = question_delta(budget.delta, float(horizon))
        if doubt:
            warnings.warn(doubt, LargeDeltaWarning, stacklevel=6)

    def _feed(self, X: Any, y: Any) -> None:
        """Give records to the interaction; what followed from the last answer is void."""
        try:
            self._interaction.learn(X, y)
        finally:
            self._forget_answer()

    def _forget_answer(self) -> None:
        """Let go of what followed from the last answer, unless it is still the last."""
        if self.__dict__.get("_known") == self._interaction.n_due:
            return
        for name in (*self._follows, "_known"):
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name in self._follows and "_interaction" in self.__dict__:
            known = self._interaction.n_answers  # before the answer, which may be a later one
            self._refresh(self._interaction.look())
            self._known = known
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _refresh(self, release: Release) -> None:
        """Keep what follows from an answer."""
        self.release_, self.privacy_ = release, release.guarantee
        bounds = self._asked.question.bounds
        self._keep(self._asked, self.fit_of(bounds.n_features, bounds.max_rows))

    @property
    def n_seen(self) -> int:
        """How many rounds have passed, with a record or without, which is public."""
        return self._interaction.n_seen if "_interaction" in self.__dict__ else 0

    @property
    def is_over(self) -> bool:
        """Whether it learns no more: there were as many records as declared, or it was ended."""
        return "_interaction" in self.__dict__ and self._interaction.is_over

    def freeze(self) -> Release:
        """End the learning, and return the last answer as an ordinary release.

        The model goes on predicting; it can be stored, and has a card, like any other.
        """
        self._refresh(self._live().freeze())
        return self.release_

    def save(self, path: str | Path) -> None:
        """Hand the learner over to a file, for its owner alone; it can be resumed once.

        This object predicts from then on, and does not learn. The file holds what noise hides: it
        must not be copied, mailed or backed up. The ledger must outlive this process.

        Parameters
        ----------
        path
            Where; there must be no file of that name.
        """
        live = self._live()
        self._refresh(live.look())
        live.save(path, note=describe_learner(self, self.known_columns()))

    def _live(self) -> Interaction:
        self._refuse_copies()
        if "_interaction" not in self.__dict__:
            raise InputError("nothing has been learnt yet; pass records first.")
        return self._interaction

    def _make_reader(self) -> RecordReader:
        """Return what makes rows of single records."""
        raise InputError(f"{type(self).__name__} takes no single records.")

    @property
    def _records(self) -> RecordReader:
        """What makes rows of single records, in the declared order of features."""
        if "_reader" not in self.__dict__:
            self._check_all()
            self._reader = self._make_reader()
        return self._reader

    @silence
    def _learn_record(self, x: Mapping[Any, Any], y: Any = None) -> None:
        """Learn from one record; the first pays for the stream."""
        self._refuse_copies()
        reader = self._records
        row, label = reader.read(x), reader.read_label(y)
        if "_interaction" not in self.__dict__:
            self._begin_with(reader, "")
        self._feed(row, label)

    def _begin_with(self, reader: RecordReader, purpose: str) -> None:
        """Begin with the columns that single records have, unless another thread just did."""
        with self._one_at_a_time():
            if "_interaction" not in self.__dict__:
                self.know_columns(reader.known)
                self._begin(self.checked_map(), reader.width, self.learning_target(), purpose)

    @silence
    def skip(self, *, purpose: str = "") -> None:
        """Let a round pass without a record, in the place of one that is missing.

        Only with ``unit="zero_out"``: afterwards nothing tells whether there was a record in that
        round. It counts as one, and the first round pays for the stream even if it is empty.

        Parameters
        ----------
        purpose
            What the ledger writes beside the charge, if this is the first round.
        """
        _checks.instance(str, purpose=purpose)
        self._refuse_copies()
        if "_interaction" not in self.__dict__:
            refuse_empty_rounds(unit_named(self.unit))
            self._begin_with(self._records, purpose)
        try:
            self._interaction.skip()
        finally:
            self._forget_answer()

    def __getstate__(self) -> dict[str, Any]:
        self._complete()
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in {*OWN, LOCK}}

    def __copy__(self) -> Self:
        self._complete()
        again = type(self).__new__(type(self))
        public = {name: value for name, value in self.__dict__.items() if name not in {*OWN, LOCK}}
        again.__dict__.update(public)
        return again

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        again = memo[id(self)] = self.__copy__()
        again.__dict__.update(deepcopy(again.__dict__, memo))
        return again

    def _complete(self) -> None:
        """Work out what follows from the last answer, if something was learnt."""
        if "_interaction" in self.__dict__ and "release_" not in self.__dict__:
            self._refresh(self._interaction.look())


def _labels_declared(features: FeatureMap, name: Any, place: int) -> tuple[Any, ...] | None:
    """Return the levels that are declared of a column of a block; None for numbers."""
    if not isinstance(features, DeclaredFeatures):
        return None
    declared, column = features.declared, None
    if isinstance(declared, dict):
        column = declared.get(name)
    elif place < len(declared):
        column = declared[place]
    return column.levels if isinstance(column, Category) else None
