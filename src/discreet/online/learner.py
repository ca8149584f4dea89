"""Linear models that learn from records as they arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from discreet import _checks
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.linear import LinearEstimator
from discreet.geometry import ConvexSet
from discreet.mechanisms import InteractiveMechanism
from discreet.online.live_estimator import LiveEstimator
from discreet.online.record_reading import RecordReader
from discreet.policy.choosing_online import MECHANISMS, StreamTask, choose_for_stream
from discreet.policy.task import Asked
from discreet.questions import Bounds, Labels, LabelSet


@with_fields
class OnlineLearner(LiveEstimator, LinearEstimator):
    """A linear model of a stream of records."""

    must_declare: ClassVar[Declarations] = (
        *LiveEstimator.must_declare,
        ("columns", "data_norm"),
    )
    max_weight: ClassVar[None] = None

    features: Any = None

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.mechanism, InteractiveMechanism):
            _checks.one_of(MECHANISMS, mechanism=self.mechanism)

    def feature_map(self) -> FeatureMap:
        if self.columns is None:
            return super().feature_map()
        return DeclaredFeatures(self.columns)

    def _usual_domain(self, bounds: Bounds) -> ConvexSet | None:
        """Return what coefficients are kept in if nothing is asked for; None for no constraint."""
        return None

    def _ask(self, fit: Fit) -> Asked:
        features, shape = fit.features, fit.shape
        bounds = Bounds(
            features=features.region,
            n_features=shape.n_features,
            labels=_state_labels(shape.labels),
            intercept=features.constant if self.fit_intercept else None,
            max_rows=shape.max_rows,
        )
        task = StreamTask(
            self.margin_loss(),
            bounds,
            shape.max_rows,
            self.batch,
            self._ridge(),
            self._usual_domain(bounds) if self.domain is None else self.domain,
            self.mechanism,
            fit.need_target().assumed,
        )
        return replace(choose_for_stream(task, fit.budget, fit.unit), facts=self._facts(fit))

    def _make_reader(self) -> RecordReader:
        return RecordReader.of(self)

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn from one record, a dict of features as in river; the first pays for the stream.

        Parameters
        ----------
        x
            Features by name: those of ``columns``, or of ``features``. Others are passed over.
        y
            The label.
        """
        self._learn_record(x, y)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn from a data frame of records, in their order, as in river.

        Parameters
        ----------
        X
            Rows.
        y
            A label for each.
        """
        self.partial_fit(X, y)

    def _margin_of(self, x: Mapping[Any, Any]) -> float:
        """Return the margin of one record; zero before anything was learnt."""
        row = self._records.read_plain(x)
        if "_interaction" not in self.__dict__ and "release_" not in self.__dict__:
            return self._target_origin()
        with np.errstate(all="ignore"):  # of records that are no numbers, nothing is said
            return float((row @ np.ravel(self.coef_) + np.ravel(self.intercept_))[0])


def _state_labels(labels: Labels | None) -> Labels | None:
    """Return the labels of a margin for two classes; numbers as they are."""
    return LabelSet([-1, 1]) if isinstance(labels, LabelSet) else labels
