"""Constrained dynamics: one file a method, and the function that chooses among them."""
