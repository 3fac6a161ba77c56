"""The sparse factorisation of the constrained equations of motion, and what is built on it."""
