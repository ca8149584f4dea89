"""The privacy card of a release: for machines as JSON, for people as Markdown and HTML."""

from discreet.report.privacy_card import Card, card
from discreet.report.theorem import Theorem, theorem_of
from discreet.report.tradeoff import Tradeoff, tradeoff_of

__all__ = ["Card", "Theorem", "Tradeoff", "card", "theorem_of", "tradeoff_of"]
