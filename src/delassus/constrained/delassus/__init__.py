"""The Delassus matrix J M^-1 J^T and its damped inverse, by several algorithms, and as an operator.

The matrix is the inverse of the operational-space inertia matrix (OSIM) of the constraints' rows.
"""
