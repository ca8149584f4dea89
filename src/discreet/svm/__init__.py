"""Private support vector machines with the interface of scikit-learn."""

from discreet.svm.linear_svc import LinearSVC

__all__ = ["LinearSVC"]
