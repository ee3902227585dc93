"""The importance of the sentences and chunks of an article, by vectors, by words and by place.

Words are those of `core/text/length.py`, without the punctuation around them and in lower case, in any language. Stop
words are not removed, as in both papers: TextRank counts all tokens, and the idf of LexRank gives frequent words little
weight.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nws.core.article import SegmentedArticle

if TYPE_CHECKING:  # importing SciPy would delay `nws submit --help`
    from scipy import sparse

FloatArray = npt.NDArray[np.float64]

DAMPING = 0.85
_TOLERANCE = 1e-12
_MAX_ITERATIONS = 1000
# The embeddings of a text differ by about 1e-7 between batches. Weights are rounded far above that, and the earlier of
# equal chunks comes first, so that the order of chunks does not depend on batches.
_WEIGHT_DECIMALS = 5


def unit_rows(vectors: npt.NDArray[np.floating]) -> FloatArray:
    """Scale rows to length 1, (rows, dimensions) float64. A zero row stays zero."""
    matrix = vectors.astype(np.float64)
    norms: FloatArray = np.sqrt((matrix * matrix).sum(axis=1, keepdims=True))  # `np.linalg.norm`, without its copies
    norms[norms == 0] = 1.0
    matrix /= norms
    return matrix


def centroid(sentences: FloatArray) -> FloatArray:
    """Return the mean of a document's unit sentence vectors, scaled to length 1, (dimensions,)."""
    direction: FloatArray = unit_rows(sentences.mean(axis=0, keepdims=True))[0]
    return direction


def textrank(sentences: FloatArray) -> FloatArray:
    """Compute the PageRank of sentences on their cosine graph (Mihalcea & Tarau 2004, with cosines for word overlap).

    Args:
        sentences: the unit vectors, (sentences, dimensions).

    Returns:
        The ranks, (sentences,), which sum to 1. Negative cosines give no edge. A sentence without edges spreads its
        weight evenly.
    """
    weights = np.maximum(sentences @ sentences.T, 0.0)
    np.fill_diagonal(weights, 0.0)
    return pagerank(weights)


def pagerank(graph: "FloatArray | sparse.csr_matrix") -> FloatArray:
    """Compute the rank of each node of a symmetric graph, (nodes,), with sum 1 and damping 0.85 (Brin & Page 1998).

    Args:
        graph: the weights of the edges, (nodes, nodes), dense or sparse, and not negative. A node without edges spreads
            its rank evenly.
    """
    count = graph.shape[0]
    strength = np.asarray(graph.sum(axis=1)).ravel()
    inverse = np.divide(1.0, strength, out=np.zeros(count), where=strength > 0)
    ranks: FloatArray = np.full(count, 1.0 / count)
    for _ in range(_MAX_ITERATIONS):
        spare = ranks[strength == 0].sum()
        updated: FloatArray = (1.0 - DAMPING + DAMPING * spare) / count + DAMPING * (graph @ (ranks * inverse))
        if np.abs(updated - ranks).sum() < _TOLERANCE:
            return updated
        ranks = updated
    return ranks


def centroid_similarity(sentences: FloatArray) -> FloatArray:
    """Return the cosine of each sentence with the document centroid, (sentences,)."""
    return sentences @ centroid(sentences)


def chunk_weights(
    importance: FloatArray, chunk_similarity: FloatArray, sentence_of_chunk: npt.NDArray[np.int64]
) -> FloatArray:
    """Compute the weight of each chunk: its sentence's importance plus its own similarity to the document.

    Both are standardised over the article (mean 0, deviation 1), since TextRank is near 1/sentences and cosines are
    near 0.5, and a plain sum or product would ignore one of them.

    Args:
        importance: the importance of each sentence, (sentences,).
        chunk_similarity: the cosine of each chunk with the document centroid, (chunks,).
        sentence_of_chunk: the index of each chunk's sentence, (chunks,).
    """
    return rounded(standardised(importance)[sentence_of_chunk] + standardised(chunk_similarity))


def rounded(weights: FloatArray) -> FloatArray:
    """Round weights to `_WEIGHT_DECIMALS`, so that they do not depend on the batch."""
    return np.round(weights, _WEIGHT_DECIMALS)


