"""Summaries to read beside the answer: of the system and the n that it names, chosen by a rule and not by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis import Points
from core.analysis.answer import Answer
from core.analysis.content_kept import KEPT
from jobs.report.page.archive import Source
from jobs.report.sweep import kept_answer
from jobs.store import Store

_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class KeptExample:
    """A summary, the share that it keeps of its article's first reference, and that one; `id` is the article's."""

    id: str
    key: str
    share: float
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class KeptExamples:
    """What a system wrote with n words of the articles at the quartiles of content kept, what keeps least first."""

    system: str
    n: int
    examples: tuple[KeptExample, ...]


def kept_examples(
    store: Store, sources: Sequence[Source], answer: Answer, points: Points, dataset: str
) -> KeptExamples | None:
    """None where the answer names no n.

    Args:
        store: where the texts are.
        sources: the runs of the page.
        answer: of `points`.
        points: under the names that systems have on the page.
        dataset: which one.

    Raises:
        StoreError: the texts cannot be read.
    """
    ranked, n = kept_answer.ranked_systems(answer, dataset), kept_answer.named_length(answer, dataset)
    if not ranked or n is None:
        return None
    is_of = np.array([of == dataset for of, _ in points.articles])
    shares = points.scores[KEPT]
    chosen = is_of[points.article] & (points.system == points.systems.index(ranked[0])) & (points.n == n)
    rows = np.flatnonzero(chosen & ~np.isnan(shares))
    order = rows[np.argsort(shares[rows], kind="stable")]
    at = dict.fromkeys(int(order[round(quartile * (len(order) - 1))]) for quartile in _QUARTILES)
    share_of = {points.articles[points.article[row]][1]: float(shares[row]) for row in at}
    source, system = _source_of(sources, ranked[0])
    found = store.article_texts(source.run_id, list(share_of))
    examples = [
        KeptExample(article.id, article.key, share_of[article.id], summary["text"], article.references[0])
        for article in found
        for summary in article.summaries
        if (summary["system"], summary["n"]) == (system, n)
    ]
    return KeptExamples(ranked[0], n, tuple(examples)) if examples else None


def _source_of(sources: Sequence[Source], name: str) -> tuple[Source, str]:
    """The first run that has a system of this name on the page, and what the system is called in it."""
    return next((source, system) for source in sources for system, named in source.names.items() if named == name)
