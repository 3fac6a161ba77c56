"""Mechanisms that move, with contact: worlds, steps of time, the simulator."""
