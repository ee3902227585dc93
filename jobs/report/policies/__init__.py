"""The report of trained policies."""
