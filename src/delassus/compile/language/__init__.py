"""What kernels are written in: `function`, scalar operations, named memory, declared arguments."""
