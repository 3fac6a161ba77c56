"""A user's functions of joint coordinates, recorded as expressions and run as small programs.

Nothing here imports Numba: a program is data, which kernels interpret.
"""
