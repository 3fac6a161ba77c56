"""What a simulator is given: controls, wrenches, states to start from."""
