"""Of the system and n that the page's answer names: summaries to show beside it, and what the viewer shows first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis import Points
from core.analysis.answer import Answer
from core.analysis.content_kept import KEPT
from core.analysis.policy_scores import split_seed
from jobs.report.page.archive import Opening, Source
from jobs.report.policies.policy_numbers import PolicyNumbers
from jobs.report.sweep import kept_answer
from jobs.report.sweep.numbers import Numbers
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
    named = kept_answer.named_by_answer(answer, dataset)
    if named is None:
        return None
    name, n = named
    is_of = np.array([of == dataset for of, _ in points.articles])
    shares = points.scores[KEPT]
    chosen = is_of[points.article] & (points.system == points.systems.index(name)) & (points.n == n)
    rows = np.flatnonzero(chosen & ~np.isnan(shares))
    order = rows[np.argsort(shares[rows], kind="stable")]
    at = dict.fromkeys(int(order[round(quartile * (len(order) - 1))]) for quartile in _QUARTILES)
    share_of = {points.articles[points.article[row]][1]: float(shares[row]) for row in at}
    source, system = _source_of(sources, name)
    found = store.article_texts(source.run_id, list(share_of))
    examples = [
        KeptExample(article.id, article.key, share_of[article.id], summary["text"], article.references[0])
        for article in found
        for summary in article.summaries
        if (summary["system"], summary["n"]) == (system, n)
    ]
    return KeptExamples(name, n, tuple(examples)) if examples else None


def _source_of(sources: Sequence[Source], name: str) -> tuple[Source, str]:
    """The first run that has a system of this name on the page, and what the system is called in it."""
    return next((source, system) for source in sources for system, named in source.names.items() if named == name)


def opening(numbers: Numbers, policies: Sequence[PolicyNumbers], points: Points) -> Opening | None:
    """Of a training its best policy; of a sweep the system that keeps most; None where the answer names no n."""
    for trained in policies:
        if trained.has_policies:
            return _of_policies(trained, points)
    for dataset in numbers.datasets:
        if named := kept_answer.named_by_answer(numbers.kept, dataset):
            return Opening(*named)
    return None


def _of_policies(numbers: PolicyNumbers, points: Points) -> Opening:
    """A seed of the policy with the highest mean, at the middle of the lengths that policies write."""
    lengths = sorted({score.n for score in numbers.scores if score.is_policy})
    n = lengths[len(lengths) // 2]
    best = max(
        (score for score in numbers.scores if score.is_policy and score.n == n), key=lambda score: score.score.mean
    )
    at_n = {points.systems[s] for s in points.system[points.n == n].tolist()}
    seeds = sorted(system for system in at_n if split_seed(system)[0] == best.system)
    return Opening(seeds[0] if seeds else best.system, n)
