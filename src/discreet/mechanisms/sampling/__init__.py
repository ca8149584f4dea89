"""Exact draws of candidates and of coefficients."""
