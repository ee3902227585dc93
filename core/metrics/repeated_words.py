"""The share of repeated words in a summary. A policy that is rewarded for keywords tends to repeat them."""

import re

from core.text.words import word_spans

_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


def repeated_word_share(text: str) -> float:
    """Share of the words of `text` that occurred earlier in it, from 0 to below 1; 0 for fewer than two words.

    Words are those of `core.text.words`, compared case-folded and without the punctuation around them: "The" repeats
    "the", and "cat," repeats "cat". Stop words count like all others, so compare at equal n, and with a text that is
    known to be good.
    """
    words = [_AROUND.sub("", text[start:end]).casefold() for start, end in word_spans(text)]
    return 1 - len(set(words)) / len(words) if words else 0.0
