"""Steps of sweeps over clusters."""
