"""`nws score`: the metrics of a file of predictions."""
