"""Documents for summarizers, with vectors and an objective that a test chooses."""

from collections.abc import Callable, Sequence

import numpy as np

from nws.core.article import Article, SegmentedArticle
from nws.core.systems.system import AnchoredF1, Document, Embeddings
from nws.core.text.segmentation import Segmenter

REFERENCES = (
    "Alpha met gamma, – delta saw zeta and theta left them.",
    "First, beta met nobody and\nthe others left before ten.",
)
OTHER = "Ships sail on, -- and nobody\never asked them why they left."
TEXT = "Alpha beta met gamma. Then delta epsilon saw zeta, and eta theta left."


def article(text: str = TEXT, key: str = "k") -> Article:
    return Article("d", "all", key, text, REFERENCES)


def segmented(text: str = TEXT, key: str = "k") -> SegmentedArticle:
    return Segmenter("blank")(article(text, key))


def no_reference(texts: Sequence[str]) -> list[float]:
    raise AssertionError("this system must not ask the reference")


def no_anchor(anchor: str, texts: Sequence[str]) -> list[float]:
    raise AssertionError("this system must not ask for an anchor")


def dice(anchor: str, texts: Sequence[str]) -> list[float]:
    """Overlap of bags of words, in place of BERTScore F1: which text is nearest to an anchor is known."""
    wanted = _bag(anchor)
    return [2 * len(_bag(text) & wanted) / (len(_bag(text)) + len(wanted)) for text in texts]


def _bag(text: str) -> set[str]:
    return set(text.casefold().replace(".", "").replace(",", "").split())


def document(
    of: SegmentedArticle | None = None,
    chunk_vectors: np.ndarray | None = None,
    f1: Callable[[Sequence[str]], list[float]] = no_reference,
    anchored_f1: AnchoredF1 = no_anchor,
) -> Document:
    """`enc` embeds sentences as unit vectors along their own axes, and chunks as told."""
    of = of or segmented()
    sentences = np.eye(len(of.sentences), 3)
    vectors = np.eye(len(of.chunks), 3) if chunk_vectors is None else chunk_vectors
    embeddings = {"enc": Embeddings(sentences, vectors)}
    return Document(of, embeddings, f1, anchored_f1, lambda: OTHER)
