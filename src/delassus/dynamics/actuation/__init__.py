"""Forces of a model's actuators, and actuators made for a model."""
