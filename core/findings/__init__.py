"""What a run found: numbers and decisions, without texts, articles, NumPy or sentences. `document.py` has all of it."""
