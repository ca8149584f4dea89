"""Private linear models with the interface of scikit-learn."""

from discreet.linear_model.elastic_net import ElasticNet
from discreet.linear_model.frank_wolfe_classifier import FrankWolfeClassifier
from discreet.linear_model.frank_wolfe_lasso import FrankWolfeLasso
from discreet.linear_model.hard_thresholding import HardThresholding
from discreet.linear_model.hard_thresholding_classifier import HardThresholdingClassifier
from discreet.linear_model.huber_regressor import HuberRegressor
from discreet.linear_model.lasso import Lasso
from discreet.linear_model.linear_classifier import LinearClassifier
from discreet.linear_model.linear_regressor import LinearRegressor
from discreet.linear_model.logistic_regression import LogisticRegression
from discreet.linear_model.low_rank_regressor import LowRankRegressor
from discreet.linear_model.poisson_regressor import PoissonRegressor
from discreet.linear_model.quantile_regressor import QuantileRegressor
from discreet.linear_model.ridge import Ridge
from discreet.linear_model.simplex_regression import SimplexRegression
from discreet.linear_model.sparse_classifier import SparseClassifier
from discreet.linear_model.sparse_regressor import SparseRegressor

__all__ = [
    "ElasticNet",
    "FrankWolfeClassifier",
    "FrankWolfeLasso",
    "HardThresholding",
    "HardThresholdingClassifier",
    "HuberRegressor",
    "Lasso",
    "LinearClassifier",
    "LinearRegressor",
    "LogisticRegression",
    "LowRankRegressor",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "SimplexRegression",
    "SparseClassifier",
    "SparseRegressor",
]
