"""The standard metrics, those that are columns of the store, of many summaries at once."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch

from core.metrics.bertscore import AnchorScorer, BertScorer
from core.metrics.rouge import Rouge
from core.metrics.specs import as_columns
from core.metrics.surface import SOURCE_METRICS, efficiency
from core.sweep_plan import MetricsConfig
from core.text.words import count_words
from core.types import Article, Score


class StandardMetrics:
    """Scores summaries with every standard metric; the BERTScore backbone is loaded once."""

    def __init__(self, config: MetricsConfig, device: torch.device) -> None:
        self._bertscore = BertScorer(config.bertscore, device)
        self._rouge = Rouge(config.rouge)

    @property
    def tokens(self) -> int:
        """How many tokens the BERTScore backbone has read, without padding."""
        return self._bertscore.tokens

    def anchor_scorer(self) -> AnchorScorer:
        """BERTScore against other texts than references, with the same backbone and a memory of its own."""
        return AnchorScorer(self._bertscore)

    def score(
        self,
        summaries: Sequence[tuple[Article, str]],
        known: Mapping[tuple[Article, str], Score] = MappingProxyType({}),
    ) -> list[Mapping[str, float]]:
        """Scores by column of each (article, summary text), all embedded together; equal pairs are scored once.

        Args:
            summaries: what to score.
            known: BERTScores that were computed before.
        """
        unique = list(dict.fromkeys(summaries))
        new = [pair for pair in unique if pair not in known]
        bertscores = self._bertscore.begin([(text, article.references) for article, text in new])
        # What needs no model, while a GPU works.
        rouge = {(article, text): self._rouge.score(text, article.references) for article, text in unique}
        words = {text: count_words(text) for _, text in unique}
        from_article = {
            (article, text): {metric.name: metric.measure(text, article.text) for metric in SOURCE_METRICS}
            for article, text in unique
        }
        by_bertscore = {**dict(zip(new, bertscores(), strict=True)), **known}
        scores = {
            pair: as_columns(
                {
                    "bertscore": by_bertscore[pair],
                    "rouge1": rouge[pair]["rouge1"],
                    "rouge2": rouge[pair]["rouge2"],
                    "rougel": rouge[pair]["rougeL"],
                    "efficiency": efficiency(by_bertscore[pair].f1, words[pair[1]]),
                    **from_article[pair],
                }
            )
            for pair in unique
        }
        return [scores[summary] for summary in summaries]
