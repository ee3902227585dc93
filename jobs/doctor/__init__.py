"""`nws doctor`: what this machine can run."""
