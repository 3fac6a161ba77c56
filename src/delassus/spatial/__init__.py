"""Vectors, rotations, inertias and Lie groups: pure functions."""
