"""Arguments as JSON: every set, kernel and loss of the library can be stored, and comes back."""

from __future__ import annotations

import json

import pytest

from discreet.artifact.codec import VALUES, decode, encode
from discreet.geometry import SETS
from discreet.kernels import KERNELS
from discreet.losses import LOSSES
from support.examples import ALL_KERNELS, ALL_LOSSES, ALL_SETS


def test_every_listed_set_kernel_and_loss_may_be_stored():
    assert {*SETS, *KERNELS, *LOSSES} <= set(VALUES.values())
    assert all(name == kind.__name__ for name, kind in VALUES.items())


STORED_KERNELS = [kernel for kernel in ALL_KERNELS if "CallableKernel" not in repr(kernel)]


@pytest.mark.parametrize("value", [*ALL_LOSSES, *ALL_SETS, *STORED_KERNELS], ids=repr)
def test_what_is_stored_comes_back(value):
    assert decode(json.loads(json.dumps(encode(value)))) == value
