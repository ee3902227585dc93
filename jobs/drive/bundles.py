"""The articles of a run in bundles, always the same ones."""

import itertools
from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.article_id_set import ArticleIds, IdNumbers, id_numbers
from core.errors import RecipeError
from core.text.dataset import OpenDataset
from core.types import Article
from jobs.plan.pinned import Pinned


def unfinished_bundles(pinned: Pinned, finished: ArticleIds, announced: "array[int]") -> Iterator[tuple[Article, ...]]:
    """The run's bundles, in corpus order, that hold an article not `finished`.

    A bundle is always whole and always the same articles: embeddings depend, in their last digit, on what is in a
    batch, and a resumed run must give the numbers of an undisturbed one.

    Args:
        pinned: what the run runs.
        finished: of the articles in other bundles nothing is parsed, unless they are streamed.
        announced: gets the numbers of the ids of all articles, see `core.article_id_set`: when their dataset's turn
            comes, or as they are read from a stream.
    """
    size = pinned.recipe.bundle_size
    for corpus in pinned.corpora:
        if corpus.ids is None:
            yield from _stream_bundles(corpus, size, finished, announced)
        else:
            announced.frombytes(corpus.ids.tobytes())
            yield from _bundles(corpus.read(_in_unfinished(corpus.ids, size, finished)), size)


def has_unfinished(pinned: Pinned, finished: ArticleIds) -> bool:
    """Whether there is any unfinished bundle. Only streamed datasets are read to find out."""
    known = [corpus.ids for corpus in pinned.corpora if corpus.ids is not None]
    if not all(finished.holds(ids).all() for ids in known):
        return True
    streamed = (corpus for corpus in pinned.corpora if corpus.ids is None)
    size = pinned.recipe.bundle_size
    return any(any(_stream_bundles(corpus, size, finished, array("Q"))) for corpus in streamed)


def require_known_articles(pinned: Pinned, finished: ArticleIds, run_id: str) -> None:
    """Refuse to resume a run that has articles which are others now, though their dataset is the same.

    Streamed datasets do not tell before.

    Raises:
        RecipeError: code that read them otherwise began the run: it did not compose decomposed text (`cleaned`).
    """
    known = [corpus.ids for corpus in pinned.corpora if corpus.ids is not None]
    if len(known) < len(pinned.corpora):
        return
    others = len(finished - ArticleIds(np.unique(np.concatenate(known))))
    if others:
        raise RecipeError(
            f"Run {run_id} cannot be resumed: {others} of its articles are read otherwise than when it began, since "
            "decomposed text is composed now (NFC). Submit a new run."
        )


def _bundles(articles: Iterator[Article], size: int) -> Iterator[tuple[Article, ...]]:
    while bundle := tuple(itertools.islice(articles, size)):
        yield bundle


def _stream_bundles(
    corpus: OpenDataset, size: int, finished: ArticleIds, announced: "array[int]"
) -> Iterator[tuple[Article, ...]]:
    for bundle in _bundles(iter(corpus), size):
        numbers = id_numbers(article.id for article in bundle)
        announced.extend(numbers.tolist())
        if not finished.holds(numbers).all():
            yield bundle


def _in_unfinished(ids: IdNumbers, size: int, finished: ArticleIds) -> NDArray[np.bool_]:
    """Whether the bundle of each article holds one that is not finished, (articles,)."""
    unfinished = ~finished.holds(ids)
    any_in_bundle: NDArray[np.bool_] = np.logical_or.reduceat(unfinished, np.arange(0, len(ids), size))
    return np.repeat(any_in_bundle, size)[: len(ids)]
