"""Pinocchio beside this library: robots, states and constraints as it describes them."""
