"""Systems that rank chunks and take the best of them until there are n words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.registry import Registry
from core.summarizers.composition import compose
from core.summarizers.importance import FloatArray, centroid, chunk_weights, ranking, rounded
from core.summarizers.systems import Document, Draft, UsualSystem
from core.types import SegmentedArticle

# From an article and its unit sentence vectors, (sentences, dimensions), to one importance each, (sentences,).
IMPORTANCE: Registry[Callable[[SegmentedArticle, FloatArray], FloatArray]] = Registry(
    "importance",
    {
        "textrank": "core.summarizers.importance:by_textrank",
        "centroid": "core.summarizers.importance:by_centroid",
        "textrank-words": "core.summarizers.lexical_importance:by_textrank_words",
        "lexrank": "core.summarizers.lexical_importance:by_lexrank",
        "position": "core.summarizers.lexical_importance:by_position",
    },
)


@dataclass(frozen=True, slots=True)
class ChunkSystem(UsualSystem):
    """Chunks ranked by the importance of their sentence and by their own similarity to the document.

    `name` is the signature where one encoder is all there is, e.g. `textrank`.
    """

    encoder: str
    importance: str
    name: str | None = None

    @property
    def signature(self) -> str:
        return self.name or f"{self.encoder}|{self.importance}|chunks"

    @property
    def encoders(self) -> tuple[str, ...]:
        return (self.encoder,)

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
class LeadChunks(UsualSystem):
    """The chunks of the first two sentences, by their similarity to the document.

    It joins the two strongest cues that need no learning: the beginning of a news article, and the document's centre.
    """

    encoder: str

    signature: ClassVar[str] = "lead2+chunks"

    @property
    def encoders(self) -> tuple[str, ...]:
        return (self.encoder,)

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article, embeddings = document.segmented, document.embeddings[self.encoder]
        similarity: FloatArray = rounded(embeddings.chunks @ centroid(embeddings.sentences))
        order = [index for index in ranking(similarity) if article.chunks[index].sentence < 2]
        return [Draft(n, compose(article, order, n, document.length_unit)) for n in lengths]
