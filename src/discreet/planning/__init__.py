"""What a private model will be worth, predicted before any data is read."""

from discreet.planning.least_needed import Answer
from discreet.planning.planner import Planner
from discreet.planning.prediction import Ceiling, Cell, Prediction
from discreet.planning.public_facts import PublicFacts

__all__ = ["Answer", "Ceiling", "Cell", "Planner", "Prediction", "PublicFacts"]
