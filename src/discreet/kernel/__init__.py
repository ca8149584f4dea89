"""Private kernel models that are released once, with the interface of scikit-learn."""

from discreet.kernel.fourier_classifier import FourierClassifier
from discreet.kernel.fourier_regressor import FourierRegressor
from discreet.kernel.landmark_classifier import LandmarkClassifier
from discreet.kernel.landmark_regressor import LandmarkRegressor

__all__ = ["FourierClassifier", "FourierRegressor", "LandmarkClassifier", "LandmarkRegressor"]
