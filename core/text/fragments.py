"""Extractive fragments: the runs of words that a summary shares with its article.

The greedy algorithm, coverage and density are those of Grusky, Naaman and Artzi 2018, "Newsroom: A Dataset of 1.3
Million Summaries with Diverse Extractive Strategies", section 4 (fragments: figure 3).
"""

from collections import defaultdict
from collections.abc import Sequence


def fragment_lengths(article: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Return the lengths, in words, of the fragments of `summary` that `article` has, too, from left to right.

    At each word of the summary, the longest run that the article has, too, is a fragment, and the next one begins after
    it. As in the paper, a matched run of the article is not searched again for a longer match inside it.
    """
    places = defaultdict[str, list[int]](list)
    for place, word in enumerate(article):
        places[word].append(place)
    lengths, start = list[int](), 0
    while start < len(summary):
        longest = searched = 0
        for place in places.get(summary[start], ()):
            if place < searched:
                continue
            length = 1
            while summary[start + length : start + length + 1] == article[place + length : place + length + 1] != []:
                length += 1
            longest, searched = max(longest, length), place + length
        if longest:
            lengths.append(longest)
        start += max(longest, 1)
    return lengths


def coverage_and_density(article: Sequence[str], summary: Sequence[str]) -> tuple[float, float]:
    """Return the fragment coverage and density of a summary with at least one word.

    Coverage is the share of its words that are in a fragment, in [0, 1]. Density is the mean, over its words, of the
    length of the word's fragment.
    """
    lengths = fragment_lengths(article, summary)
    return sum(lengths) / len(summary), sum(length * length for length in lengths) / len(summary)
