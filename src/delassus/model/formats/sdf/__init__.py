"""SDF, whose joints may close loops."""
