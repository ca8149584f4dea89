"""What a private model will be worth, predicted before any data is read."""

from discreet.planning.least_needed import Answer
from discreet.planning.planner import Planner
from discreet.planning.prediction import Ceiling, Cell, Prediction
from discreet.planning.public_facts import PublicFacts
from discreet.planning.selection_forecast import (
    AverageForecast,
    PeelingForecast,
    VoteForecast,
    forecast_average,
    forecast_peeling,
    forecast_votes,
)

__all__ = [
    "Answer",
    "AverageForecast",
    "Ceiling",
    "Cell",
    "PeelingForecast",
    "Planner",
    "Prediction",
    "PublicFacts",
    "VoteForecast",
    "forecast_average",
    "forecast_peeling",
    "forecast_votes",
]
