"""Which of several experts to follow, as their losses arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from discreet.estimators.features import FeatureMap, PlainFeatures
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import interval_of
from discreet.geometry import Box, ConvexSet
from discreet.mechanisms import Experts as ExpertMechanism
from discreet.online.live_estimator import LiveEstimator
from discreet.online.record_reading import RecordReader, list_once
from discreet.policy.choosing_online import count_usual_batch
from discreet.policy.task import Asked
from discreet.questions import Bounds, ExpertStream
from discreet.record import Fact, Origin, one_of


@with_fields
class Experts(LiveEstimator):
    r"""Prediction with expert advice, differentially private.

    A record is the loss of every expert in one round. Whoever had small losses so far is likely to
    be followed next: an expert is drawn by the exact exponential mechanism, and only who was drawn
    is released. Regret grows with the logarithm of the number of experts.

    Parameters
    ----------
    experts
        The names of the experts, in the order of the columns of losses.
    loss_range
        The least and the largest loss; others are clipped.
    batch
        After how many records an expert is drawn anew. None for about a thousand draws.

    Attributes
    ----------
    expert_
        The name of the expert to follow now.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The last answer as a release, the place of the expert counted from zero, and the guarantee
        of everything that is ever answered.

    References
    ----------
    Freund & Schapire (1997); Jain & Thakurta (2014); Dong, Durfee & Rogers (2020).

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.random.default_rng(0).random((20_000, 3)) * [1.0, 0.5, 1.0]
    >>> model = Experts(delta=1e-6, horizon=20_000, experts=["a", "b", "c"], loss_range=(0, 1))
    >>> model.partial_fit(losses).expert_, model.n_seen
    ('b', 20000)
    """

    must_declare: ClassVar[Declarations] = (
        *LiveEstimator.must_declare,
        ("experts",),
        ("loss_range",),
    )
    learns = frozenset(["expert_"])
    _has_labels = False

    expert_: Any = field(init=False)

    experts: Any = None
    loss_range: tuple[float, float] | None = None

    def _check(self) -> None:
        super()._check()
        list_once(experts=self.experts)
        interval_of(loss_range=self.loss_range)

    def row_region(self, width: int) -> ConvexSet:
        losses = interval_of(loss_range=self.loss_range)
        return Box([losses.low] * width, [losses.high] * width)

    def feature_map(self) -> FeatureMap:
        return PlainFeatures(self.row_region(len(list_once(experts=self.experts))))

    def _ask(self, fit: Fit) -> Asked:
        shape = fit.shape
        bounds = Bounds(fit.features.region, shape.n_features, max_rows=shape.max_rows)
        batch = self.batch or count_usual_batch(shape.max_rows)
        names = one_of([str(name) for name in self.experts])
        facts = (Fact("experts", names, Origin.DECLARED),)
        return Asked(ExpertStream(bounds, shape.max_rows, batch), ExpertMechanism(), facts)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        self.expert_ = list_once(experts=self.experts)[int(self.release_.value)]

    def _make_reader(self) -> RecordReader:
        return RecordReader(list_once(experts=self.experts), None, None, {}, absent=np.nan)

    def learn_one(self, losses: Mapping[Any, Any]) -> None:
        """Learn from one record: the loss of each expert, by name.

        A record that has not all of them, as numbers, counts as the fixed one.

        Parameters
        ----------
        losses
            Losses by the names of experts.
        """
        self._learn_record(losses)
