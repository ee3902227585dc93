"""Scores many summaries at once with the standard metrics, which are columns of the store."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import torch

from nws.core.article import Article
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.kept import KeptScorer, Panel, kept, kept_by_kind
from nws.core.metrics.rouge import Rouge
from nws.core.metrics.specs import KEPT_SPEC, KEPT_WORDS, as_columns
from nws.core.metrics.surface import SOURCE_METRICS, efficiency
from nws.core.stage import MetricsConfig
from nws.core.text.length import count_words
from nws.core.types import Score


class StandardMetrics:
    """Scores summaries with every standard metric. The backbone of BERTScore is loaded once.

    Summaries have scores by the metrics `OF_OTHERS` only if there is a panel of their dataset.

    Attributes:
        bertscore: the scorer with the backbone.
        content_kept: the scorer of `OF_OTHERS`.
    """

    def __init__(
        self, config: MetricsConfig, device: torch.device, panels: Sequence[Panel] = (), kinds: str = ""
    ) -> None:
        self.bertscore = BertScorer(config.bertscore, device)
        self._rouge = Rouge(config.rouge)
        self.content_kept = KeptScorer(panels, self.bertscore, self._rouge.tokens, kinds)

    def score(
        self,
        summaries: Sequence[tuple[Article, str]],
        known: Mapping[tuple[Article, str], Score] = MappingProxyType({}),
    ) -> list[Mapping[str, float]]:
        """Return the scores of each (article, summary text) by column.

        All texts are embedded together, and equal pairs are scored once. The scores include the `KIND_TERMS` if kinds
        of words are told.

        Args:
            summaries: the articles and summary texts.
            known: the BERTScores that were computed before.
        """
        unique = list(dict.fromkeys(summaries))
        new = [pair for pair in unique if pair not in known]
        against = self.content_kept.against(article for article, _ in unique)
        # The first reference is usually embedded already, for content kept.
        references = {
            article: (*against.get(article, article.references)[:1], *article.references[1:]) for article, _ in unique
        }
        to_recall: dict[Article, list[str]] = {article: [] for article in against}
        for article, text in unique:
            if article in against:
                to_recall[article].append(text)
        pairs = [(text, references[article]) for article, text in new]
        idf, kinds = self.content_kept.token_idf, self.content_kept.token_kinds
        crossed = [
            (texts, against[article], idf(article.dataset), kinds(article)) for article, texts in to_recall.items()
        ]
        bertscores, recalls = self.bertscore.begin_with_recalls(pairs, crossed)
        # Metrics that need no model are computed while a GPU works.
        from_text = []
        for article, text in unique:  # in one loop, since ROUGE remembers the tokens of the last texts
            rouge = self._rouge.score(text, article.references)
            own: dict[str, Score | float] = {name.lower(): score for name, score in rouge.items()}
            own |= {name: measure(text, article.text) for name, measure in SOURCE_METRICS.items()}
            kept_words = {KEPT_WORDS.column: self.content_kept.words(article, text)} if article in against else {}
            from_text.append((own, kept_words, count_words(text)))
        by_bertscore = {**dict(zip(new, bertscores(), strict=True)), **known}
        recalled = {
            (article, text): np.split(row, [len(against[article])])
            for (article, texts), rows in zip(to_recall.items(), recalls(), strict=True)
            for text, row in zip(texts, rows, strict=True)
        }
        columns = {}
        for pair, (own, kept_words, words) in zip(unique, from_text, strict=True):
            bertscore = by_bertscore[pair]
            scores = as_columns({"bertscore": bertscore, "efficiency": efficiency(bertscore.f1, words), **own})
            if kept_words:
                recall, by_kind = recalled[pair]
                scores |= {KEPT_SPEC.column: kept(recall.tolist())} | kept_words | kept_by_kind(by_kind)
            columns[pair] = scores
        return [columns[summary] for summary in summaries]
