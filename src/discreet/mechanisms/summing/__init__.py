"""Sums over rows that are exact, whatever their order."""
