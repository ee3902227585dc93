"""The reward of a summary: BERTScore F1 against the reference, content kept, fluency, or a weighted mean of metrics.

This module also has what REINFORCE (Williams 1992) computes from rewards: advantages, and the loss of a policy.

`article_similarity` is BERTScore F1 against the article's own first sentences, as in reranking. Together with fluency,
it is a reward that reads no reference. Schumann et al. 2020 ("Discrete Optimization for Unsupervised Sentence
Summarization with Word-Level Extraction") and Ghalandari et al. 2022 ("Efficient Unsupervised Sentence Compression by
Fine-tuning Transformers with Reinforcement Learning") have similar rewards.

On a CPU, a reward depends only on the article and the text, to the last bit. It does not matter what else is scored at
the same time, how many workers there are, or whether the reward was remembered. To ensure that, BERTScore and the
language model of fluency read texts together only if they have the same number of tokens. On a GPU, they read the texts
of one article in as few padded passes as possible. There a reward may depend on the article's other texts by rounding,
but not on which articles a worker has. Policies are trained on the advantage, see `nws.core.episodes`.
"""

import functools
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import torch

from nws.core.article import Article, SegmentedArticle
from nws.core.learning.sampling import Rollouts
from nws.core.learning.training_config import (
    ANCHOR_SENTENCES,
    ARTICLE_SIMILARITY,
    BERTSCORE,
    FLUENCY,
    ReinforceConfig,
    RewardConfig,
)
from nws.core.metrics.bertscore import BertScorer, ReferenceScorer
from nws.core.metrics.config import Options
from nws.core.metrics.fluency import FluencyScorer
from nws.core.metrics.kept import Panel, by_dataset, draw_distractors, first_references, kept
from nws.core.metrics.metric import FloatArray, Metric, Row, remembered
from nws.core.metrics.registry import NEED_SOURCE, make_metric
from nws.core.metrics.specs import KEPT_SPEC
from nws.core.systems.composition import first_sentences

# A function from (article, summary) pairs to their rewards.
Reward = Callable[[Sequence[tuple[Article, str]]], list[float]]
# A function from an article to the texts that its summaries are compared with.
References = Callable[[Article], Sequence[str]]
# Articles, each with its summaries.
Groups = Sequence[tuple[Article, Sequence[str]]]
# Rewards that differ by less count as equal: the difference is rounding, which normalising must not enlarge.
_SMALLEST_DEVIATION = 1e-6


def make_reward(
    config: RewardConfig,
    device: torch.device,
    panels: Sequence[Panel] = (),
    segment: Callable[[Article], SegmentedArticle] | None = None,
) -> Reward:
    """Make the reward of a configuration, which remembers its values. Loads the models.

    Content kept needs `panels`, one for each dataset. Similarity to the article needs `segment`, which segments
    articles as for the policies.

    Raises:
        RecipeError: there is no such metric.
        ModelError: BERTScore's backbone cannot be loaded.
    """
    parts: list[tuple[Reward, float]] = []
    models = functools.cache(lambda: BertScorer(config.bertscore, device))
    padded = device.type == "cuda"  # passes with few tokens would leave a GPU idle
    for name, weight in config.weights:
        if name == BERTSCORE:
            parts.append((bertscore_reward(models(), padded), weight))
        elif name == KEPT_SPEC.name:
            parts.append((kept_reward(models(), padded, panels), weight))
        elif name == ARTICLE_SIMILARITY and segment is not None:
            parts.append((article_similarity(models(), padded, segment), weight))
        elif name == FLUENCY and config.fluency is not None:
            parts.append((fluency_reward(config.fluency.load(device), padded), weight))
        else:
            parts.append((metric_reward(make_metric(name, Options(lang=config.language))), weight))
    return remembered(parts[0][0] if len(parts) == 1 else weighted_mean(parts))


def bertscore_reward(
    scorer: BertScorer, padded: bool = False, references: References = lambda article: article.references
) -> Reward:
    """Make the reward BERTScore F1 against the best reference; 0 if the text or every reference is empty.

    A reward does not depend on the other articles of a call, and so not on the number of workers.

    Args:
        scorer: the scorer with its backbone.
        padded: see `ReferenceScorer`, whose groups are articles.
        references: a function that returns the texts to compare summaries with.
    """
    against = ReferenceScorer(scorer, padded)

    def measure(groups: Groups) -> list[list[float]]:
        scores = against.scores([(references(article), texts) for article, texts in groups])
        return [[score.f1 for score in of_article] for of_article in scores]

    return by_article(measure)


