"""A proposed sensitivity of a median, and data that just pass its test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.audit.cases.votes import PROPOSED, proposed_pair
from discreet.mechanisms import ProposeTestRelease
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from support.cases.base import Case, Data, hostile_row


@dataclass(frozen=True)
class ProposalCase(Case):
    """A median, if it is stable."""

    def silent_answer(self, plan, data):
        """Without noise and without a test."""
        return np.array([1.0, np.sort(data.X[:, 0])[(len(data.X) - 1) // 2]])


def _cases():
    for unit in (AddRemoveOne(), ReplaceOne()):
        pair = proposed_pair(unit, 28)
        yield ProposalCase(f"propose, test, release, {unit.name}", ProposeTestRelease(), PROPOSED,
                           unit, Budget(1.0, 1e-6), (Data(pair.first), Data(pair.second)),
                           hostile_row(1))  # fmt: skip


CASES = tuple(_cases())
