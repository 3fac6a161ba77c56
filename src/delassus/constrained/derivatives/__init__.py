"""Derivatives of constrained dynamics."""
