"""What a run found, for people: tables, plots and files."""
