"""`nws serve`: the runs of a store in a browser, read-only."""
