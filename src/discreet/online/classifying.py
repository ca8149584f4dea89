"""Online learners of two classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.errors import InputError
from discreet.estimators.classifier import LinearClassifierBase
from discreet.estimators.fields import Declarations
from discreet.estimators.targets import list_classes
from discreet.online.learner import OnlineLearner


class OnlineClassifier(OnlineLearner, LinearClassifierBase):  # type: ignore[misc]
    """Two classes, told apart by the sign of a margin; declared, since no record may decide."""

    must_declare: ClassVar[Declarations] = (*OnlineLearner.must_declare, ("classes",))

    def _check(self) -> None:
        super()._check()
        count = list_classes(self.classes).size
        if count != 2:
            raise InputError(
                f"online learners tell two classes apart; got {count}. Use LinearClassifier on a "
                "table, or one-vs-rest learners, each with its share of "
                "epsilon."
            )

    def _check_classes(self, classes: Any) -> None:
        if self.classes is None or set(list_classes(classes).tolist()) != set(self._two_classes()):
            raise InputError(
                "the classes of a stream are declared with the learner; leave classes out here, or "
                "name the same."
            )

    def _two_classes(self) -> list[Any]:
        return list(list_classes(self.classes).tolist())

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Return the likelier class of one record; the first before anything was learnt.

        Parameters
        ----------
        x
            Features by name.
        """
        return self._records.classes[int(self._margin_of(x) > 0)]
