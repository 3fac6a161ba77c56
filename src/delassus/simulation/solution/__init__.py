"""The problem of one step over bodies: its matrices, its cone rows, and its solution."""
