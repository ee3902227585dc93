"""Systems: what writes a summary of n words for an article."""
