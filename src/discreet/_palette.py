"""The colours of every picture and page."""

from __future__ import annotations

INK, GREY, PALE = "#22313a", "#6b7780", "#e4e8ea"

PRIVATE, PLAIN = "#0b7a75", "#b5482a"
"""What is private or left, and what is compared with it or spent."""

LINES = (PRIVATE, PLAIN, "#4a5fa5", "#a3781c", "#7a3b7a", "#3b7a46")
"""Several lines in one picture."""
