"""What kernels are written with: marks, scalar operations, named memory, declared arguments."""
