"""How much of a summary says a word again: what a policy does that is rewarded for keywords."""

from core.text.words import word_spans


def repeated_word_share(text: str) -> float:
    """Share of the words of `text` that occurred earlier in it, from 0 to below 1; 0 for fewer than two words.

    Words are those of `core.text.words` with the punctuation that touches them, compared case-folded: "The" repeats
    "the", and "cat," does not repeat "cat". Stop words count as all others do: compare at equal n, with a text
    known to be good beside it.
    """
    words = [text[start:end].casefold() for start, end in word_spans(text)]
    return 1 - len(set(words)) / len(words) if words else 0.0
