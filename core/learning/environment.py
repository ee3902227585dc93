"""The environment: an article as policies see it, and what happens to k summaries of it while they are written.

An episode is one summary. Its actions are the choice of K sentences and then one chunk after another, until there are
n words. The reward comes at the end, so the return of an episode is its reward.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.learning.features import chunk_features, duplicates, repeats, sentence_features
from core.summarizers.composition import filled, words_at
from core.summarizers.importance import textrank
from core.summarizers.systems import Embeddings
from core.types import SegmentedArticle

DYNAMIC_FEATURES = (
    "nearest chosen",  # largest cosine with a chunk that was chosen, at least 0
    "adjacent to chosen",
    "in sentence of chosen",
    "overflow",  # words that would be cut off
    "overflows",
    "words left",  # / n
)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedArticle:
    """All that policies ask about an article. Tensors are float64 unless they say otherwise.

    Attributes:
        sentence_features: (sentences, 9), see `SENTENCE_FEATURES`.
        sentence_inputs: (sentences, dimensions + 1) float32, the embedding and the TextRank score.
        chunk_features: (chunks, 15), see `CHUNK_FEATURES`.
        chunk_inputs: (chunks, dimensions + 1) float32, the embedding and the TextRank score of the sentence.
        sentence_of_chunk: (chunks,) int64.
        chunk_words: (chunks,) int64, how many words each chunk has.
        excludes: (chunks, chunks) bool: once chunk i is taken, chunk j may not be. On the diagonal, chunks that may
            not be taken at all.
    """

    segmented: SegmentedArticle
    sentence_features: torch.Tensor
    sentence_inputs: torch.Tensor
    chunk_features: torch.Tensor
    chunk_inputs: torch.Tensor
    sentence_of_chunk: torch.Tensor
    chunk_words: torch.Tensor
    excludes: torch.Tensor


def prepare(segmented: SegmentedArticle, embeddings: Embeddings, mask_repeats: bool) -> PreparedArticle:
    """Everything that stays the same however often the article is summarised.

    Args:
        segmented: an article with at least one sentence.
        embeddings: one encoder's unit vectors of it.
        mask_repeats: whether a summary takes no chunk with a content word that it has already. If not, it takes no
            chunk whose whole text it has already.
    """
    sentence_table = sentence_features(segmented, embeddings.sentences)
    ranks = textrank(embeddings.sentences)
    parent = np.array([chunk.sentence for chunk in segmented.chunks], dtype=np.int64)
    chunks = embeddings.chunks.reshape(len(parent), embeddings.sentences.shape[1])
    return PreparedArticle(
        segmented=segmented,
        sentence_features=torch.from_numpy(sentence_table),
        sentence_inputs=torch.from_numpy(np.column_stack([embeddings.sentences, ranks])).float(),
        chunk_features=torch.from_numpy(chunk_features(segmented, embeddings, sentence_table)),
        chunk_inputs=torch.from_numpy(np.column_stack([chunks, ranks[parent]])).float(),
        sentence_of_chunk=torch.from_numpy(parent),
        chunk_words=torch.tensor([chunk.end - chunk.start for chunk in segmented.chunks], dtype=torch.int64),
        excludes=torch.from_numpy(repeats(segmented) if mask_repeats else duplicates(segmented)),
    )


class Writing:
    """The state of k summaries of one article, written side by side.

    Args:
        article: what is summarised.
        sentences: (k, K) int64, the sentences that were chosen for each.
        n: the words of each summary.
    """

    def __init__(self, article: PreparedArticle, sentences: torch.Tensor, n: int) -> None:
        k, count = len(sentences), len(article.chunk_words)
        self._article = article
        self._n = n
        self.words_left = torch.full((k,), min(n, len(article.segmented.words)), dtype=torch.int64)
        self.scope = (article.sentence_of_chunk[None, :, None] == sentences[:, None, :]).any(dim=2)
        self.taken: list[list[int]] = [[] for _ in range(k)]
        self._open = ~article.excludes.diagonal().expand(k, count).clone()
        self._nearest = torch.zeros((k, count), dtype=torch.float64)
        self._adjacent = torch.zeros((k, count), dtype=torch.bool)
        self._beside = torch.zeros((k, count), dtype=torch.bool)

    def available(self) -> torch.Tensor:
        """The chunks that each summary may take next, (k, chunks) bool; none for a finished one.

        They are chunks of the sentences chosen. Where those have run out, every sentence is opened (`scope`).
        """
        unfinished = self._open & (self.words_left > 0)[:, None]
        has_run_out = ~(unfinished & self.scope).any(dim=1, keepdim=True)
        self.scope |= has_run_out
        return unfinished & self.scope

    def dynamic_features(self, rows: torch.Tensor, chunks: torch.Tensor) -> torch.Tensor:
        """The `DYNAMIC_FEATURES` of chunks `chunks[i]` to summaries `rows[i]`: (len(rows), 6)."""
        words_left = self.words_left[rows]
        overflow = (self._article.chunk_words[chunks] - words_left).clamp(min=0)
        columns = (
            self._nearest[rows, chunks],
            self._adjacent[rows, chunks],
            self._beside[rows, chunks],
            overflow,
            overflow > 0,
            words_left / self._n,
        )
        return torch.stack([column.to(torch.float64) for column in columns], dim=1)

    def take(self, rows: torch.Tensor, chunks: torch.Tensor) -> None:
        """Summary `rows[i]` takes chunk `chunks[i]`, each summary at most one."""
        article = self._article
        for row, chunk in zip(rows.tolist(), chunks.tolist(), strict=True):
            self.taken[row].append(chunk)
        self.words_left[rows] = (self.words_left[rows] - article.chunk_words[chunks]).clamp(min=0)
        self._open[rows] &= ~article.excludes[chunks]
        self._open[rows, chunks] = False
        vectors = article.chunk_inputs[:, :-1]
        self._nearest[rows] = torch.maximum(self._nearest[rows], (vectors[chunks] @ vectors.T).double())
        same_sentence = article.sentence_of_chunk[chunks][:, None] == article.sentence_of_chunk[None, :]
        distance = (chunks[:, None] - torch.arange(len(article.chunk_words))[None, :]).abs()
        self._beside[rows] |= same_sentence
        self._adjacent[rows] |= same_sentence & (distance == 1)

    def texts(self) -> list[str]:
        """Each summary: exactly n words of the article, or all if it has fewer, in document order."""
        return [compose_taken(self._article.segmented, taken, self._n) for taken in self.taken]


def compose_taken(article: SegmentedArticle, taken: Sequence[int], n: int) -> str:
    """The words at `positions_taken`, in document order."""
    return words_at(article, positions_taken(article, taken, n))


def positions_taken(article: SegmentedArticle, taken: Sequence[int], n: int) -> set[int]:
    """The positions of the words of the chunks `taken`, which come in the order they were taken.

    The last chunk is cut to fit. If all have fewer than `n` words, the article's first other words are added.
    """
    positions: set[int] = set()
    for index in taken:
        chunk = article.chunks[index]
        positions.update(range(chunk.start, min(chunk.end, chunk.start + n - len(positions))))
    return filled(article, positions, n)
