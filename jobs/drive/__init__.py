"""A run in work."""
