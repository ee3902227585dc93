"""Summaries from policies: drawn at random, greedily or as told, with exact log-probabilities.

K sentences are drawn without replacement: the K largest of logits plus Gumbel noise (Kool et al. 2019, "Stochastic
Beams and Where to Find Them", section 2.3). Their log-probability, in that order, is the Plackett–Luce model's. Chunks
are drawn one after another among those available, with logits that depend on what was drawn.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import torch

from core.learning.environment import PreparedArticle, Writing
from core.learning.policies import Policies

LogProbability = Literal["plackett-luce", "softmax-sum"]
# Logits of chunks of equal text differ by about 1e-7 with the batch their embeddings come from.
_LOGIT_DECIMALS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Rollouts:
    """k episodes of one article. Tensors carry gradients unless they were made under `torch.no_grad`.

    Attributes:
        sentences: (k, K) int64, in the order drawn.
        chunks: of each episode, its chunks in the order drawn.
        texts: the summaries.
        log_probability: (k,) float64, of all actions of each episode.
        entropy: (k,) float64 in nats: of the first sentence drawn, plus the mean over the chunks drawn.
    """

    sentences: torch.Tensor
    chunks: list[list[int]]
    texts: list[str]
    log_probability: torch.Tensor
    entropy: torch.Tensor


class Choice(Protocol):
    """How actions are chosen. Logits come without gradients; -inf is what may not be chosen."""

    def sentences(self, logits: torch.Tensor, count: int) -> torch.Tensor:
        """From logits (sentences,) to the sentences of each episode, (k, count) int64."""

    def chunk(self, logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """From the logits (rows, chunks) of the episodes `rows` (rows,) to the next chunk of each, (rows,) int64."""


class Draw:
    """k episodes drawn from the policies; the same noise for the same generator."""

    def __init__(self, generator: np.random.Generator, k: int) -> None:
        self._generator = generator
        self._k = k

    def sentences(self, logits: torch.Tensor, count: int) -> torch.Tensor:
        return (logits + self._gumbel(len(logits))).topk(count, dim=1).indices

    def chunk(self, logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        # Noise for finished episodes, too: what one draws does not depend on how long the others are.
        return (logits + self._gumbel(logits.shape[1])[rows]).argmax(dim=1)

    def _gumbel(self, count: int) -> torch.Tensor:
        return torch.from_numpy(self._generator.gumbel(size=(self._k, count)))


class Greedy:
    """One episode: the best sentences, then the best chunk each time; of equals the first."""

    def sentences(self, logits: torch.Tensor, count: int) -> torch.Tensor:
        return falling(logits)[None, :count]

    def chunk(self, logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return torch.stack([falling(row)[0] for row in logits])


def falling(logits: torch.Tensor) -> torch.Tensor:
    """The indices of logits (count,) from the highest to the lowest; of equals the first comes first."""
    return torch.sort(logits.round(decimals=_LOGIT_DECIMALS), descending=True, stable=True).indices


def rollouts(
    policies: Policies,
    article: PreparedArticle,
    n: int,
    sentences: int,
    choice: Choice,
    log_probability: LogProbability = "plackett-luce",
) -> Rollouts:
    """Write k summaries of `n` words.

    Args:
        policies: the pair.
        article: with at least one sentence.
        n: words.
        sentences: K; all sentences if there are fewer.
        choice: of the actions; it decides k.
        log_probability: `plackett-luce` is that of what was drawn. `softmax-sum` adds up the log-softmax of each action
            as if nothing had been taken before, as the study wrote it: an approximation.
    """
    exact = log_probability == "plackett-luce"
    logits = policies.sentence_logits(article)
    chosen = choice.sentences(logits.detach(), min(sentences, len(logits)))
    total = sentences_log_probability(logits, chosen, exact)
    writing = Writing(article, chosen, n)
    chunk_entropy, steps = torch.zeros_like(total), torch.zeros_like(total)
    while len(rows := (available := writing.available()).any(dim=1).nonzero()[:, 0]):
        available = available[rows]
        scored = available if exact else writing.scope[rows]
        table = _chunk_logits(policies, article, writing, rows, scored)
        chunks = choice.chunk(table.detach().masked_fill(~available, -torch.inf), rows)
        log_softmax = torch.log_softmax(table, dim=1)
        total = total.index_add(0, rows, log_softmax.gather(1, chunks[:, None])[:, 0])
        chunk_entropy = chunk_entropy.index_add(0, rows, _entropy(log_softmax))
        steps[rows] += 1
        writing.take(rows, chunks)
    entropy = _entropy(torch.log_softmax(logits, dim=0)) + chunk_entropy / steps.clamp(min=1)
    return Rollouts(chosen, writing.taken, writing.texts(), total, entropy)


def sentences_log_probability(logits: torch.Tensor, chosen: torch.Tensor, exact: bool = True) -> torch.Tensor:
    """Log-probability of drawing the sentences `chosen` (k, K) in this order, (k,).

    Plackett–Luce: each is drawn from a softmax over those not drawn before (Plackett 1975, "The Analysis of
    Permutations"). Not `exact`: each from a softmax over all.
    """
    drawn = logits[chosen]
    if not exact:
        return (drawn - torch.logsumexp(logits, dim=0)).sum(dim=1)
    gone = torch.zeros((len(chosen), len(logits)), dtype=torch.bool)
    total = torch.zeros(len(chosen), dtype=logits.dtype)
    for step in range(chosen.shape[1]):
        total = total + drawn[:, step] - torch.logsumexp(logits.expand_as(gone).masked_fill(gone, -torch.inf), dim=1)
        gone = gone.scatter(1, chosen[:, step : step + 1], True)
    return total


def _chunk_logits(
    policies: Policies, article: PreparedArticle, writing: Writing, rows: torch.Tensor, scored: torch.Tensor
) -> torch.Tensor:
    """Logits of the chunks `scored` (rows, chunks) of each episode in `rows`, -inf elsewhere: (rows, chunks)."""
    row, chunk = scored.nonzero(as_tuple=True)
    logits = policies.chunk_logits(article, chunk, writing.dynamic_features(rows[row], chunk))
    return torch.full(scored.shape, -torch.inf, dtype=torch.float64).index_put((row, chunk), logits)


def _entropy(log_probabilities: torch.Tensor) -> torch.Tensor:
    """Of the distributions in the last dimension."""
    finite = log_probabilities.masked_fill(log_probabilities == -torch.inf, 0.0)
    return -(finite * log_probabilities.exp()).sum(dim=-1)
