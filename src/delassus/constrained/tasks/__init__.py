"""Uses of constraints: impacts, inverse dynamics, closing loops, inverse kinematics."""
