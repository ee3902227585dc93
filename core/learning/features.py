"""What a policy knows about sentences and chunks: a few numbers each, with the same meaning in every article.

An embedding of 384 numbers lets a policy recognise the articles it was trained on; these 30 do not.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from spacy.lang.en.lex_attrs import like_num
from spacy.lang.en.stop_words import STOP_WORDS

from core.systems.importance import FloatArray, centroid_similarity, standardised, textrank
from core.systems.system import Embeddings
from core.types import Segment, SegmentedArticle

SENTENCE_FEATURES = (
    "textrank",  # standardised over the article, like everything called similarity, length or frequency
    "position",  # i / sentences
    "inverse position",  # 1 / (1 + i)
    "log length",
    "centroid similarity",
    "novelty",  # 1 - the largest cosine with an earlier sentence
    "is first",
    "is in first three",
    "digit share",  # of its words
)
_OF_PARENT = ("textrank", "position", "inverse position", "centroid similarity", "is first")
CHUNK_FEATURES = (
    "centroid similarity",
    "sentence similarity",
    "offset",  # words before it in its sentence / words of the sentence
    "opens sentence",
    "length",  # words, less their mean
    "has digit",
    "first mention",
    "mean log frequency",
    "mean frequency",
    "mean word length",
    *(f"sentence: {name}" for name in _OF_PARENT),
)
_MEAN_CHUNK_WORDS = 1.6


def sentence_features(article: SegmentedArticle, sentences: FloatArray) -> FloatArray:
    """The `SENTENCE_FEATURES` of every sentence.

    Args:
        article: with at least one sentence.
        sentences: unit vectors (sentences, dimensions).

    Returns:
        (sentences, 9) float64.
    """
    count = len(article.sentences)
    index = np.arange(count, dtype=np.float64)
    lengths = np.array([sentence.end - sentence.start for sentence in article.sentences], dtype=np.float64)
    cosines = np.tril(sentences @ sentences.T, -1) + np.triu(np.full((count, count), -np.inf))
    novelty = 1.0 - np.where(index > 0, cosines.max(axis=1), 0.0)
    return np.column_stack(
        [
            standardised(textrank(sentences)),
            index / count,
            1.0 / (1.0 + index),
            standardised(np.log(lengths)),
            standardised(centroid_similarity(sentences)),
            novelty,
            index == 0,
            index < 3,
            [sum(map(_has_digit, words_of(article, s))) / max(1, s.end - s.start) for s in article.sentences],
        ]
    )


def chunk_features(article: SegmentedArticle, embeddings: Embeddings, sentence_table: FloatArray) -> FloatArray:
    """The `CHUNK_FEATURES` of every chunk.

    Args:
        article: with at least one sentence.
        embeddings: unit vectors of sentences and chunks.
        sentence_table: the result of `sentence_features`.

    Returns:
        (chunks, 15) float64.
    """
    chunks = article.chunks
    if not chunks:
        return np.empty((0, len(CHUNK_FEATURES)))
    parent = np.array([chunk.sentence for chunk in chunks])
    direction = embeddings.sentences.mean(axis=0)
    direction = direction / (np.linalg.norm(direction) or 1.0)
    sentences = [article.sentences[i] for i in parent]
    starts = [chunk.start - sentence.start for chunk, sentence in zip(chunks, sentences, strict=True)]
    offsets = np.array(starts, dtype=np.float64)
    words = [words_of(article, chunk) for chunk in chunks]
    frequency = Counter(word.casefold() for word in article.words)
    counts = [[frequency[word.casefold()] for word in chunk] for chunk in words]
    return np.column_stack(
        [
            standardised(embeddings.chunks @ direction),
            standardised((embeddings.chunks * embeddings.sentences[parent]).sum(axis=1)),
            offsets / [s.end - s.start for s in sentences],
            offsets == 0,
            np.array([len(chunk) for chunk in words]) - _MEAN_CHUNK_WORDS,
            [any(map(_has_digit, chunk)) for chunk in words],
            _first_mentions(chunks),
            [sum(map(math.log, frequencies)) / len(frequencies) for frequencies in counts],
            standardised(np.array([sum(frequencies) / len(frequencies) for frequencies in counts])),
            standardised(np.array([sum(map(len, chunk)) / len(chunk) for chunk in words])),
            sentence_table[parent][:, [SENTENCE_FEATURES.index(name) for name in _OF_PARENT]],
        ]
    )


def words_of(article: SegmentedArticle, segment: Segment) -> tuple[str, ...]:
    return article.words[segment.start : segment.end]


def content_word(word: str) -> str | None:
    """What two equal content words have in common, "Murray's" and "murray" among them; None for a stop word.

    Number words ("two") are content words, as they are where chunks are cut.
    """
    folded = word.casefold().replace("’", "'").removesuffix("'s")
    is_number = bool(like_num(folded))  # type: ignore[no-untyped-call]
    return None if folded in STOP_WORDS and not is_number else folded


def repeats(article: SegmentedArticle) -> npt.NDArray[np.bool_]:
    """Which chunks share a content word or their whole text: (chunks, chunks), symmetric.

    The diagonal tells which chunks repeat a word within themselves.
    """
    contents = [[w for w in map(content_word, words_of(article, chunk)) if w is not None] for chunk in article.chunks]
    column = {word: i for i, word in enumerate(dict.fromkeys(word for words in contents for word in words))}
    rows = np.repeat(np.arange(len(contents)), [len(words) for words in contents])
    columns = [column[word] for words in contents for word in words]
    incidence = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(contents), len(column)))
    shared: npt.NDArray[np.bool_] = duplicates(article) | ((incidence @ incidence.T).toarray() > 0)
    np.fill_diagonal(shared, [len(set(words)) < len(words) for words in contents])
    return shared


def duplicates(article: SegmentedArticle) -> npt.NDArray[np.bool_]:
    """Which chunks have the same text but for case: (chunks, chunks), with False on the diagonal."""
    number: dict[str, int] = {}
    texts = np.array([number.setdefault(chunk.text.casefold(), len(number)) for chunk in article.chunks], dtype=int)
    same: npt.NDArray[np.bool_] = texts[:, None] == texts[None, :]
    np.fill_diagonal(same, False)
    return same


def _first_mentions(chunks: Sequence[Segment]) -> list[bool]:
    seen: set[str] = set()
    firsts = []
    for chunk in chunks:
        firsts.append(chunk.text.casefold() not in seen)
        seen.add(chunk.text.casefold())
    return firsts


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)
