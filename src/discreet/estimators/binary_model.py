"""Classifiers whose proof is for two classes: what they refuse, and what they say of themselves."""

from __future__ import annotations

from typing import Any, ClassVar

from discreet.data.given_column import GivenColumn
from discreet.errors import InputError
from discreet.estimators.classifier import LinearClassifierBase, ProbabilisticClassifier
from discreet.estimators.fields import with_fields
from discreet.estimators.targets import ClassTarget, LearningTarget
from discreet.estimators.task import Asked
from discreet.losses import Logistic, Loss


@with_fields
class TwoClassModel(ProbabilisticClassifier):
    """A logistic model of two classes whose objective is known before any noise is drawn."""

    C: ClassVar[None] = None  # type: ignore[misc]

    def margin_loss(self) -> Loss:
        return Logistic()

    @property
    def settings_(self) -> None:
        """None: nothing of the objective waits for noisy sums."""
        return

    def _target(self, y: GivenColumn | None) -> ClassTarget:
        target = super()._target(y)
        if target.classes.size > 2:  # in the words of scikit-learn
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. "
                f"Use SparseClassifier in place of {type(self).__name__}."
            )
        return target

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        LinearClassifierBase._keep(self, asked, target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
