"""Constraint embedding: local loops as joints of several bodies, in independent coordinates."""
