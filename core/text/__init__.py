"""Articles and their texts: files, language, words, sentences and chunks."""
