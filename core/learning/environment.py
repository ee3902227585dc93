"""The environment: an article as policies see it, and the state of k summaries of it while they are written.

An episode is one summary. Its actions are the choice of K sentences, and then of one chunk after another, until there
are n words. The reward comes at the end, so the return of an episode is its reward.

Policies know only a few numbers about each sentence and chunk, which mean the same in every article. With an embedding
of 384 numbers, a policy could recognise the articles that it was trained on. With these 30 numbers, it cannot.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from spacy.lang.en.lex_attrs import like_num
from spacy.lang.en.stop_words import STOP_WORDS

from nws.core.arithmetic import multiply_rows
from nws.core.article import Segment, SegmentedArticle
from nws.core.models.tokens import IntArray
from nws.core.systems.composition import filled, taken_room, words_at
from nws.core.systems.importance import FloatArray, centroid_similarity, standardised, term_counts, textrank
from nws.core.systems.system import Embeddings
from nws.core.text.length import LengthUnit, cost, fitting, room

BoolArray = npt.NDArray[np.bool_]

SENTENCE_FEATURES = (
    "textrank",  # standardised over the article, like everything called similarity, length or frequency
    "position",  # i / sentences
    "inverse position",  # 1 / (1 + i)
    "log length",
    "centroid similarity",
    "novelty",  # 1 - the largest cosine with an earlier sentence
    "is first",
    "is in first three",
    "digit share",  # the share of its words with a digit
)
_OF_PARENT = ("textrank", "position", "inverse position", "centroid similarity", "is first")
CHUNK_FEATURES = (
    "centroid similarity",
    "sentence similarity",
    "offset",  # words before it in its sentence / words of the sentence
    "opens sentence",
    "length",  # words minus their mean
    "has digit",
    "first mention",
    "mean log frequency",
    "mean frequency",
    "mean word length",
    *(f"sentence: {name}" for name in _OF_PARENT),
)
_MEAN_CHUNK_WORDS = 1.6

DYNAMIC_FEATURES = (
    "nearest chosen",  # the largest cosine with a chosen chunk, at least 0
    "adjacent to chosen",
    "in sentence of chosen",
    "overflow",  # words that would be cut off (characters are converted by the article's mean word)
    "overflows",
    "words left",  # the share of n that is left, in words or characters
)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedArticle:
    """Everything that policies need to know about an article. Tensors are float64 unless stated otherwise.

    Attributes:
        segmented: the article.
        sentence_features: the `SENTENCE_FEATURES`, (sentences, 9).
        sentence_inputs: the embedding and the TextRank score of each sentence, (sentences, dimensions + 1) float32.
        chunk_features: the `CHUNK_FEATURES`, (chunks, 15).
        chunk_inputs: the embedding of each chunk and the TextRank score of its sentence, (chunks, dimensions + 1)
            float32.
        sentence_of_chunk: the sentence of each chunk, (chunks,) int64 array.
        chunk_costs: the room that each chunk takes in a summary, (chunks,) int64 array: its words
            (`nws.core.text.length.cost`).
        excludes: whether chunk j may not be taken once chunk i is, (chunks, chunks) bool array. The diagonal marks
            chunks that may not be taken at all.
        similarities: the cosine of each chunk with each, (chunks, chunks) float32 array. It is no larger than the
            embeddings, unless there are more chunks than dimensions.
        head_of_chunk: for subtrees, the chunk on which each depends, or itself, (chunks,) int64 array; None for other
            chunks.
        length_unit: the unit of the n of its summaries.
        word_cost: the room that a word takes on average: 1 if the unit is words.
    """

    segmented: SegmentedArticle
    sentence_features: torch.Tensor
    sentence_inputs: torch.Tensor
    chunk_features: torch.Tensor
    chunk_inputs: torch.Tensor
    sentence_of_chunk: IntArray
    chunk_costs: IntArray
    excludes: BoolArray
    similarities: npt.NDArray[np.float32]
    head_of_chunk: IntArray | None
    length_unit: LengthUnit
    word_cost: float


def prepare(
    segmented: SegmentedArticle, embeddings: Embeddings, mask_repeats: bool, length_unit: LengthUnit = "words"
) -> PreparedArticle:
    """Compute everything about an article that does not change, however often it is summarised.

    If the article has subtrees, they become its chunks.

    Args:
        segmented: an article with at least one sentence.
        embeddings: the unit vectors of one encoder.
        mask_repeats: whether a summary takes no chunk with a content word that it has already. If not, it takes no
            chunk whose whole text it has already.
        length_unit: the unit of the n of its summaries.
    """
    if segmented.subtrees:
        assert embeddings.subtrees is not None
        segmented = replace(segmented, chunks=segmented.subtrees)
        embeddings = Embeddings(embeddings.sentences, embeddings.subtrees)
    costs = [cost(word, length_unit) for word in segmented.words]
    sentence_table = sentence_features(segmented, embeddings.sentences)
    ranks = textrank(embeddings.sentences)
    parent = np.array([chunk.sentence for chunk in segmented.chunks], dtype=np.int64)
    chunks = embeddings.chunks.reshape(len(parent), embeddings.sentences.shape[1])
    chunk_inputs = torch.from_numpy(np.column_stack([chunks, ranks[parent]])).float()
    return PreparedArticle(
        segmented=segmented,
        sentence_features=torch.from_numpy(sentence_table),
        sentence_inputs=torch.from_numpy(np.column_stack([embeddings.sentences, ranks])).float(),
        chunk_features=torch.from_numpy(chunk_features(segmented, embeddings, sentence_table)),
        chunk_inputs=chunk_inputs,
        sentence_of_chunk=parent,
        chunk_costs=np.array([sum(costs[i] for i in chunk.positions) for chunk in segmented.chunks], dtype=np.int64),
        excludes=repeats(segmented) if mask_repeats else duplicates(segmented),
        similarities=multiply_rows(chunk_inputs[:, :-1], chunk_inputs[:, :-1]).numpy(),
        head_of_chunk=np.array([chunk.head for chunk in segmented.chunks]) if segmented.subtrees else None,
        length_unit=length_unit,
        word_cost=sum(costs) / len(costs),
    )


class Writing:
    """The state of k summaries of one article that are written at the same time.

    It uses NumPy: a step takes some twenty operations on small arrays, and each would take PyTorch several times as
    long.

    Args:
        article: the article.
        sentences: the chosen sentences of each summary, (k, K) int64.
        n: the number of words or characters of each summary.
    """

    def __init__(self, article: PreparedArticle, sentences: IntArray, n: int) -> None:
        k, count = len(sentences), len(article.chunk_costs)
        self._article = article
        self._n = n
        self._room = room(n, article.length_unit)
        whole = round(article.word_cost * len(article.segmented.words))
        self.room_left = np.full(k, min(self._room, whole), dtype=np.int64)
        chosen = np.zeros((k, len(article.sentence_features)), dtype=bool)
        np.put_along_axis(chosen, sentences, True, axis=1)
        self.scope: BoolArray = chosen[:, article.sentence_of_chunk]
        self.taken: list[list[int]] = [[] for _ in range(k)]
        self._open = np.tile(~article.excludes.diagonal(), (k, 1))
        self._nearest = np.zeros((k, count), dtype=np.float32)
        self._adjacent = np.zeros((k, count), dtype=bool)
        self._beside = np.zeros((k, count), dtype=bool)
        # For subtrees: those that may begin their sentence, and those that depend on one that was taken.
        self._begins = np.tile(np.array([chunk.begins for chunk in article.segmented.chunks], dtype=bool), (k, 1))
        self._hangs = np.zeros((k, count), dtype=bool)

    def available(self) -> BoolArray:
        """Return the chunks that each summary may take next, (k, chunks) bool; none for a finished summary.

        They are chunks of the chosen sentences. If these have no more chunks, all sentences are opened (`scope`).

        A subtree may be taken after the one that it depends on, or first of its sentence if it may begin. It is taken
        whole, so it has to fit. No further sentence is opened once something is taken.
        """
        grows = self._article.head_of_chunk is not None
        may_follow = self._open
        if grows:
            fits = self._article.chunk_costs <= self.room_left[:, None]
            may_follow = may_follow & (self._begins | self._hangs) & fits
        available: BoolArray = may_follow & self.scope
        has_run_out = ~available.any(axis=1)
        if grows:
            has_run_out &= np.array([not taken for taken in self.taken])
        if has_run_out.any():
            self.scope[has_run_out] = True
            available[has_run_out] = may_follow[has_run_out]
        return available

    def dynamic_features(self, rows: IntArray, chunks: IntArray) -> FloatArray:
        """Return the `DYNAMIC_FEATURES` of chunks `chunks[i]` for summaries `rows[i]`, (len(rows), 6)."""
        features = np.empty((len(rows), len(DYNAMIC_FEATURES)))
        room_left = self.room_left[rows]
        overflow = np.maximum(self._article.chunk_costs[chunks] - room_left, 0)
        features[:, 0] = self._nearest[rows, chunks]
        features[:, 1] = self._adjacent[rows, chunks]
        features[:, 2] = self._beside[rows, chunks]
        features[:, 3] = overflow / self._article.word_cost
        features[:, 4] = overflow > 0
        features[:, 5] = room_left.astype(np.float32) / np.float32(self._room)
        return features

    def take(self, rows: IntArray, chunks: IntArray) -> None:
        """Add chunk `chunks[i]` to summary `rows[i]`, at most one to each summary."""
        for row, chunk in zip(rows.tolist(), chunks.tolist(), strict=True):
            self.taken[row].append(chunk)
        self.room_left[rows] = np.maximum(self.room_left[rows] - self._article.chunk_costs[chunks], 0)
        self._open[rows] &= ~self._article.excludes[chunks]
        self._open[rows, chunks] = False
        self._open[self.room_left == 0] = False
        self._nearest[rows] = np.maximum(self._nearest[rows], self._article.similarities[chunks])
        same_sentence = self._article.sentence_of_chunk[chunks][:, None] == self._article.sentence_of_chunk
        self._beside[rows] |= same_sentence
        if self._article.head_of_chunk is not None:
            self._begins[rows] &= ~same_sentence
            self._hangs[rows] |= self._article.head_of_chunk == chunks[:, None]
        for neighbour in (chunks - 1, chunks + 1):
            inside = (neighbour >= 0) & (neighbour < len(self._article.chunk_costs))
            beside = neighbour[inside]
            self._adjacent[rows[inside], beside] |= same_sentence[inside, beside]

    def texts(self) -> list[str]:
        """Return the text of each summary: exactly n words of the article in document order, or all if it has fewer.

        With characters or subtrees, a summary has at most n.
        """
        article, unit = self._article.segmented, self._article.length_unit
        return [words_at(article, positions_taken(article, taken, self._n, unit)) for taken in self.taken]


def positions_taken(article: SegmentedArticle, taken: Sequence[int], n: int, unit: LengthUnit = "words") -> set[int]:
    """Return the positions of the words of the chunks `taken`, which are in the order in which they were taken.

    The last chunk is cut to fit. If the chunks have fewer than `n` words, the article's first other words are added,
    but not to subtrees, unless there are none.
    """
    positions: set[int] = set()
    left = room(n, unit)
    for index in taken:
        own = article.chunks[index].positions
        fit = own[: fitting([article.words[position] for position in own], left, unit)]
        positions.update(fit)
        if len(fit) < len(own):
            return positions
        left -= taken_room(article, fit, unit)
    return positions if positions and article.subtrees else filled(article, positions, n, unit)


def sentence_features(article: SegmentedArticle, sentences: FloatArray) -> FloatArray:
    """Compute the `SENTENCE_FEATURES` of every sentence, (sentences, 9) float64.

    Args:
        article: an article with at least one sentence.
        sentences: the unit vectors of its sentences, (sentences, dimensions).
    """
    count = len(article.sentences)
    index = np.arange(count, dtype=np.float64)
    lengths = np.array([sentence.end - sentence.start for sentence in article.sentences], dtype=np.float64)
    cosines = np.tril(sentences @ sentences.T, -1) + np.triu(np.full((count, count), -np.inf))
    novelty = 1.0 - np.where(index > 0, cosines.max(axis=1), 0.0)
    columns = [
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
    return np.column_stack(columns)


def chunk_features(article: SegmentedArticle, embeddings: Embeddings, sentence_table: FloatArray) -> FloatArray:
    """Compute the `CHUNK_FEATURES` of every chunk, (chunks, 15) float64.

    Args:
        article: an article with at least one sentence.
        embeddings: the unit vectors of its sentences and chunks.
        sentence_table: the result of `sentence_features`.
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
    columns = [
        standardised(embeddings.chunks @ direction),
        standardised((embeddings.chunks * embeddings.sentences[parent]).sum(axis=1)),
        offsets / [s.end - s.start for s in sentences],
        offsets == 0,
        np.array([len(chunk) for chunk in words]) - _MEAN_CHUNK_WORDS,
        [any(map(_has_digit, chunk)) for chunk in words],
        ~np.tril(duplicates(article), -1).any(axis=1),  # first mention
        [sum(map(math.log, frequencies)) / len(frequencies) for frequencies in counts],
        standardised(np.array([sum(frequencies) / len(frequencies) for frequencies in counts])),
        standardised(np.array([sum(map(len, chunk)) / len(chunk) for chunk in words])),
        sentence_table[parent][:, [SENTENCE_FEATURES.index(name) for name in _OF_PARENT]],
    ]
    return np.column_stack(columns)


