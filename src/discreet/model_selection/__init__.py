"""Private hyperparameter search and model selection; sample and aggregate; splits by record."""

from discreet.model_selection.private_randomized_search import PrivateRandomizedSearch
from discreet.model_selection.private_search_cv import PrivateSearchCV
from discreet.model_selection.sample_and_aggregate import SampleAndAggregate
from discreet.model_selection.splitting import split_rows
from discreet.model_selection.stable_selector import StableSelector

__all__ = [
    "PrivateRandomizedSearch",
    "PrivateSearchCV",
    "SampleAndAggregate",
    "StableSelector",
    "split_rows",
]
