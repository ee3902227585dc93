"""The reward of a summary: BERTScore F1 against the reference, content kept, fluency, or a weighted mean of metrics.

`article_similarity` is BERTScore F1 against the article's own first sentences, as reranking has it. With fluency it is
a reward that reads no reference (Schumann et al. 2020, "Discrete Optimization for Unsupervised Sentence Summarization
with Word-Level Extraction", and Ghalandari et al. 2022, "Efficient Unsupervised Sentence Compression by Fine-tuning
Transformers with Reinforcement Learning", have others of this kind).

On a CPU a reward depends on the article and the text alone, to the last bit. It does not matter what else is scored
with it, how many workers there are, or whether it comes from memory. To ensure that, BERTScore and the language model
of fluency read texts together only if they have the same number of tokens. On a GPU they read those of one article in
as few padded passes as they can: there a reward depends on the article's other texts by rounding, but not on which
articles a worker has. What policies are trained on is its advantage, normalised or not: `nws.core.episodes`.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np
import torch

from nws.core.article import Article, SegmentedArticle
from nws.core.learning.training_config import ANCHOR_SENTENCES, ARTICLE_SIMILARITY, BERTSCORE, FLUENCY, RewardConfig
from nws.core.metrics.bertscore import BertScorer, ReferenceScorer
from nws.core.metrics.config import Options
from nws.core.metrics.fluency import FluencyScorer
from nws.core.metrics.kept import Panel, first_references, kept, others
from nws.core.metrics.metric import FloatArray, Metric, Row
from nws.core.metrics.registry import NEED_SOURCE, make_metric
from nws.core.metrics.specs import KEPT
from nws.core.systems.composition import first_sentences
from nws.core.types import Score

# From (article, summary) pairs to their rewards.
Reward = Callable[[Sequence[tuple[Article, str]]], list[float]]
# What summaries of an article are matched with.
References = Callable[[Article], Sequence[str]]


def make_reward(
    config: RewardConfig,
    device: torch.device,
    panels: Sequence[Panel] = (),
    segment: Callable[[Article], SegmentedArticle] | None = None,
) -> Reward:
    """The reward of a configuration, with a memory of its own, and the models loaded.

    Content kept is measured with `panels`, one for each dataset. Similarity to the article needs `segment`, which cuts
    one as the policies see it.

    Raises:
        RecipeError: there is no such metric.
        ModelError: BERTScore's backbone cannot be loaded.
    """
    parts: list[tuple[Reward, float]] = []
    models = functools.cache(lambda: BertScorer(config.bertscore, device))
    padded = device.type == "cuda"  # a pass of few tokens leaves a GPU idle
    for name, weight in config.weights:
        if name == BERTSCORE:
            parts.append((bertscore_reward(models(), padded), weight))
        elif name == KEPT.name:
            parts.append((kept_reward(models(), padded, panels), weight))
        elif name == ARTICLE_SIMILARITY and segment is not None:
            parts.append((article_similarity(models(), padded, segment), weight))
        elif name == FLUENCY and config.fluency is not None:
            parts.append((fluency_reward(config.fluency.load(device), padded), weight))
        else:
            parts.append((metric_reward(make_metric(name, Options(lang=config.language))), weight))
    return Memoised(parts[0][0] if len(parts) == 1 else weighted_mean(parts))


def bertscore_reward(
    scorer: BertScorer, padded: bool = False, references: References = lambda article: article.references
) -> Reward:
    """BERTScore F1 against the best reference; 0 for an empty text, or where every reference is empty.

    A reward does not depend on which other articles are in the same call, so it does not on the number of workers.

    Args:
        scorer: with its backbone.
        padded: see `ReferenceScorer`, whose groups are articles.
        references: what summaries of an article are matched with.
    """
    against = ReferenceScorer(scorer, padded)

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        return [max((score.f1 for score in scores), default=0.0) for scores in _scores(against, references, summaries)]

    return reward


def kept_reward(scorer: BertScorer, padded: bool, panels: Sequence[Panel]) -> Reward:
    """Content kept of the first reference, as sweeps measure it (`nws.core.metrics.kept`).

    Args:
        scorer: with its backbone.
        padded: see `ReferenceScorer`, whose groups are articles.
        panels: one for each dataset. Who has no others there gets 0, as does an empty text.
    """
    against = ReferenceScorer(scorer, padded)
    by_dataset = {panel.dataset: panel for panel in panels}

    @functools.cache
    def references(article: Article) -> tuple[str, ...]:
        """The article's first, then those of its others."""
        panel = by_dataset.get(article.dataset)
        drawn = () if panel is None else others(article, panel)
        return (article.references[0], *(other.references[0] for other in drawn))

    @functools.cache
    def idf(dataset: str) -> FloatArray:
        return scorer.idf(first_references(by_dataset[dataset]))

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        by_article = {one: at for one, at in _by_article(summaries).items() if len(references(one)) > 1}
        groups = [(references(article), [summaries[i][1] for i in places]) for article, places in by_article.items()]
        recalls = against.recalls(groups, [idf(article.dataset) for article in by_article])
        values = np.zeros(len(summaries))
        for places, of_article in zip(by_article.values(), recalls, strict=True):
            values[places] = [kept(row) for row in of_article.tolist()]
        found: list[float] = values.tolist()
        return found

    return reward


def article_similarity(scorer: BertScorer, padded: bool, segment: Callable[[Article], SegmentedArticle]) -> Reward:
    """BERTScore F1 against the article's first sentences, which `segment` finds. It reads no reference."""
    anchor = functools.cache(lambda article: (first_sentences(segment(article), ANCHOR_SENTENCES),))
    return bertscore_reward(scorer, padded, anchor)


def _scores(
    against: ReferenceScorer, references: References, summaries: Sequence[tuple[Article, str]]
) -> list[list[Score]]:
    """The scores of each (article, text) against each reference that is not empty; none for an empty text."""
    by_article = _by_article(summaries)
    groups = [(references(article), [summaries[i][1] for i in places]) for article, places in by_article.items()]
    found: list[list[Score]] = [[] for _ in summaries]
    for places, article_scores in zip(by_article.values(), against.scores(groups), strict=True):
        for i, scores in zip(places, article_scores, strict=True):
            found[i] = scores
    return found


def metric_reward(metric: Metric) -> Reward:
    """A metric of the registry, each summary for itself."""
    part = metric.parts.index("f1") if "f1" in metric.parts else 0
    needs_source = metric.name in NEED_SOURCE

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        rows = [Row(text, article.references, article.text if needs_source else None) for article, text in summaries]
        statistics = metric.statistics(rows)
        return [float(metric.score(statistics[i : i + 1])[part]) for i in range(len(rows))]

    return reward


def fluency_reward(scorer: FluencyScorer, padded: bool) -> Reward:
    """SLOR of each summary, in nats a token; padded, those of each article for themselves."""

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        values = np.zeros(len(summaries))
        for group in _by_article(summaries).values() if padded else [range(len(summaries))]:
            values[group] = scorer.score([("", summaries[i][1]) for i in group])
        found: list[float] = values.tolist()
        return found

    return reward


def _by_article(summaries: Sequence[tuple[Article, str]]) -> dict[Article, list[int]]:
    """The places of each article's summaries."""
    places: dict[Article, list[int]] = {}
    for i, (article, _) in enumerate(summaries):
        places.setdefault(article, []).append(i)
    return places


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
