"""Solvers of the dual problem, one file each."""
