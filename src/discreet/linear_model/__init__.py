"""Private linear models with the interface of scikit-learn."""

from discreet.linear_model.logistic_regression import LogisticRegression

__all__ = ["LogisticRegression"]
