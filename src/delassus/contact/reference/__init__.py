"""The solvers of seed 001 as printed, beside our own: for comparison with the paper only."""
