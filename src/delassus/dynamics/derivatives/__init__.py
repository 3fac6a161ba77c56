"""Derivatives of the algorithms on trees, and products with them."""
