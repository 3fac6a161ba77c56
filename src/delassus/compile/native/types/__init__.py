"""Types that are added to Numba: lanes, memory, records, and what Python hands over."""
