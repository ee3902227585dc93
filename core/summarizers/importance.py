"""How much each sentence, and then each chunk, matters to its article.

Here by vectors; by words and place: `core/summarizers/lexical_importance.py`.
"""

import numpy as np
import numpy.typing as npt

from core.types import SegmentedArticle

FloatArray = npt.NDArray[np.float64]

DAMPING = 0.85
_TOLERANCE = 1e-12
_MAX_ITERATIONS = 1000
# Embeddings of one text differ by about 1e-7 with the batch it is in. Weights are rounded far above that, and ties
# go to the earlier chunk, so that the order of chunks does not depend on batches.
_WEIGHT_DECIMALS = 5


def unit_rows(vectors: npt.NDArray[np.floating]) -> FloatArray:
    """Rows scaled to length 1 (a zero row stays zero): (rows, dimensions) float64."""
    matrix = vectors.astype(np.float64)
    norms: FloatArray = np.linalg.norm(matrix, axis=1, keepdims=True)
    norms[norms == 0] = 1.0
    return matrix / norms


def centroid(sentences: FloatArray) -> FloatArray:
    """The document's direction: the mean of its unit sentence vectors, scaled to length 1."""
    direction: FloatArray = unit_rows(sentences.mean(axis=0, keepdims=True))[0]
    return direction


def by_textrank(article: SegmentedArticle, vectors: FloatArray) -> FloatArray:
    """See `textrank`."""
    return textrank(vectors)


def by_centroid(article: SegmentedArticle, vectors: FloatArray) -> FloatArray:
    """See `centroid_similarity`."""
    return centroid_similarity(vectors)


def textrank(sentences: FloatArray) -> FloatArray:
    """PageRank of the sentences on their cosine graph (Mihalcea & Tarau 2004, with cosine for word overlap).

    Args:
        sentences: unit vectors, (sentences, dimensions).

    Returns:
        (sentences,), summing to 1. Negative cosines are no edge; a sentence without edges spreads its weight evenly.
    """
    weights = np.maximum(sentences @ sentences.T, 0.0)
    np.fill_diagonal(weights, 0.0)
    return pagerank(weights)


def pagerank(weights: FloatArray) -> FloatArray:
    """The rank of each node of a graph, (nodes,), summing to 1; damping 0.85 (Brin & Page 1998).

    Args:
        weights: of the edge from each node to each other, (nodes, nodes), none negative. A node without edges
            spreads its rank evenly.
    """
    count = len(weights)
    strength = weights.sum(axis=1, keepdims=True)
    transitions = np.where(strength > 0, weights / np.where(strength > 0, strength, 1.0), 1.0 / count)
    ranks = np.full(count, 1.0 / count)
    for _ in range(_MAX_ITERATIONS):
        updated = (1.0 - DAMPING) / count + DAMPING * (ranks @ transitions)
        if np.abs(updated - ranks).sum() < _TOLERANCE:
            return updated
        ranks = updated
    return ranks


def centroid_similarity(sentences: FloatArray) -> FloatArray:
    """Cosine of each sentence with the document centroid, (sentences,)."""
    similarity: FloatArray = sentences @ centroid(sentences)
    return similarity


def chunk_weights(
    importance: FloatArray, chunk_similarity: FloatArray, sentence_of_chunk: npt.NDArray[np.int64]
) -> FloatArray:
    """Weight of each chunk: its sentence's importance plus its own similarity to the document, in equal parts.

    Both are standardised over the article (mean 0, deviation 1), since TextRank lies near 1/sentences and cosines
    near 0.5, and a plain sum or product would ignore one of them.

    Args:
        importance: of each sentence, (sentences,).
        chunk_similarity: cosine of each chunk with the document centroid, (chunks,).
        sentence_of_chunk: index of each chunk's sentence, (chunks,).
    """
    return rounded(standardised(importance)[sentence_of_chunk] + standardised(chunk_similarity))


def rounded(weights: FloatArray) -> FloatArray:
    """Weights rounded so that they do not depend on what else was in the batch."""
    return np.round(weights, _WEIGHT_DECIMALS)


def ranking(weights: FloatArray) -> list[int]:
    """Indices by falling weight; of equals the earlier first."""
    order: list[int] = np.argsort(-weights, kind="stable").tolist()
    return order


def standardised(values: FloatArray) -> FloatArray:
    """Values with mean 0 and deviation 1; zeros where they are all equal."""
    if not len(values):
        return values
    deviation = values.std()
    # Below this the values differ only by rounding of embeddings, which dividing would magnify.
    return (values - values.mean()) / deviation if deviation > 1e-6 else np.zeros_like(values)
