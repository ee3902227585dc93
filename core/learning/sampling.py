"""Summaries from policies: drawn at random, written greedily, or reranked, with exact log-probabilities.

K sentences are drawn without replacement, as the K largest of logits plus Gumbel noise (Kool et al. 2019, "Stochastic
Beams and Where to Find Them", section 2.3). Their log-probability, in that order, is that of the Plackett–Luce model.
Chunks are drawn one after another among the available ones, with logits that depend on earlier draws.

All episodes of an article advance together, in NumPy. Articles share nothing, so the draws for one do not depend on the
others.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch

from nws.core.learning.environment import PreparedArticle, Writing, positions_taken
from nws.core.learning.policies import Policies
from nws.core.learning.training_config import Decoding, LogProbability
from nws.core.models.tokens import IntArray
from nws.core.systems.composition import adjacent_share, first_sentences, words_at
from nws.core.systems.importance import FloatArray
from nws.core.systems.system import AnchoredF1, FluencyOf, no_fluency

FLUENCY_CANDIDATES = 32
"""The number of drawn summaries, the best without fluency, whose fluency is measured, which takes most of the time."""

# Logits of chunks with equal texts may differ by about 1e-7, depending on the batch of their embeddings.
_LOGIT_DECIMALS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """k summaries of one article, without gradients.

    Attributes:
        sentences: the sentences in the order of drawing, (k, K) int64 array.
        chunks: the chunks of each episode in the order of drawing.
        texts: the summaries.
        steps: the choices of the chunks.
    """

    sentences: IntArray
    chunks: list[list[int]]
    texts: list[str]
    steps: "list[_Step]"


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The choice of one chunk for each unfinished episode, as arrays.

    Attributes:
        rows: the unfinished episodes, (rows,) int64.
        row_index: the index into `rows` of the episode of every scored chunk, (scored,) int64.
        chunk: the scored chunks, (scored,) int64.
        dynamic: their `DYNAMIC_FEATURES`, (scored, 6) float64.
        chosen: the indices of the chosen chunks among the scored ones, (rows,) int64.
    """

    rows: IntArray
    row_index: IntArray
    chunk: IntArray
    dynamic: FloatArray
    chosen: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rollouts:
    """k episodes of one article, with gradients unless they were made under `torch.no_grad`.

    Attributes:
        episodes: the episodes.
        log_probability: the log-probability of all actions of each episode, (k,) float64.
        entropy: the entropy in nats of the first sentence drawn, plus the mean over the chunks drawn, (k,) float64.
    """

    episodes: Episodes
    log_probability: torch.Tensor
    entropy: torch.Tensor


class Draw:
    """A choice that draws k episodes from the policies, with the same noise for the same generator.

    Logits are divided by `temperature`: above 1, less likely actions are drawn more often.
    """

    def __init__(self, generator: np.random.Generator, k: int, temperature: float = 1.0) -> None:
        self._generator = generator
        self._k = k
        self._temperature = temperature

    def sentences(self, logits: FloatArray, count: int) -> IntArray:
        """Draw the sentences of each episode, (k, count) int64, from logits (sentences,)."""
        order: IntArray = np.argsort(-(logits / self._temperature + self._gumbel(len(logits))), axis=1, kind="stable")
        return order[:, :count]

    def chunk(self, logits: FloatArray, rows: IntArray) -> IntArray:
        """Draw the next chunk of the episodes `rows` (rows,), (rows,) int64, from their logits (rows, chunks)."""
        # Finished episodes draw noise, too, so that a draw does not depend on the length of other episodes.
        best: IntArray = (logits / self._temperature + self._gumbel(logits.shape[1])[rows]).argmax(axis=1)
        return best

    def _gumbel(self, count: int) -> FloatArray:
        return self._generator.gumbel(size=(self._k, count))


class Greedy:
    """A choice of one episode: the best sentences, then the best chunk each time; the first of equals."""

    def sentences(self, logits: FloatArray, count: int) -> IntArray:
        return falling(logits)[None, :count]

    def chunk(self, logits: FloatArray, rows: IntArray) -> IntArray:
        best: IntArray = logits.round(_LOGIT_DECIMALS).argmax(axis=1)
        return best


Choice: TypeAlias = Draw | Greedy
"""The way in which actions are chosen. Logits are float64 arrays, and -inf marks actions that may not be chosen."""