def kept_reward(scorer: BertScorer, padded: bool, panels: Sequence[Panel]) -> Reward:
    """Make the reward content kept of the first reference, as in sweeps (`nws.core.metrics.kept`).

    Args:
        scorer: the scorer with its backbone.
        padded: see `ReferenceScorer`, whose groups are articles.
        panels: the panel of each dataset. Without other articles in it, the reward is 0, as for an empty text.
    """
    against = ReferenceScorer(scorer, padded)
    of_dataset = by_dataset(panels)

    @functools.cache
    def references(article: Article) -> tuple[str, ...]:
        """Return the article's first reference, then those of its other articles."""
        drawn = draw_distractors(article, of_dataset[article.dataset])
        return (article.references[0], *(other.references[0] for other in drawn))

    @functools.cache
    def idf(dataset: str) -> FloatArray:
        return scorer.idf(first_references(of_dataset[dataset]))

    def measure(groups: Groups) -> list[list[float]]:
        measured = [(article, texts) for article, texts in groups if len(references(article)) > 1]
        idfs = [idf(article.dataset) for article, _ in measured]
        recalls = against.recalls([(references(article), texts) for article, texts in measured], idfs)
        values = {
            article: [kept(row) for row in rows.tolist()] for (article, _), rows in zip(measured, recalls, strict=True)
        }
        return [values.get(article) or [0.0] * len(texts) for article, texts in groups]

    return by_article(measure)


def article_similarity(scorer: BertScorer, padded: bool, segment: Callable[[Article], SegmentedArticle]) -> Reward:
    """Make the reward BERTScore F1 against the article's first sentences, found by `segment`. Reads no reference."""
    anchor = functools.cache(lambda article: (first_sentences(segment(article), ANCHOR_SENTENCES),))
    return bertscore_reward(scorer, padded, anchor)


def metric_reward(metric: Metric) -> Reward:
    """Make the reward of a metric of the registry, which scores each summary by itself."""
    part = metric.parts.index("f1") if "f1" in metric.parts else 0
    needs_source = metric.name in NEED_SOURCE

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        rows = [Row(text, article.references, article.text if needs_source else None) for article, text in summaries]
        statistics = metric.statistics(rows)
        return [float(metric.score(statistics[i : i + 1])[part]) for i in range(len(rows))]

    return reward


def fluency_reward(scorer: FluencyScorer, padded: bool) -> Reward:
    """Make the reward SLOR of each summary, in nats per token. If padded, articles are scored one by one."""
    if padded:
        return by_article(lambda groups: [scorer.score([("", text) for text in texts]) for _, texts in groups])
    return lambda summaries: scorer.score([("", text) for _, text in summaries])


def by_article(measure: Callable[[Groups], list[list[float]]]) -> Reward:
    """Make a reward of `measure`, which gets all texts of an article together."""

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        places: dict[Article, list[int]] = {}
        for i, (article, _) in enumerate(summaries):
            places.setdefault(article, []).append(i)
        values = measure([(article, [summaries[i][1] for i in of_article]) for article, of_article in places.items()])
        by_place = dict(zip(itertools.chain(*places.values()), itertools.chain(*values), strict=True))
        return [by_place[i] for i in range(len(summaries))]

    return reward


def weighted_mean(parts: Sequence[tuple[Reward, float]]) -> Reward:
    """Make the weighted mean of several rewards."""
    weights = np.array([weight for _, weight in parts])

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        values = np.array([part(summaries) for part, _ in parts]).reshape(len(parts), len(summaries))
        mean: list[float] = (weights @ values / weights.sum()).tolist()
        return mean

    return reward


def advantage_baselines(rewards: FloatArray, config: ReinforceConfig) -> FloatArray:
    """Return the values that the k rewards are compared with, (k,)."""
    if config.advantage_baseline == "none":
        return np.zeros_like(rewards)
    others: FloatArray = (rewards.sum() - rewards) / (len(rewards) - 1)
    return others


def advantages(rewards: FloatArray, baselines: FloatArray, normalise: bool) -> FloatArray:
    """Return rewards minus baselines, (k,), divided by their standard deviation if normalised (0 if all are equal)."""
    difference = rewards - baselines
    if not normalise:
        return difference
    deviation = difference.std()
    return difference / deviation if deviation > _SMALLEST_DEVIATION else np.zeros_like(difference)


def policy_loss(rollouts: Rollouts, advantage: FloatArray) -> torch.Tensor:
    """Return -mean(advantage · log-probability), whose gradient is the negated policy gradient of these episodes."""
    return -(torch.from_numpy(advantage) * rollouts.log_probability).mean()
