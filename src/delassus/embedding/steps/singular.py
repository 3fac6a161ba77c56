"""States in which dependent joints do not follow from independent ones: NaN comes out of them."""

import math

NAN = math.nan
# A pivot below this part of its column's length is that of a singular state.
SINGULAR = 1e-12
