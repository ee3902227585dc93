"""The API of `import nws`: the jobs, the store and the metrics, from Python objects to pandas frames."""
