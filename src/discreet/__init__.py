"""Differentially private convex learning."""
