"""What a model is made of: joint types, bodies, frames and constraints as they are declared."""
