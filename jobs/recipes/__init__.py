"""What a run is told."""
