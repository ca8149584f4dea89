"""Minimisers within a public radius, the random terms added to them, and the mask."""
