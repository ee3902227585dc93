"""The plan of a sweep. It makes the sweep's two halves: one that cuts articles, and one that summarises them.

A plan travels to every process of a run, so this module imports nothing that takes long. Each half loads its own
libraries where it runs, and a driver loads none of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import EmptyArticleError
from core.metrics.config import MetricsConfig
from core.models import ModelRef
from core.precision import Precision
from core.summarizers.endpoint import Endpoint
from core.summarizers.generators import Generator
from core.summarizers.systems import System
from core.text.language import Language, require_language
from core.text.language_data import require_same_data
from core.text.limits import require_summary_length
from core.types import Article, SegmentedArticle, SystemKind

if TYPE_CHECKING:
    from core.sweep import Sweeper


NO_SEGMENTS = ""
"""The pipeline of a plan whose systems read neither sentences nor chunks."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that decides the numbers of a sweep: extractive systems, or one generator.

    Attributes:
        language: of all articles and references.
        pipeline: the resolved segmentation: a spaCy pipeline, `blank` or `kiwi`; `NO_SEGMENTS` where articles are
            only checked.
        encoders: resolved models, by whose names the systems ask for embeddings.
        systems: what summarises segments. A plan with a generator has none.
        generator: a generator with its model resolved, or an endpoint.
        lengths: the values of n.
        metrics: options of the standard metrics.
        seed: of whatever is drawn at random.
        precision: what encoders compute in. The BERTScore backbone has its own in `metrics`; generators choose theirs.
        language_data: hashes of the files by which texts are cut and tokenized, see `core.text.language_data`. Both
            halves refuse others.
    """

    language: Language
    pipeline: str
    encoders: tuple[ModelRef, ...]
    systems: tuple[System, ...]
    lengths: tuple[int, ...]
    metrics: MetricsConfig
    seed: int
    generator: Generator | Endpoint | None = None
    precision: Precision = "float32"
    language_data: tuple[tuple[str, str], ...] = ()

    @property
    def kinds(self) -> dict[str, SystemKind]:
        """What each system is, by its signature, the generator last."""
        generated: dict[str, SystemKind] = {} if self.generator is None else {self.generator.signature: "system"}
        return {system.signature: system.kind for system in self.systems} | generated

    @property
    def signatures(self) -> tuple[str, ...]:
        """Of every system, the generator's last."""
        return tuple(self.kinds)

    @property
    def summaries_per_article(self) -> int:
        """One summary of each length by every system, and one more by each system with uncut summaries."""
        uncut = sum(system.has_uncut for system in self.systems)
        uncut += self.generator is not None and self.generator.has_uncut
        return len(self.signatures) * len(self.lengths) + uncut

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every model that a worker loads."""
        generated = () if self.generator is None else self.generator.models
        return (*self.encoders, *generated, self.metrics.bertscore.model)

    @property
    def to_segment(self) -> "SweepPlan":
        """The part of the plan that the cutting half needs. It travels with every bundle, so it has no predictions."""
        return replace(self, systems=()) if self.pipeline == NO_SEGMENTS else self


def make_segmenter(plan: SweepPlan) -> Callable[[Article], SegmentedArticle]:
    """What cuts an article for the sweep, see `checked`.

    For a generator or for predictions alone, which need no segments, an article is only checked.
    """
    from core.text.segmentation import Segmenter, unsegmented  # and with it spaCy, which who summarises does not need

    require_same_data(dict(plan.language_data))
    return checked(plan.language, Segmenter(plan.pipeline) if plan.to_segment.systems else unsegmented)


def checked(
    language: Language, segment: Callable[[Article], SegmentedArticle]
) -> Callable[[Article], SegmentedArticle]:
    """`segment`, refusing an article that cannot be summarised or scored in `language`.

    Raises (when called): EmptyArticleError, LanguageError, SegmentationError.
    """

    def check_and_segment(article: Article) -> SegmentedArticle:
        if not article.references:
            raise EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no reference summary.")
        for reference in article.references:
            require_summary_length(reference)
        require_language(article, language)
        return segment(article)

    return check_and_segment


def make_sweeper(plan: SweepPlan, device: str, memory_fraction: float | None = None) -> "Sweeper":
    """A sweeper on `device`, see `core.sweep.take_share`."""
    from core.device import find_device
    from core.sweep import Sweeper, take_share

    require_same_data(dict(plan.language_data))
    take_share(device, memory_fraction)
    return Sweeper(plan, find_device(device))
