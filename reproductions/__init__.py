"""Figures and theorems of the papers behind the library, drawn again with its mechanisms.

Run with ``make reproduce`` or ``python -m reproductions``. All data are made up or public, and all
noise is a rehearsal, so that every number repeats; nothing here is private, and nothing need be.
"""
