"""Votes of blocks of rows: the choice of most of them, and columns by their votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.audit.cases.votes import vote_on_sign
from discreet.mechanisms import Peeling, StabilityRelease
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import ColumnVotes
from support.cases.base import Case, Data, hostile_row


@dataclass(frozen=True)
class VoteCase(Case):
    """All blocks of the second data set but one choose the second column."""

    def silent_answer(self, plan, data):
        return np.array([1.0]) if isinstance(self.question, ColumnVotes) else np.array([1.0, 1.0])


def _cases():
    rows = np.ones((90, 2))
    turning = np.array([[-1.0, -1.0]])
    for unit in (AddRemoveOne(), ReplaceOne()):
        kept = np.vstack([rows, [[1.0, 1.0]]]) if unit.count_is_public else rows
        pair = Data(kept), Data(np.vstack([rows, turning]))
        vote = vote_on_sign(9)
        yield VoteCase(f"stability release, votes, {unit.name}", StabilityRelease(), vote, unit,
                       Budget(1.0, 1e-6), pair, hostile_row(2))  # fmt: skip
        yield VoteCase(f"peeling, votes, {unit.name}", Peeling(), ColumnVotes(vote, 1), unit,
                       Budget(1.0), pair, hostile_row(2))  # fmt: skip


CASES = tuple(_cases())
