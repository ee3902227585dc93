"""How much of a text's keywords its key sentences hold."""

from collections.abc import Iterable, Set

from core.text.tokenizers import Tokenizer


def keyword_recall(keywords: Iterable[str], sentences: Iterable[str], tokenizer: Tokenizer) -> float:
    """ROUGE-1 recall of a set of keywords (the reference) over a set of key sentences (the candidate), in [0, 1].

    Each distinct token of the keywords counts once, so it is the share of them that occur in a sentence; 0 where there
    are no keywords. It needs no reference summary, and grows with the number of sentences: compare at equal numbers.
    """
    wanted = {token for keyword in keywords for token in tokenizer.tokenize(keyword)}
    present = {token for sentence in sentences for token in tokenizer.tokenize(sentence)}
    return share_found(wanted, present)


def share_found(wanted: Set[str], present: Set[str]) -> float:
    """The share of the wanted tokens that are present; 0 where none is wanted."""
    return len(wanted & present) / len(wanted) if wanted else 0.0