def falling(logits: FloatArray) -> IntArray:
    """Return the indices of logits (count,), from the highest to the lowest; the first of equals comes first."""
    return np.argsort(-logits.round(_LOGIT_DECIMALS), kind="stable")


def rollouts(
    policies: Policies,
    article: PreparedArticle,
    n: int,
    sentences: int,
    choice: Choice,
    log_probability: LogProbability = "plackett-luce",
) -> Rollouts:
    """Write k summaries of `n` words, with the log-probability of each.

    Afterwards, all scored chunks go through the policies once more, in one pass with gradients. That takes far less
    time than gradients at every step.

    Args:
        policies: the pair.
        article: an article with at least one sentence.
        n: the number of words.
        sentences: the number K of sentences; all sentences if there are fewer.
        choice: the choice of actions, which also decides k.
        log_probability: `plackett-luce`, which is exact, or `softmax-sum`, the study's approximation, which adds up the
            log-softmax of each action as if nothing had been taken before.
    """
    exact = log_probability == "plackett-luce"
    written = episodes(policies, article, n, sentences, choice, exact)
    logits = policies.sentence_logits(article)
    total = sentences_log_probability(logits, torch.from_numpy(written.sentences), exact)
    chunk_log_probability, chunk_entropy = _chunk_choices(policies, article, written.steps, len(total))
    log_p = torch.log_softmax(logits, dim=0)
    entropy = -(log_p * log_p.exp()).sum() + chunk_entropy
    return Rollouts(written, total + chunk_log_probability, entropy)


@torch.no_grad()
def episodes(
    policies: Policies, article: PreparedArticle, n: int, sentences: int, choice: Choice, exact: bool = True
) -> Episodes:
    """Write summaries as `rollouts` does, without log-probabilities.

    Unless `exact`, chunks that may not be taken any more are also scored, because `softmax-sum` counts them.
    """
    logits = policies.sentence_logits(article).numpy()
    chosen = choice.sentences(logits, min(sentences, len(logits)))
    writing, score = Writing(article, chosen, n), policies.drawing_scorer(article)
    steps = []
    while len(rows := np.flatnonzero((available := writing.available()).any(axis=1))):
        available = available[rows]
        scored = available if exact else writing.scope[rows]
        row_index, chunk = scored.nonzero()
        dynamic = writing.dynamic_features(rows[row_index], chunk)
        table = np.full(scored.shape, -np.inf)
        table[row_index, chunk] = score(chunk, dynamic)
        taken = choice.chunk(np.where(available, table, -np.inf), rows)
        steps.append(_Step(rows, row_index, chunk, dynamic, np.flatnonzero(chunk == taken[row_index])))
        writing.take(rows, taken)
    return Episodes(chosen, writing.taken, writing.texts(), steps)


