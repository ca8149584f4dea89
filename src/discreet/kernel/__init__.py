"""Private kernel models: released once, or asked through a live oracle."""

from discreet.kernel.bounded_update_oracle import BoundedUpdateOracle
from discreet.kernel.fourier_classifier import FourierClassifier
from discreet.kernel.fourier_regressor import FourierRegressor
from discreet.kernel.gaussian_process_oracle import GaussianProcessOracle
from discreet.kernel.landmark_classifier import LandmarkClassifier
from discreet.kernel.landmark_regressor import LandmarkRegressor
from discreet.kernel.non_interactive_kernel import NonInteractiveKernel
from discreet.kernel.stored_oracle import open_oracle

__all__ = [
    "BoundedUpdateOracle",
    "FourierClassifier",
    "FourierRegressor",
    "GaussianProcessOracle",
    "LandmarkClassifier",
    "LandmarkRegressor",
    "NonInteractiveKernel",
    "open_oracle",
]
