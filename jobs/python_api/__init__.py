"""What `import nws` offers: the jobs, the store and the metrics, from Python objects to pandas frames."""
