"""Nothing depends on where rows are, nor on how they are cut."""

from __future__ import annotations

import pytest

from support.engines import compare


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
@pytest.mark.parametrize("seed", range(30))
def test_another_engine_gives_the_same_model(tmp_path, seed):
    found = compare(seed, tmp_path)
    assert found.is_same_guarantee, found
    assert found.apart <= found.bound, found
