"""What a run found: numbers and decisions, without texts, articles, NumPy or sentences. `ReportDocument` has it all."""
