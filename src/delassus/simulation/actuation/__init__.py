"""Forces that act on a world besides contacts: actuators, wrenches; and what joints feel."""
