"""Memory laid out by name: records, overlays, and the parts of a kernel's work memory."""

import numpy as np
import pytest

from delassus.compile import either, layout, overlay, slots
from delassus.compile.kernel import NO_MEMORY

PLACEMENT = slots(R=9, p=3)
LINK = slots(PLACEMENT, A=6, M=6, f=3)
EXTENTS = {"n_links": 4, "nv": 5}


def test_a_record_starts_with_the_slots_of_another():
    assert (LINK.R, LINK.p, LINK.A, LINK.f, LINK.size) == (0, 9, 12, 24, 27)
    assert LINK[:2] == PLACEMENT[:2]
    with pytest.raises(ValueError, match="two slots named 'p'"):
        slots(PLACEMENT, p=3)


def test_slots_laid_over_others_start_where_these_do():
    motion = overlay(LINK, "A M", omega=3, alpha=3, a=3)
    assert (motion.omega, motion.a, motion.size) == (LINK.A, LINK.A + 6, 9)
    inner = overlay(motion, "alpha a", x=6)  # an overlay of an overlay
    assert inner.x == motion.alpha


@pytest.mark.parametrize(
    ("over", "sizes", "complaint"),
    [
        ("A", {"omega": 3, "alpha": 4}, "omega, alpha take 7 numbers where A have 6"),
        ("R A", {"omega": 3}, "do not follow each other"),
        ("M A", {"omega": 3}, "do not follow each other"),
    ],
)
def test_slots_that_do_not_fit_over_others_are_refused(over, sizes, complaint):
    with pytest.raises(ValueError, match=complaint):
        overlay(LINK, over, **sizes)


def test_one_layout_tells_the_size_and_the_parts():
    memory = layout(links=("n_links", LINK), joints="nv", square=lambda n: n["nv"] ** 2, few=2)
    assert memory.size(EXTENTS) == 4 * 27 + 5 + 25 + 2
    assert memory.starts(EXTENTS) == [0, 108, 113, 138]
    parts = memory.divide(np.arange(140.0), EXTENTS)
    assert parts._fields == ("links", "joints", "square", "few")
    assert [x.size for x in parts] == [108, 5, 25, 2]
    assert parts.joints[0] == 108.0
    parts.joints[0] = -1.0  # parts are memory, not copies
    assert memory.divide(parts.links.base, EXTENTS).joints[0] == -1.0


def test_layouts_hold_others_flat_or_as_a_part():
    inner = layout(x="nv", y="nv")
    flat, nested = layout(inner, z="nv"), layout(inner=inner, x="nv")
    assert flat.names == ("x", "y", "z")
    parts = nested.divide(np.arange(15.0), EXTENTS)
    assert (parts.inner.y[0], parts.x[0]) == (5.0, 10.0)
    assert nested.count == 3
    with pytest.raises(ValueError, match="two parts of a name"):
        layout(inner, x="nv")


def test_layouts_that_take_turns_share_their_memory():
    memory = layout(either(layout(a="nv", b="nv"), layout(c="n_links")), d="nv")
    assert memory.size(EXTENTS) == 15  # the larger of 10 and 4, and 5
    parts = memory.divide(np.arange(15.0), EXTENTS)
    assert parts.c[0] == parts.a[0] == 0.0
    assert (parts.b[0], parts.d[0]) == (5.0, 10.0)


def test_a_kernel_may_have_no_memory():
    assert NO_MEMORY.size(EXTENTS) == 0
    assert NO_MEMORY.count == 0


def test_a_layout_tells_its_parts_in_the_order_of_their_starts():
    memory = layout(a="nv", inner=layout(b="nv", c="nv"), d="nv")
    assert memory.outline == (("a", None), ("inner", (("b", None), ("c", None))), ("d", None))
    assert memory.starts(EXTENTS) == [0, 5, 10, 15]
    assert memory.count == 4
