"""Steps that sweeps over links share: placements, motions, inertias, articulated inertias."""
