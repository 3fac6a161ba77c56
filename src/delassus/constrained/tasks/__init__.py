"""What people do with constraints: impacts, inverse dynamics, closing loops, inverse kinematics."""
