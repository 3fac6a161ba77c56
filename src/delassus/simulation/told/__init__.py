"""What a simulator tells: metrics of steps, failures, recordings."""
