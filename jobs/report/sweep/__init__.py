"""The report of a sweep over n."""
