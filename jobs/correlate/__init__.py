"""`nws correlate`: how well metrics agree with human scores."""