def _chunk_choices(
    policies: Policies, article: PreparedArticle, steps: list[_Step], k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute, for each episode, the log-probability of its chunks and the mean entropy of their choices, (k,) each."""
    zeros = torch.zeros(k, dtype=torch.float64)
    if not steps:
        return zeros, zeros
    before = np.cumsum([0, *(len(step.rows) for step in steps)])
    scored = np.cumsum([0, *(len(step.chunk) for step in steps)])
    episode = _joined([step.rows for step in steps])  # the episode of every choice
    choice = _joined([step.row_index + start for step, start in zip(steps, before, strict=False)])
    chosen = _joined([step.chosen + start for step, start in zip(steps, scored, strict=False)])
    chunk, dynamic = _joined([step.chunk for step in steps]), _joined([step.dynamic for step in steps])
    log_softmax = _log_softmax(policies.chunk_scorer(article)(chunk, dynamic), choice, len(episode))
    entropy = -torch.zeros(len(episode), dtype=torch.float64).index_add(0, choice, log_softmax.exp() * log_softmax)
    choices = zeros.index_add(0, episode, torch.ones(len(episode), dtype=torch.float64))
    log_probability = zeros.index_add(0, episode, log_softmax.index_select(0, chosen))
    return log_probability, zeros.index_add(0, episode, entropy) / choices.clamp(min=1)


def _joined(arrays: Sequence[IntArray] | Sequence[FloatArray]) -> torch.Tensor:
    return torch.from_numpy(np.concatenate(arrays))


def _log_softmax(logits: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """Return the log-softmax of each logit (values,) within its group, whose index is in `group` (values,) int64."""
    none = torch.full((groups,), -torch.inf, dtype=logits.dtype)
    shifted = logits - none.scatter_reduce(0, group, logits.detach(), "amax").index_select(0, group)
    normaliser = torch.zeros(groups, dtype=logits.dtype).index_add(0, group, shifted.exp()).log()
    return shifted - normaliser.index_select(0, group)


def sentences_log_probability(logits: torch.Tensor, chosen: torch.Tensor, exact: bool = True) -> torch.Tensor:
    """Return the log-probability of drawing the sentences `chosen` (k, K) in this order, (k,).

    If `exact` (Plackett–Luce), each is drawn from a softmax over those not drawn before (Plackett 1975, "The Analysis
    of Permutations"). If not, each is drawn from a softmax over all.
    """
    drawn = logits[chosen]
    if not exact:
        return (drawn - torch.logsumexp(logits, dim=0)).sum(dim=1)
    drawn_before = torch.zeros((len(chosen), len(logits)), dtype=torch.bool)
    total = torch.zeros(len(chosen), dtype=logits.dtype)
    for step in range(chosen.shape[1]):
        available = logits.expand_as(drawn_before).masked_fill(drawn_before, -torch.inf)
        total = total + drawn[:, step] - torch.logsumexp(available, dim=1)
        drawn_before = drawn_before.scatter(1, chosen[:, step : step + 1], True)
    return total


def decode(
    policies: Policies,
    article: PreparedArticle,
    n: int,
    sentences: int,
    decoding: Decoding,
    seed: int,
    anchored_f1: AnchoredF1,
    fluency: FluencyOf = no_fluency,
) -> str:
    """Write a summary of `n` words, or of `n` characters if the article was prepared for them.

    Draws depend only on the seed, the article's text and n.

    Args:
        policies: the pair.
        article: an article with at least one sentence.
        n: the number of words or characters.
        sentences: the number K of sentences that the policies choose.
        decoding: the way in which the policies write.
        seed: the seed of draws.
        anchored_f1: a function for BERTScore F1 of texts against an anchor, which only `rerank` uses.
        fluency: a function for the fluency of texts, which only `rerank` with a weight uses.
    """
    if decoding.method == "greedy":
        return episodes(policies, article, n, sentences, Greedy()).texts[0]
    choice = Draw(_generator(seed, article, n), decoding.k, decoding.temperature)
    drawn = episodes(policies, article, n, sentences, choice)
    segmented, unit = article.segmented, article.length_unit
    different = dict.fromkeys(tuple(sorted(positions_taken(segmented, taken, n, unit))) for taken in drawn.chunks)
    texts = {words_at(segmented, positions): adjacent_share(positions) for positions in different}
    f1 = anchored_f1(_anchor(policies, article, decoding), list(texts))
    scores = [score + decoding.adjacency_weight * share for score, share in zip(f1, texts.values(), strict=True)]
    # Sorting keeps the order of equals, so the first drawn counts as the best of them.
    best = dict(sorted(zip(texts, scores, strict=True), key=lambda pair: -pair[1])[:FLUENCY_CANDIDATES])
    if decoding.needs_fluency:
        slors = fluency(list(best))
        best = {text: best[text] + decoding.fluency_weight * slor for text, slor in zip(best, slors, strict=True)}
    return max(best, key=best.__getitem__)


def _generator(seed: int, article: PreparedArticle, n: int) -> np.random.Generator:
    """Make the generator of a text's draws. Its seed does not depend on the dataset."""
    text = article.segmented.article.text.encode("utf-8", "surrogatepass")
    return np.random.default_rng([seed, int.from_bytes(hashlib.sha256(text).digest()[:8], "big"), n])


def _anchor(policies: Policies, article: PreparedArticle, decoding: Decoding) -> str:
    if decoding.anchor == "lead":
        return first_sentences(article.segmented, decoding.anchor_sentences)
    with torch.no_grad():
        best = falling(policies.sentence_logits(article).numpy())[: decoding.anchor_sentences].tolist()
    return " ".join(article.segmented.sentences[index].text for index in sorted(best))
