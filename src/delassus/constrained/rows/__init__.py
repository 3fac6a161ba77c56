"""Rows of constraints: their wrenches, Jacobian, velocity, drift and error.

Also the inputs and outputs that solvers share (`request`), and checks of arguments. No solver.
"""
