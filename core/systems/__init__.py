"""Systems, which write summaries of n words for articles."""
