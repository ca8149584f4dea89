"""What a private model will be worth, predicted before any data is read."""

from discreet.planning.facts import PublicFacts
from discreet.planning.planner import Planner
from discreet.planning.prediction import Ceiling, Cell, Prediction
from discreet.planning.search import Answer

__all__ = ["Answer", "Ceiling", "Cell", "Planner", "Prediction", "PublicFacts"]
