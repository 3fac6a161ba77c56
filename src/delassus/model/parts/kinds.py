"""Kinds of joints as kernels know them. A joint moves along and about its own link's axes."""

REVOLUTE = 0  # about z
PRISMATIC = 1  # along z
HELICAL = 2  # about z, and along it by the pitch a radian
SPHERICAL = 3  # about x, y, z
PLANAR = 4  # along x and y, about z
TRANSLATION = 5  # along x, y, z
FREE = 6  # along x, y, z, about x, y, z
