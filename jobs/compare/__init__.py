"""`nws compare`: systems against each other at equal n."""
