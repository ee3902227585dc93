"""Documents for summarizers, with vectors and an objective that a test chooses."""

from collections.abc import Callable, Sequence

import numpy as np

from core.summarizers.systems import Document, Embeddings
from core.text.segmentation import Segmenter
from core.types import Article, SegmentedArticle

TEXT = "Alpha beta met gamma. Then delta epsilon saw zeta, and eta theta left."


def article(text: str = TEXT, key: str = "k") -> Article:
    return Article("d", "all", key, text, ("r",))


def segmented(text: str = TEXT, key: str = "k") -> SegmentedArticle:
    return Segmenter("blank")(article(text, key))


def no_reference(texts: Sequence[str]) -> list[float]:
    raise AssertionError("this system must not ask the reference")


def document(
    of: SegmentedArticle | None = None,
    chunk_vectors: np.ndarray | None = None,
    f1: Callable[[Sequence[str]], list[float]] = no_reference,
) -> Document:
    """`enc` embeds sentences as unit vectors along their own axes, and chunks as told."""
    of = of or segmented()
    sentences = np.eye(len(of.sentences), 3)
    vectors = np.eye(len(of.chunks), 3) if chunk_vectors is None else chunk_vectors
    return Document(of, {"enc": Embeddings(sentences, vectors)}, f1)
