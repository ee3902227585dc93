"""Systems that compose a summary of the best chunks of an article."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from nws.core.article import SegmentedArticle
from nws.core.systems.composition import compose, filled, first_sentences, taken_room, words_at
from nws.core.systems.importance import (
    FloatArray,
    centroid,
    centroid_similarity,
    chunk_weights,
    lexrank,
    position,
    ranking,
    rounded,
    sentence_words,
    textrank,
    textrank_words,
)
from nws.core.systems.system import Document, Draft, UsualSystem
from nws.core.text.length import LengthUnit, fitting, room

# Functions from an article and its unit sentence vectors, (sentences, dimensions), to importances, (sentences,).
IMPORTANCE: dict[str, Callable[[SegmentedArticle, FloatArray], FloatArray]] = {
    "textrank": lambda _, vectors: textrank(vectors),
    "centroid": lambda _, vectors: centroid_similarity(vectors),
    "textrank-words": lambda article, _: textrank_words(sentence_words(article)),
    "lexrank": lambda article, _: lexrank(sentence_words(article)),
    "position": lambda article, _: position(len(article.sentences)),
}


@dataclass(frozen=True, slots=True)
class _OfEncoder(UsualSystem):
    """Base of systems that use the vectors of one encoder, by its name."""

    encoder: str

    @property
    def encoders(self) -> tuple[str, ...]:
        return (self.encoder,)


@dataclass(frozen=True, slots=True)
class ChunkSystem(_OfEncoder):
    """Chunks ranked by the importance of their sentence and by their own similarity to the document.

    Attributes:
        importance: the importance of sentences, a name in `IMPORTANCE`.
        name: the signature, such as `textrank`; None if the signature names encoder and importance.
    """

    importance: str
    name: str | None = None

    @property
    def signature(self) -> str:
        return self.name or f"{self.encoder}|{self.importance}|chunks"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article, embeddings = document.segmented, document.embeddings[self.encoder]
        weights = chunk_weights(
            IMPORTANCE[self.importance](article, embeddings.sentences),
            embeddings.chunks @ centroid(embeddings.sentences),
            np.array([chunk.sentence for chunk in article.chunks], dtype=np.int64),
        )
        order = ranking(weights)
        return [Draft(n, compose(article, order, n, document.length_unit)) for n in lengths]


@dataclass(frozen=True, slots=True)
class LeadChunks(_OfEncoder):
    """The chunks of the first two sentences, by their similarity to the document.

    These are the two strongest cues without learning: the beginning of a news article, and the document's centre.
    """

    signature: ClassVar[str] = "lead2+chunks"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article, embeddings = document.segmented, document.embeddings[self.encoder]
        similarity: FloatArray = rounded(embeddings.chunks @ centroid(embeddings.sentences))
        order = [index for index in ranking(similarity) if article.chunks[index].sentence < 2]
        return [Draft(n, compose(article, order, n, document.length_unit)) for n in lengths]


CANDIDATE_CHUNKS = 40
"""The number of chunks, those with the highest scores of their own, that the search chooses from."""
LEAD_SENTENCES = 3
"""The number of first sentences that `lead3-search` compares summaries with."""

# A function from texts to the score of each.
Objective = Callable[[Sequence[str]], list[float]]


@dataclass(frozen=True, slots=True)
class LeadSearch(UsualSystem):
    """Greedy search for the n words with the highest BERTScore F1 against the article's first three sentences.

    It is the search of `Oracle`, with the beginning of the article instead of the reference.
    """

    signature: ClassVar[str] = "lead3-search"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article = document.segmented
        objective = partial(document.anchored_f1, first_sentences(article, LEAD_SENTENCES))
        candidates = candidate_chunks(article, objective)
        texts = greedy(article, objective, candidates, lengths, document.length_unit)
        return [Draft(n, texts[n]) for n in lengths]


def candidate_chunks(article: SegmentedArticle, objective: Objective) -> list[int]:
    """Return the `CANDIDATE_CHUNKS` chunks with the highest own scores, in document order; the first of equals."""
    scores = objective([chunk.text for chunk in article.chunks])
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return sorted(order[:CANDIDATE_CHUNKS])


def greedy(
    article: SegmentedArticle,
    objective: Objective,
    candidates: Sequence[int],
    lengths: Sequence[int],
    unit: LengthUnit = "words",
) -> dict[int, str]:
    """Search greedily for a summary of each length: each step adds the candidate that raises the objective most.

    The searches for all n have the same first steps, until a chunk has to be cut to fit. So they run at the same time,
    and each step scores the texts of all n together. The objective should cache the scores of texts. If all candidates
    together have fewer than n words, the article's first other words are added. A search for n characters ends when no
    word of a candidate fits.

    Returns:
        The summary by n, with its words in document order.
    """
    taken: dict[int, frozenset[int]] = dict.fromkeys(lengths, frozenset())
    while extensions := {
        n: options for n in taken if (options := list(_extensions(article, candidates, taken[n], n, unit)))
    }:
        texts = {option: words_at(article, option) for options in extensions.values() for option in options}
        scores = dict(zip(texts, objective(list(texts.values())), strict=True))
        taken |= {n: max(options, key=scores.__getitem__) for n, options in extensions.items()}
    ends = {article.chunks[index].end - 1 for index in candidates}
    return {
        n: words_at(article, filled(article, positions, n, unit) if ends <= positions else positions)
        for n, positions in taken.items()
    }


def _extensions(
    article: SegmentedArticle, candidates: Sequence[int], taken: frozenset[int], n: int, unit: LengthUnit
) -> Iterator[frozenset[int]]:
    """Yield the positions `taken` with those of one more chunk, cut to fit; nothing if the summary is full."""
    left = room(n, unit) - taken_room(article, taken, unit)
    if left <= 0:
        return
    for index in candidates:
        chunk = article.chunks[index]
        fit = fitting(article.words[chunk.start : chunk.end], left, unit) if chunk.start not in taken else 0
        if fit:
            yield taken | set(range(chunk.start, chunk.start + fit))
