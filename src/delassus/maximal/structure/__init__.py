"""What a system of bodies is made of, and the arrays that kernels read of it."""
