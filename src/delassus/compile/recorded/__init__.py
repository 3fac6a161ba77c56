"""A user's functions of joint coordinates, recorded as expressions and run as small programs.

Nothing here knows the compiler: a program is data that a kernel interprets.
"""
