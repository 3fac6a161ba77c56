"""Two boxes, a box and a cylinder, two cylinders: separating directions, then clipping.

See `directions` for how the normal is found, and `faces` for the points.
"""

from __future__ import annotations

from ...compile import function
from .directions import farthest_direction
from .faces import touch_along


@function
def solids(world, i, j, margin, work):
    """Points between boxes or cylinders i and j."""
    gap, d = farthest_direction(world, i, j, margin, work.placed)
    if not gap <= margin:
        return 0
    return touch_along(world, i, j, d, gap, margin, work)
