"""Measures that compare a summary with its length or its article, not with a reference.

`density` is that of the study. The density of Grusky et al. 2018 is another measure, which is not here. `coverage` is
theirs.
"""

import functools
import re
from collections.abc import Callable, Sequence

from nws.core.metrics.config import Options
from nws.core.metrics.metric import PRECISION_RECALL_F1, Metric, Row, RowMetric, require_sources
from nws.core.text.length import count_words

_TOKEN = re.compile(r"\w+")

EFFICIENCY_SIGNATURE = "efficiency|bertscore_f1/words"


def efficiency(f1: float, words: int) -> float:
    """Return F1 per word; 0 for a summary without words.

    It falls with length by construction, so compare it only at equal n.
    """
    return f1 / words if words else 0.0


def density(summary: str, article: str) -> float:
    """Return |set(S) ∩ set(A)| / |S|: the summary's distinct tokens that occur in the article, over all of its tokens.

    Tokens are lower-cased runs of letters, digits and underscores. A repeated token counts once in the numerator, and
    each time in the denominator. So a summary made of the article's words has 1 minus its share of repeats. A summary
    without tokens has 0.
    """
    tokens = _tokens(summary)
    return len(_vocabulary(article).intersection(tokens)) / len(tokens) if tokens else 0.0


def coverage(summary: str, article: str) -> float:
    """Return the share of the summary's tokens that occur in the article, with repeats.

    Tokens are those of `density`. This is the extractive fragment coverage of Grusky, Naaman and Artzi 2018, "Newsroom:
    A Dataset of 1.3 Million Summaries with Diverse Extractive Strategies", section 4, since each token that the article
    has is in some fragment. It is 1 for every extractive summary, so it is a check more than a score. It is 0 for a
    summary without tokens.
    """
    tokens = _tokens(summary)
    if not tokens:
        return 0.0
    vocabulary = _vocabulary(article)
    return sum(token in vocabulary for token in tokens) / len(tokens)


@functools.lru_cache(maxsize=1)  # both measures of a summary are computed one after the other
def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


@functools.lru_cache(maxsize=32)  # the summaries of an article come one after the other
def _vocabulary(article: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(article.lower()))


def efficiency_metric(metric: Metric) -> RowMetric:
    """Make the metric that is the F1 of `metric` per word of the prediction."""

    def measure(rows: Sequence[Row]) -> list[float]:
        f1 = metric.statistics(rows)[:, PRECISION_RECALL_F1.index("f1")].tolist()
        return [efficiency(value, count_words(row.prediction)) for value, row in zip(f1, rows, strict=True)]

    return RowMetric("efficiency", f"{EFFICIENCY_SIGNATURE}|{metric.signature}", measure)


SOURCE_METRICS: dict[str, Callable[[str, str], float]] = {"density": density, "coverage": coverage}
"""The functions from a summary and its article to a share. Every stored summary has these shares."""
SOURCE_SIGNATURES = {
    "density": "density|tok:\\w+|case:lower|distinct summary tokens found in the article, over all summary tokens",
    "coverage": "coverage|tok:\\w+|case:lower|share of summary tokens found in the article",
}


def make_source_metric(name: str, options: Options) -> RowMetric:
    """Make the metric of `SOURCE_METRICS` with this name. A row without a source raises a `CorpusError`."""

    def measure(rows: Sequence[Row]) -> list[float]:
        require_sources(name, rows)
        return [SOURCE_METRICS[name](row.prediction, row.source or "") for row in rows]

    return RowMetric(name, SOURCE_SIGNATURES[name], measure)
