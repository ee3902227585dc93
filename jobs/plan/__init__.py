"""From a recipe to pinned work: what runs, on which articles, with which models."""
