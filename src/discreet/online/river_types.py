"""River's types, where river is installed, so that its pipelines, metrics and checks know learners.

Learners have river's methods anyhow. Without river they are classes that say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    class RiverClassifier:
        """What river calls a classifier."""

    class RiverRegressor:
        """What river calls a regressor."""

else:
    try:
        from river.base import Classifier as RiverClassifier
        from river.base import Regressor as RiverRegressor
    except ImportError:

        class RiverClassifier:
            """What river would call a classifier."""

        class RiverRegressor:
            """What river would call a regressor."""
