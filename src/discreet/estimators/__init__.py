"""What estimators of every kind share: from constructor arguments to a release."""
