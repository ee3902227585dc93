"""What `nws watch` shows of a run in work."""
