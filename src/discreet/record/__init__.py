"""What a release says of itself: the value, its guarantee, and the public facts behind it."""

from discreet.record.facts import (
    Certificate,
    Fact,
    Origin,
    Tolerance,
    all_versions,
    facts_about,
    labels_in_words,
    library_version,
    limits_fact,
    limits_in_words,
    number,
    one_of,
)
from discreet.record.release import Release

__all__ = [
    "Certificate",
    "Fact",
    "Origin",
    "Release",
    "Tolerance",
    "all_versions",
    "facts_about",
    "labels_in_words",
    "library_version",
    "limits_fact",
    "limits_in_words",
    "number",
    "one_of",
]
