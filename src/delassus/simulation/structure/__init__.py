"""Worlds and their states, as kernels read them."""
