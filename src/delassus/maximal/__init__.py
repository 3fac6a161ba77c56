"""Rigid bodies in maximal coordinates: joints, limits and contacts as rows, one step's problem."""
