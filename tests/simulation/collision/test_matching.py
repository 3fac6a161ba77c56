"""Reactions go from step to step with the corners that they act at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delassus.simulation.collision.matching import match

pytestmark = pytest.mark.uncompiled


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_known_contacts_keep_a_part_of_their_reactions_and_new_ones_have_none(now, before):
    ids, old = np.array([*sorted(now), -1.0]), np.array([*sorted(before), -1.0])
    reactions, last = np.full(3 * len(ids), np.nan), np.arange(1.0, 1.0 + 3 * len(old))
    match(ids, len(now), old, len(before), last, 0.9, reactions)
    each = {k: last[3 * c : 3 * c + 3] for c, k in enumerate(sorted(before))}
    for c, k in enumerate(sorted(now)):
        expected = 0.9 * each[k] if k in each else np.zeros(3)
        np.testing.assert_allclose(reactions[3 * c : 3 * c + 3], expected)
    assert np.isnan(reactions[3 * len(now) :]).all()
