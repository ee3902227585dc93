"""Summaries of articles that have no reference, by a baseline or a generator: nothing is scored."""

import functools
from collections.abc import Sequence

import torch

from core.metrics.bertscore import AnchorScorer, BertScorer
from core.summarizers.encoders import load_encoder
from core.sweep import Written, embed, generated, load_generator_of, write
from core.sweep_plan import SweepPlan
from core.types import Article, SegmentedArticle


class ArticleWriter:
    """Holds the models of a plan, loaded once.

    Args:
        plan: of systems none of which reads references, or of a generator.
        device: where models compute.

    Raises:
        ModelError: a model cannot be loaded.
    """

    def __init__(self, plan: SweepPlan, device: torch.device) -> None:
        self._plan, self._device = plan, device
        self._encoders = {ref.name: load_encoder(ref, device, plan.precision).begin for ref in plan.encoders}
        self._generate = None if plan.generator is None else load_generator_of(plan, plan.generator, device)

    def write(self, bundle: Sequence[SegmentedArticle]) -> list[Written]:
        """A draft of each article at each n, by article, then n."""
        if self._plan.generator is not None and self._generate is not None:
            of_plan = self._plan.generator, self._plan.lengths, self._plan.length_unit
            return generated(bundle, self._generate, *of_plan)

        @functools.cache
        def scorer() -> AnchorScorer:
            return AnchorScorer(self._bertscore)

        def anchored(anchor: str, texts: Sequence[str]) -> list[float]:
            return scorer()(anchor, texts)

        documents = embed(bundle, self._encoders, _no_reference, anchored, length_unit=self._plan.length_unit)
        return write(documents, self._plan)

    @functools.cached_property
    def _bertscore(self) -> BertScorer:  # few systems compare with the article's first sentences
        return BertScorer(self._plan.metrics.bertscore, self._device)


def _no_reference(article: Article, texts: Sequence[str]) -> list[float]:
    raise AssertionError(f"a system asked for the references of {article.key!r}, which has none")
