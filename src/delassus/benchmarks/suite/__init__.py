"""Samples of the thirteen systems of seed 001, solved by all solvers of contact."""
