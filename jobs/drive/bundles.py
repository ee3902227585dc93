"""The articles of a run in bundles, always the same ones."""

import itertools
from collections.abc import Iterator

from core.types import Article
from jobs.plan.pinned import Pinned


def every_bundle(pinned: Pinned, announced: set[str]) -> Iterator[tuple[Article, ...]]:
    """The run's bundles, in corpus order; `announced` gets the ids of their articles."""
    for corpus in pinned.corpora:
        articles = iter(corpus)
        while bundle := tuple(itertools.islice(articles, pinned.recipe.bundle_size)):
            announced.update(article.id for article in bundle)
            yield bundle


def unfinished_bundles(pinned: Pinned, finished: set[str], announced: set[str]) -> Iterator[tuple[Article, ...]]:
    """The run's bundles, in corpus order, that hold an article not `finished`; `announced` gets all ids.

    A bundle is always whole and always the same articles: embeddings depend, in their last digit, on what is in a
    batch, and a resumed run must give the numbers of an undisturbed one.
    """
    for bundle in every_bundle(pinned, announced):
        if any(article.id not in finished for article in bundle):
            yield bundle
