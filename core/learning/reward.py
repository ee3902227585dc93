"""The reward of a summary: BERTScore F1 against the reference, content kept, fluency, or a weighted mean of metrics.

`article_similarity` is BERTScore F1 against the article's own first sentences, as reranking has it. With fluency it is
a reward that reads no reference (Schumann et al. 2020, "Discrete Optimization for Unsupervised Sentence Summarization
with Word-Level Extraction", and Ghalandari et al. 2022, "Efficient Unsupervised Sentence Compression by Fine-tuning
Transformers with Reinforcement Learning", have others of this kind).

On a CPU a reward depends on the article and the text alone, to the last bit. It does not matter what else is scored
with it, how many workers there are, or whether it comes from memory. To ensure that, BERTScore and the language model
of fluency read texts together only if they have the same number of tokens. On a GPU they read those of one article in
as few padded passes as they can: there a reward depends on the article's other texts by rounding, but not on which
articles a worker has. What policies are trained on is its advantage, normalised or not: `core.episodes`.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.errors import RecipeError
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig, Options
from core.metrics.fluency import Fluency, FluencyScorer
from core.metrics.kept import KEPT_SIGNATURE, Panel, kept, others
from core.metrics.metric import Metric, Row
from core.metrics.registry import NEED_SOURCE, make_metric
from core.metrics.specs import KEPT
from core.metrics.token_matching import Matching, TokenVectors
from core.models.batching import equal_length_batches, token_batches
from core.systems.composition import first_sentences
from core.text.language import Language
from core.types import Article, Score, SegmentedArticle

BERTSCORE = "bertscore"
FLUENCY = "fluency"
ARTICLE_SIMILARITY = "article_similarity"
OWN_REWARDS = (BERTSCORE, KEPT.name, FLUENCY, ARTICLE_SIMILARITY)
"""What is no metric of the registry here, or another one: it has the run's models."""
NO_REFERENCE_READ = "|no reference is read"
"""With what the signature of a reward ends that needs none."""
_ANCHOR_SENTENCES = 3
_READ_NO_REFERENCE = {ARTICLE_SIMILARITY, FLUENCY, *NEED_SOURCE}
# From (article, summary) pairs to their rewards.
Reward = Callable[[Sequence[tuple[Article, str]]], list[float]]


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """Which reward.

    Attributes:
        bertscore: backbone and layer.
        weights: above 0, of each metric by its name in `core.metrics.registry`, or `kept`. The reward is the weighted
            mean of F1, or of the score of a metric that has no F1.
        language: of the articles; it decides the tokenizer of other metrics than BERTScore.
        fluency: what `fluency` among the metrics is.

    Raises:
        RecipeError: fluency without its model.
    """

    bertscore: BertScoreConfig
    weights: tuple[tuple[str, float], ...] = ((BERTSCORE, 1.0),)
    language: Language = "en"
    fluency: Fluency | None = None

    def __post_init__(self) -> None:
        if FLUENCY in dict(self.weights) and self.fluency is None:
            raise RecipeError("Fluency is part of the reward: name the causal language model that computes it.")

    @property
    def reads_references(self) -> bool:
        """Whether any of the metrics does."""
        return not _READ_NO_REFERENCE.issuperset(dict(self.weights))


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
            parts.append((BertScoreReward(models(), padded), weight))
        elif name == KEPT.name:
            parts.append((KeptReward(models(), padded, panels), weight))
        elif name == ARTICLE_SIMILARITY and segment is not None:
            parts.append((ArticleSimilarity(models(), padded, segment), weight))
        elif name == FLUENCY and config.fluency is not None:
            parts.append((fluency_reward(config.fluency.load(device), padded), weight))
        else:
            parts.append((metric_reward(make_metric(name, Options(lang=config.language))), weight))
    return Memoised(parts[0][0] if len(parts) == 1 else weighted_mean(parts))


def reward_signature(config: RewardConfig) -> str:
    """What a reward is: the signature of its metric, or those of several with their weights.

    Raises:
        RecipeError: there is no such metric.
    """
    own = {
        BERTSCORE: config.bertscore.signature,
        KEPT.name: f"{KEPT.name}|{KEPT_SIGNATURE}|R:recall of {config.bertscore.signature}",
    }
    if config.fluency is not None:
        own[FLUENCY] = config.fluency.signature
    anchor = f"anchor:the article's first {_ANCHOR_SENTENCES} sentences"
    own[ARTICLE_SIMILARITY] = f"{ARTICLE_SIMILARITY}|{anchor}|F1:{config.bertscore.signature}"
    others = Options(lang=config.language)
    signatures = {name: own[name] if name in own else make_metric(name, others).signature for name, _ in config.weights}
    said = "" if config.reads_references else NO_REFERENCE_READ
    if len(signatures) == 1:
        return next(iter(signatures.values())) + said
    return " + ".join(f"{weight:g} * {signatures[name]}" for name, weight in config.weights) + said


