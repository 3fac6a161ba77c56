"""Models: what they are made of, how they are built, read, written and packed for kernels."""
