"""Recursions over links that carry constraints: the order of elimination, and sweeps in it."""