def words_of(article: SegmentedArticle, segment: Segment) -> list[str]:
    return [article.words[position] for position in segment.positions]


def content_word(word: str) -> str | None:
    """Return the form that equal content words share, such as "Murray's" and "murray"; None for a stop word.

    Number words ("two") are content words, as they are for chunks.
    """
    folded = word.casefold().replace("’", "'").removesuffix("'s")
    is_number = bool(like_num(folded))  # type: ignore[no-untyped-call]
    return None if folded in STOP_WORDS and not is_number else folded


def repeats(article: SegmentedArticle) -> npt.NDArray[np.bool_]:
    """Return which chunks share a content word or their whole text, (chunks, chunks), symmetric.

    The diagonal marks chunks that repeat a word within themselves.
    """
    contents = [[w for w in map(content_word, words_of(article, chunk)) if w is not None] for chunk in article.chunks]
    counts = term_counts(contents)
    shared: npt.NDArray[np.bool_] = duplicates(article) | ((counts @ counts.T).toarray() > 0)
    np.fill_diagonal(shared, [len(set(words)) < len(words) for words in contents])
    return shared


def duplicates(article: SegmentedArticle) -> npt.NDArray[np.bool_]:
    """Return which chunks have the same text, ignoring case, (chunks, chunks), with False on the diagonal."""
    number: dict[str, int] = {}
    texts = np.array([number.setdefault(chunk.text.casefold(), len(number)) for chunk in article.chunks], dtype=int)
    same: npt.NDArray[np.bool_] = texts[:, None] == texts[None, :]
    np.fill_diagonal(same, False)
    return same


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)
