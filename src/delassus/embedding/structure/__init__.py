"""What clusters are made of, and how kernels read it."""
