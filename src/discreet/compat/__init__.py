"""Other libraries' names over this library's guarantees."""
