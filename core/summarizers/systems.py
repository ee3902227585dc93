"""The systems of the sweep: each a frozen value with a readable signature that turns a document into n words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.summarizers.composition import compose
from core.summarizers.importance import IMPORTANCE, FloatArray, centroid, chunk_weights
from core.text.words import first_words
from core.types import SegmentedArticle


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One encoder's unit vectors of an article: (sentences, dimensions) and (chunks, dimensions)."""

    sentences: FloatArray
    chunks: FloatArray


@dataclass(frozen=True, slots=True)
class Document:
    """A segmented article with its embeddings by encoder name."""

    segmented: SegmentedArticle
    embeddings: Mapping[str, Embeddings]


class System(Protocol):
    """One way to summarise."""

    @property
    def signature(self) -> str:
        """The name under which its summaries are stored."""

    def summarize(self, document: Document, lengths: Iterable[int]) -> list[str]:
        """A summary of `document` for each length: exactly that many words, or all if the article has fewer."""


@dataclass(frozen=True, slots=True)
class ChunkSystem:
    """Chunks ranked by the importance of their sentence and by their own similarity to the document."""

    encoder: str
    importance: str

    @property
    def signature(self) -> str:
        return f"{self.encoder}|{self.importance}|chunks"

    def summarize(self, document: Document, lengths: Iterable[int]) -> list[str]:
        article, embeddings = document.segmented, document.embeddings[self.encoder]
        weights = chunk_weights(
            IMPORTANCE[self.importance](embeddings.sentences),
            embeddings.chunks @ centroid(embeddings.sentences),
            np.array([chunk.sentence for chunk in article.chunks], dtype=np.int64),
        )
        ranking = np.argsort(-weights, kind="stable").tolist()
        return [compose(article, ranking, n) for n in lengths]


@dataclass(frozen=True, slots=True)
class Lead:
    """Control: the first n words of the article as they stand. Its curve shows what length alone does."""

    @property
    def signature(self) -> str:
        return "lead"

    def summarize(self, document: Document, lengths: Iterable[int]) -> list[str]:
        return [first_words(document.segmented.article.text, n) for n in lengths]


@dataclass(frozen=True, slots=True)
class Random:
    """Control: chunks in an order drawn from `seed` and the article, the same on every machine."""

    seed: int

    @property
    def signature(self) -> str:
        return "random"

    def summarize(self, document: Document, lengths: Iterable[int]) -> list[str]:
        article = document.segmented
        generator = np.random.default_rng([self.seed, int(article.article.id, 16)])
        ranking = generator.permutation(len(article.chunks)).tolist()
        return [compose(article, ranking, n) for n in lengths]
