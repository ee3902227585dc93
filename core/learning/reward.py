"""The reward of a summary: BERTScore F1 against the reference, or a weighted mean of any metrics.

On a CPU a reward depends on the article and the text alone, to the last bit. It does not matter what else is scored
with it, how many workers there are, or whether it comes from memory. To ensure that, BERTScore embeds texts together
only if they have the same number of tokens. On a GPU it embeds all texts of a round in as few padded passes as it can:
there a reward depends on the others by rounding.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.batching import equal_length_batches, token_batches
from core.errors import RecipeError
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig
from core.metrics.metric import Metric, Row
from core.metrics.registry import NEED_SOURCE, Options, make_metric
from core.metrics.token_matching import Matching, TokenVectors
from core.text.language import Language
from core.token_budget import Batches
from core.types import Article

BERTSCORE = "bertscore"
# From (article, summary) pairs to their rewards.
Reward = Callable[[Sequence[tuple[Article, str]]], list[float]]


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """Which reward.

    Attributes:
        bertscore: backbone and layer.
        weights: of each metric by its name in `core.metrics.registry`. The reward is the weighted mean of F1, or of the
            score of a metric that has no F1.
        language: of the articles; it decides the tokenizer of other metrics than BERTScore.

    Raises:
        RecipeError: no metric, a name twice, or a weight that is not above 0.
    """

    bertscore: BertScoreConfig
    weights: tuple[tuple[str, float], ...] = ((BERTSCORE, 1.0),)
    language: Language = "en"

    def __post_init__(self) -> None:
        if not self.weights or any(not weight > 0 for _, weight in self.weights):
            raise RecipeError("A reward needs at least one metric, each with a weight above 0.")
        if len(dict(self.weights)) < len(self.weights):
            raise RecipeError("A metric is twice in the reward: give each one weight.")


def make_reward(config: RewardConfig, device: torch.device) -> Reward:
    """The reward of a configuration, with a memory of its own, and the models loaded.

    Raises:
        RecipeError: there is no such metric.
        ModelError: BERTScore's backbone cannot be loaded.
    """
    parts: list[tuple[Reward, float]] = []
    for name, weight in config.weights:
        if name == BERTSCORE:
            # A pass of few tokens leaves a GPU idle, and the size of a batch may choose the kernel there anyway.
            batches = token_batches if device.type == "cuda" else equal_length_batches
            parts.append((BertScoreReward(BertScorer(config.bertscore, device), batches), weight))
        else:
            parts.append((metric_reward(make_metric(name, Options(lang=config.language))), weight))
    return Memoised(parts[0][0] if len(parts) == 1 else weighted_mean(parts))


def reward_signature(config: RewardConfig) -> str:
    """What a reward is: the signature of its metric, or those of several with their weights.

    Raises:
        RecipeError: there is no such metric.
    """
    others = Options(lang=config.language)
    signatures = {
        name: config.bertscore.signature if name == BERTSCORE else make_metric(name, others).signature
        for name, _ in config.weights
    }
    if len(signatures) == 1:
        return next(iter(signatures.values()))
    return " + ".join(f"{weight:g} * {signatures[name]}" for name, weight in config.weights)


class BertScoreReward:
    """BERTScore F1 against the best reference. References are embedded once.

    Args:
        scorer: with its backbone.
        batches: which texts are embedded together. In batches of one length a reward does not depend on the others.
    """

    def __init__(self, scorer: BertScorer, batches: Batches = equal_length_batches) -> None:
        self._scorer = scorer
        self._batches = batches
        self._references: dict[str, TokenVectors | None] = {}

    def __call__(self, summaries: Sequence[tuple[Article, str]]) -> list[float]:
        """The F1 of each (article, text); 0 for an empty text, or where every reference is empty."""
        self._remember(reference for article, _ in summaries for reference in article.references)
        texts = list(dict.fromkeys(text.strip() for _, text in summaries))
        vectors = dict(zip(texts, self._scorer.embed(texts, self._batches), strict=True))
        rewards = [0.0] * len(summaries)
        indices: dict[Article, list[int]] = {}
        for i, (article, text) in enumerate(summaries):
            if vectors[text.strip()] is not None:
                indices.setdefault(article, []).append(i)
        matched: list[list[int]] = []
        matchings: list[Matching] = []
        for article, summary_indices in indices.items():
            candidates = [tokens for i in summary_indices if (tokens := vectors[summaries[i][1].strip()]) is not None]
            references = [self._references[reference.strip()] for reference in article.references]
            new = [Matching(reference, candidates) for reference in references if reference]
            matchings += new
            matched += [summary_indices] * len(new)
        best: dict[int, float] = {}
        for summary_indices, scores in zip(matched, self._scorer.match_all(matchings), strict=True):
            for i, score in zip(summary_indices, scores, strict=True):
                best[i] = max(score.f1, best.get(i, score.f1))
        for i, f1 in best.items():
            rewards[i] = f1
        return rewards

    def _remember(self, references: Iterable[str]) -> None:
        new = list(dict.fromkeys(r.strip() for r in references if r.strip() not in self._references))
        self._references |= zip(new, self._scorer.embed(new, self._batches), strict=True)


def metric_reward(metric: Metric) -> Reward:
    """A metric of the registry, each summary for itself."""
    part = metric.parts.index("f1") if "f1" in metric.parts else 0
    needs_source = metric.name in NEED_SOURCE

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        rows = [Row(text, article.references, article.text if needs_source else None) for article, text in summaries]
        statistics = metric.statistics(rows)
        return [float(metric.score(statistics[i : i + 1])[part]) for i in range(len(rows))]

    return reward


def weighted_mean(parts: Sequence[tuple[Reward, float]]) -> Reward:
    """The weighted mean of several rewards."""
    weights = np.array([weight for _, weight in parts])

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        values = np.array([part(summaries) for part, _ in parts]).reshape(len(parts), len(summaries))
        mean: list[float] = (weights @ values / weights.sum()).tolist()
        return mean

    return reward


class Memoised:
    """A reward that is asked once for each article and text.

    A text is a line or two, so the memory is not bounded: 100,000 summaries take some 20 MB.
    """

    def __init__(self, reward: Reward) -> None:
        self._reward = reward
        self._known: dict[tuple[str, str], float] = {}

    def __call__(self, summaries: Sequence[tuple[Article, str]]) -> list[float]:
        keys = [(article.id, text) for article, text in summaries]
        new = {key: pair for key, pair in zip(keys, summaries, strict=True) if key not in self._known}
        self._known |= zip(new, self._reward(list(new.values())) if new else [], strict=True)
        return [self._known[key] for key in keys]
