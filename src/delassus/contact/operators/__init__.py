"""Delassus operators of contact problems, one file for each form of the dynamics."""