def ranking(weights: FloatArray) -> list[int]:
    """Return the indices from the highest weight to the lowest; the first of equals comes first."""
    order: list[int] = np.argsort(-weights, kind="stable").tolist()
    return order


def standardised(values: FloatArray) -> FloatArray:
    """Scale values to mean 0 and standard deviation 1; zeros if they are all equal."""
    if not len(values):
        return values
    deviation = values.std()
    # Smaller deviations are rounding errors of embeddings, which the division would magnify.
    return (values - values.mean()) / deviation if deviation > 1e-6 else np.zeros_like(values)


LEXRANK_THRESHOLD = 0.1
"""The cosine above which two sentences are neighbours: the lowest of the three that Erkan & Radev (2004) try."""
# Cosines are rounded before they are compared with the threshold, since CPUs differ in the last digits.
_COSINE_DECIMALS = 9


def sentence_words(article: SegmentedArticle) -> list[list[str]]:
    """Return the words of each sentence in lower case, with repetitions."""
    sentences = (article.words[sentence.start : sentence.end] for sentence in article.sentences)
    return [[word.casefold() for word in words] for words in sentences]


def textrank_words(sentences: Sequence[Sequence[str]]) -> FloatArray:
    """Compute the PageRank of sentences on the graph of their common words (Mihalcea & Tarau 2004, section 4).

    The weight of an edge is the number of distinct words that two sentences share, over the sum of the logs of their
    lengths in words. Two sentences of one word each (a sum of 0) have no edge.

    Returns:
        The ranks, (sentences,), which sum to 1. A sentence without edges spreads its weight evenly.
    """
    occurs = term_counts(sentences).sign()
    shared: FloatArray = (occurs @ occurs.T).toarray()
    logs = np.log([max(1, len(words)) for words in sentences])
    norm = logs[:, np.newaxis] + logs
    weights = np.divide(shared, norm, out=np.zeros_like(shared), where=norm > 0)
    np.fill_diagonal(weights, 0.0)
    return pagerank(weights)


def lexrank(sentences: Sequence[Sequence[str]]) -> FloatArray:
    """Compute the PageRank of sentences on the graph of similar sentences (LexRank with threshold, Erkan & Radev 2004).

    Sentences are vectors of tf-idf. tf is a count, and idf the log of the number of sentences over those with the word.
    Two sentences are neighbours if their cosine is above `LEXRANK_THRESHOLD`, and every sentence is its own neighbour,
    as in the paper. The paper takes idf from a collection. Here the article's sentences are the collection, since a
    system sees only one article.

    Returns:
        The ranks, (sentences,), which sum to 1. A sentence without other neighbours has 1/sentences.
    """
    from scipy import sparse

    counts = term_counts(sentences)
    idf = np.log(len(sentences) / counts.sign().sum(axis=0))
    vectors = counts @ sparse.diags_array(idf)
    norms = np.sqrt((vectors * vectors).sum(axis=1))
    cosines: FloatArray = (vectors @ vectors.T).toarray()
    lengths = np.outer(norms, norms)
    cosines = np.divide(cosines, lengths, out=np.zeros_like(cosines), where=lengths > 0)
    np.fill_diagonal(cosines, 1.0)
    return pagerank((cosines.round(_COSINE_DECIMALS) > LEXRANK_THRESHOLD).astype(np.float64))


def position(sentences: int) -> FloatArray:
    """Return the importance of each sentence by its place, from 1 for the first to 1/sentences for the last.

    It is the positional value of MEAD (Radev et al. 2004), except for its scale, which standardising removes.
    """
    return np.arange(sentences, 0, -1, dtype=np.float64) / sentences


def term_counts(sentences: Sequence[Sequence[str]]) -> "sparse.csr_array":
    """Count each word in each sentence, (sentences, distinct words) float64."""
    from scipy import sparse

    columns: dict[str, int] = {}
    word_columns = [columns.setdefault(word, len(columns)) for words in sentences for word in words]
    rows = np.repeat(np.arange(len(sentences)), [len(words) for words in sentences])
    counts = sparse.csr_array((np.ones(len(word_columns)), (rows, word_columns)), shape=(len(sentences), len(columns)))
    counts.sum_duplicates()
    return counts
