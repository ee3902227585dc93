"""What a process of a run becomes by its plan: one that cuts articles, that summarises them, or that trains on them.

Each loads its own libraries where it runs, and a driver, which sends these functions, loads none of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import EmptyArticleError
from core.metrics.panel import Panel
from core.models import ModelRef
from core.precision import Precision
from core.sweep_plan import SweepPlan
from core.text.cutting import Units
from core.text.language import Language, require_language
from core.text.language_data import require_same_data
from core.text.length import LengthUnit, require_summary_length
from core.types import Article, SegmentedArticle

if TYPE_CHECKING:
    from core.episodes import EpisodeRunner
    from core.learning.reward import RewardConfig
    from core.sweep import Sweeper


def make_segmenter(plan: SweepPlan) -> Callable[[Article], SegmentedArticle]:
    """What cuts an article for the sweep, see `checked`.

    For a generator or for predictions alone, which need no segments, an article is only checked.
    """
    from core.text.segmentation import Segmenter, unsegmented  # and with it spaCy, which who summarises does not need

    require_same_data(dict(plan.language_data))
    segment = Segmenter(plan.pipeline, plan.units) if plan.to_segment.systems else unsegmented
    return checked(plan.language, segment)


def checked(
    language: Language, segment: Callable[[Article], SegmentedArticle], needs_reference: bool = True
) -> Callable[[Article], SegmentedArticle]:
    """`segment`, refusing an article that cannot be summarised in `language` or, unless told, not be scored.

    Raises (when called): EmptyArticleError, LanguageError, SegmentationError.
    """

    def check_and_segment(article: Article) -> SegmentedArticle:
        if needs_reference and not article.references:
            raise EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no reference summary.")
        for reference in article.references:
            require_summary_length(reference)
        require_language(article, language)
        return segment(article)

    return check_and_segment


def make_sweeper(plan: SweepPlan, device: str, memory_fraction: float | None = None) -> "Sweeper":
    """A sweeper on `device`, see `core.sweep.take_share`."""
    from core.arithmetic import find_device
    from core.sweep import Sweeper, take_share

    take_share(device, memory_fraction)
    require_same_data(dict(plan.language_data))
    return Sweeper(plan, find_device(device))


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """Everything that decides an update, besides what the driver sends.

    Attributes:
        language: of all articles and references.
        pipeline: the resolved segmentation.
        encoder: resolved; embeds sentences and chunks.
        reward: what policies are trained on.
        precision: what the encoder computes in. BERTScore, in the reward, has its own.
        language_data: see `core.sweep_plan.SweepPlan`.
        panels: of each dataset that is trained on, where content kept is rewarded.
        units: what a chunk is.
        length_unit: what the n of summaries count.
    """

    language: Language
    pipeline: str
    encoder: ModelRef
    reward: "RewardConfig"
    precision: Precision = "float32"
    language_data: tuple[tuple[str, str], ...] = ()
    panels: tuple[Panel, ...] = ()
    units: Units = "chunks"
    length_unit: LengthUnit = "words"

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every model that a runner loads."""
        fluency = self.reward.fluency
        return (self.encoder, self.reward.bertscore.model, *(() if fluency is None else (fluency.model,)))


def make_episode_runner(plan: EpisodePlan, device: str, memory_fraction: float | None = None) -> "EpisodeRunner":
    """A runner with its models on `device`, see `core.sweep.take_share`. Policies always run on the CPU.

    Raises:
        ModelError: a model cannot be loaded.
        RecipeError: there is no such metric to reward with.
    """
    from core.arithmetic import find_device
    from core.episodes import EpisodeRunner
    from core.learning.reward import make_reward
    from core.models.encoders import load_encoder
    from core.sweep import take_share
    from core.text.segmentation import Segmenter

    take_share(device, memory_fraction)
    require_same_data(dict(plan.language_data))
    on = find_device(device)
    encoder = load_encoder(plan.encoder, on, plan.precision)
    segment = Segmenter(plan.pipeline, plan.units)
    reward = make_reward(plan.reward, on, plan.panels, segment)
    check = checked(plan.language, segment, plan.reward.reads_references)
    return EpisodeRunner(check, encoder.encode, reward, plan.length_unit)
