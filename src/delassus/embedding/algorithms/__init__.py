"""Algorithms of models with clusters, one a file: kernels on the steps of `steps`."""
