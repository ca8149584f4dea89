"""Choices among models, made without leaking through the choice."""

from discreet.model_selection.stable_selector import StableSelector

__all__ = ["StableSelector"]
