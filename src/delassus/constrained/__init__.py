"""Constraints: their rows, the proximal family of solvers, derivatives, loops that close."""
