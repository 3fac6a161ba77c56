"""What constraints are as rows: their wrenches, Jacobian, velocity, drift and error.

Also what a solver is asked and tells (`request`), and checks of arguments. No algorithm is known.
"""
