"""Continual release: charged once for all that is ever said, then fed records or queried.

``interaction.md`` says what is promised and what every interactive mechanism owes to it.
"""

from discreet.interaction.live import Interaction, refuse_empty_rounds
from discreet.interaction.oracle import Oracle
from discreet.interaction.taking_up import read_note, reopen, resume

__all__ = ["Interaction", "Oracle", "read_note", "refuse_empty_rounds", "reopen", "resume"]
