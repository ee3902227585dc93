"""Measures that compare a summary with its length and its article, not with a reference."""

import functools
import re

_TOKEN = re.compile(r"\w+")

EFFICIENCY_SIGNATURE = "efficiency|bertscore_f1/words"
DENSITY_SIGNATURE = "density|tok:\\w+|case:lower|share of summary tokens found in the article"


def efficiency(f1: float, words: int) -> float:
    """F1 per word; 0 for a summary without words. It falls with length by construction: compare at equal n only."""
    return f1 / words if words else 0.0


def density(summary: str, article: str) -> float:
    """Share of the summary's tokens (lower-cased runs of letters, digits and underscores) that occur in the article.

    1 for every extractive summary, so it is a check more than a score; 0 for a summary without tokens.
    """
    tokens = _TOKEN.findall(summary.lower())
    if not tokens:
        return 0.0
    known = _vocabulary(article)
    return sum(token in known for token in tokens) / len(tokens)


@functools.lru_cache(maxsize=32)  # the summaries of an article follow each other
def _vocabulary(article: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(article.lower()))
