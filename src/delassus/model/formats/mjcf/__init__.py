"""MJCF, read by MuJoCo's own compiler."""
