"""Attacks on every guarantee of the library, and on mechanisms broken on purpose."""
