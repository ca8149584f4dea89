"""Arguments as JSON: every set and loss of the library can be stored, and comes back."""

from __future__ import annotations

import json

import pytest

from discreet.artifact.codec import VALUES, decode, encode
from discreet.geometry import SETS
from discreet.losses import LOSSES
from support.examples import ALL_LOSSES, ALL_SETS


def test_every_listed_set_and_loss_may_be_stored():
    assert {*SETS, *LOSSES} <= set(VALUES.values())
    assert all(name == kind.__name__ for name, kind in VALUES.items())


@pytest.mark.parametrize("value", [*ALL_LOSSES, *ALL_SETS], ids=repr)
def test_what_is_stored_comes_back(value):
    assert decode(json.loads(json.dumps(encode(value)))) == value
