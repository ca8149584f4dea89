"""Other libraries' names over this library's guarantees."""

__all__ = ["diffprivlib"]
