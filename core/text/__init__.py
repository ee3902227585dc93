"""Articles and their texts: reading files, language, words, sentences and chunks."""
