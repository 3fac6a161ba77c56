"""What collides: materials, shapes, pairs of shapes, and their contacts at given poses."""
