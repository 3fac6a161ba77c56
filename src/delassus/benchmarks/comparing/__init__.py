"""What is compared: algorithms on trees, methods for constraints, robots and mechanisms."""
