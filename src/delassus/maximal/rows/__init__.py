"""Bodies and joints at a state, and the rows of joints, couplings, limits and contacts."""
