"""Cones of reactions, one contact by itself, residuals, and what solvers are asked for."""
