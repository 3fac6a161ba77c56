"""The algorithms on trees, one file each."""
