"""URDF, and its extension URDF+ for mechanisms with loops."""
