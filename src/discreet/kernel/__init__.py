"""Private kernel models that are released once, with the interface of scikit-learn."""

from discreet.kernel.fourier_classifier import FourierClassifier
from discreet.kernel.fourier_regressor import FourierRegressor

__all__ = ["FourierClassifier", "FourierRegressor"]
