"""What people ask of summaries: scores of predictions, comparisons, correlations with people, and key sentences."""