class BertScoreReward:
    """BERTScore F1 against the best reference. References are embedded once.

    A reward does not depend on which other articles are in the same call, so it does not on the number of workers.

    Args:
        scorer: with its backbone.
        padded: False embeds the texts of all articles together, in batches of one length. True embeds those of each
            article for themselves, in larger batches that are padded: these keep a GPU busier.
    """

    def __init__(self, scorer: BertScorer, padded: bool = False) -> None:
        self._scorer = scorer
        self._padded = padded
        self._references: dict[str, TokenVectors | None] = {}

    def __call__(self, summaries: Sequence[tuple[Article, str]]) -> list[float]:
        """The F1 of each (article, text); 0 for an empty text, or where every reference is empty."""
        return [max((score.f1 for score in scores), default=0.0) for scores in self.scores(summaries)]

    def references(self, article: Article) -> tuple[str, ...]:
        """What summaries of an article are matched with."""
        return article.references

    def scores(self, summaries: Sequence[tuple[Article, str]]) -> list[list[Score]]:
        """The scores of each (article, text) against each reference that is not empty; none for an empty text."""
        by_article = _by_article(summaries)
        vectors = self._embedded(summaries, by_article)
        matched: list[list[int]] = []
        matchings: list[Matching] = []
        for article, indices in by_article.items():
            filled = [i for i in indices if vectors[i] is not None]
            candidates = [tokens for i in filled if (tokens := vectors[i]) is not None]
            references = [self._references[reference.strip()] for reference in self.references(article)]
            new = [Matching(reference, candidates) for reference in references if reference and candidates]
            matchings += new
            matched += [filled] * len(new)
        found: list[list[Score]] = [[] for _ in summaries]
        for indices, scores in zip(matched, self._scorer.match_all(matchings), strict=True):
            for i, score in zip(indices, scores, strict=True):
                found[i].append(score)
        return found

    def _embedded(
        self, summaries: Sequence[tuple[Article, str]], by_article: Mapping[Article, Sequence[int]]
    ) -> list[TokenVectors | None]:
        """The token vectors of each summary. References are embedded, too, where they were not before."""
        vectors: list[TokenVectors | None] = [None] * len(summaries)
        for group in by_article.values() if self._padded else [range(len(summaries))]:
            articles = dict.fromkeys(summaries[i][0] for i in group)
            references = dict.fromkeys(r.strip() for article in articles for r in self.references(article))
            new = [text for text in references if text not in self._references]
            # Padded, each has a pass of its own: an article's others may be known from another article, or not.
            for together in [[text] for text in new] if self._padded else [new]:
                self._references |= zip(together, self._embed(together), strict=True)
            texts = list(dict.fromkeys(summaries[i][1].strip() for i in group))
            embedded = dict(zip(texts, self._embed(texts), strict=True))
            for i in group:
                vectors[i] = embedded[summaries[i][1].strip()]
        return vectors

    def _embed(self, texts: Sequence[str]) -> list[TokenVectors | None]:
        return self._scorer.embed(texts, token_batches if self._padded else equal_length_batches)


class KeptReward(BertScoreReward):
    """Content kept of the first reference, by recall of BERTScore, as sweeps measure it (`core.metrics.kept`).

    Args:
        scorer: with its backbone.
        padded: see `BertScoreReward`.
        panels: one for each dataset. Who has no others there gets 0.
    """

    def __init__(self, scorer: BertScorer, padded: bool, panels: Sequence[Panel]) -> None:
        super().__init__(scorer, padded)
        self._panels = {panel.dataset: panel for panel in panels}
        self._others: dict[str, tuple[str, ...]] = {}

    def __call__(self, summaries: Sequence[tuple[Article, str]]) -> list[float]:
        """What each (article, text) keeps; 0 for an empty text."""
        return [
            kept([score.recall for score in scores]) if len(scores) == len(self.references(article)) > 1 else 0.0
            for (article, _), scores in zip(summaries, self.scores(summaries), strict=True)
        ]

    def references(self, article: Article) -> tuple[str, ...]:
        """The article's first, then those of its others."""
        if article.id not in self._others:
            panel = self._panels.get(article.dataset)
            drawn = () if panel is None else others(article, panel)
            self._others[article.id] = tuple(other.references[0] for other in drawn)
        return (article.references[0], *self._others[article.id])


class ArticleSimilarity(BertScoreReward):
    """BERTScore F1 against the article's first sentences. It reads no reference.

    Args:
        scorer: with its backbone.
        padded: see `BertScoreReward`.
        segment: cuts an article.
    """

    def __init__(self, scorer: BertScorer, padded: bool, segment: Callable[[Article], SegmentedArticle]) -> None:
        super().__init__(scorer, padded)
        self._segment = segment
        self._anchors: dict[str, str] = {}

    def references(self, article: Article) -> tuple[str, ...]:
        """The anchor alone."""
        if article.id not in self._anchors:
            self._anchors[article.id] = first_sentences(self._segment(article), _ANCHOR_SENTENCES)
        return (self._anchors[article.id],)


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
    """SLOR of each summary, in nats a token; padded, those of each article for themselves, as in `BertScoreReward`."""

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
