"""The metrics: content kept, BERTScore, ROUGE, BLEU, METEOR and others, each in a file of its own."""
