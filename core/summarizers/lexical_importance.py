"""How much each sentence matters to its article by its words or its place, without a model.

A word is what `core/text/words.py` says, without the punctuation around it and in lower case, in any language. Stop
words stay in, as in both papers: TextRank counts all tokens, and the idf of LexRank makes frequent ones weigh little.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from core.summarizers.importance import FloatArray, pagerank
from core.types import SegmentedArticle

LEXRANK_THRESHOLD = 0.1
"""The cosine above which two sentences are neighbours: the lowest of the three that Erkan & Radev (2004) try."""
# Cosines are compared with the threshold without the digits in which CPUs differ.
_COSINE_DECIMALS = 9


def by_textrank_words(article: SegmentedArticle, vectors: FloatArray) -> FloatArray:
    """See `textrank_words`."""
    return textrank_words(sentence_words(article))


def by_lexrank(article: SegmentedArticle, vectors: FloatArray) -> FloatArray:
    """See `lexrank`."""
    return lexrank(sentence_words(article))


def by_position(article: SegmentedArticle, vectors: FloatArray) -> FloatArray:
    """See `position`."""
    return position(len(article.sentences))


def sentence_words(article: SegmentedArticle) -> list[list[str]]:
    """The words of each sentence in lower case, repeats and all."""
    sentences = (article.words[sentence.start : sentence.end] for sentence in article.sentences)
    return [[word.casefold() for word in words] for words in sentences]


def textrank_words(sentences: Sequence[Sequence[str]]) -> FloatArray:
    """PageRank of the sentences on the graph of their common words (Mihalcea & Tarau 2004, section 4).

    The weight of an edge is the number of distinct words two sentences share, over the sum of the logs of their lengths
    in words. Two sentences of one word each (a sum of 0) have no edge.

    Returns:
        (sentences,), summing to 1. A sentence without edges spreads its weight evenly.
    """
    occurs = term_counts(sentences).sign()
    shared: FloatArray = (occurs @ occurs.T).toarray()
    logs = np.log([max(1, len(words)) for words in sentences])
    norm = logs[:, np.newaxis] + logs
    weights = np.divide(shared, norm, out=np.zeros_like(shared), where=norm > 0)
    np.fill_diagonal(weights, 0.0)
    return pagerank(weights)


def lexrank(sentences: Sequence[Sequence[str]]) -> FloatArray:
    """PageRank of the sentences on the graph of similar sentences (LexRank with threshold, Erkan & Radev 2004).

    Sentences are vectors of tf-idf (tf a count, idf the log of all over those with the word); two are neighbours if the
    cosine is above `LEXRANK_THRESHOLD`. Every sentence is its own neighbour, too, as in the paper. The paper takes
    idf from a collection; here the article's sentences are the collection, since one article is all a system sees.

    Returns:
        (sentences,), summing to 1. A sentence without other neighbours has 1/sentences.
    """
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
    """Falls evenly from 1 for the first sentence to 1/sentences for the last, (sentences,).

    The positional value of MEAD (Radev et al. 2004) but for its scale, which standardising takes away.
    """
    return np.arange(sentences, 0, -1, dtype=np.float64) / sentences


def term_counts(sentences: Sequence[Sequence[str]]) -> sparse.csr_array:
    """How often each word occurs in each sentence, (sentences, distinct words) in float64."""
    columns: dict[str, int] = {}
    word_columns = [columns.setdefault(word, len(columns)) for words in sentences for word in words]
    rows = np.repeat(np.arange(len(sentences)), [len(words) for words in sentences])
    counts = sparse.csr_array((np.ones(len(word_columns)), (rows, word_columns)), shape=(len(sentences), len(columns)))
    counts.sum_duplicates()
    return counts
