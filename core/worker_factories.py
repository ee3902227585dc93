"""What a process of a run becomes in a stage: one that cuts articles, that summarises them, or that trains on them.

Each loads its own libraries where it runs, and a driver, which sends these functions, loads none of them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from nws.core.article import Article, SegmentedArticle
from nws.core.errors import EmptyArticleError, EndpointError
from nws.core.stage import Stage
from nws.core.systems.system import SummarizedArticle
from nws.core.text.language import Language, require_language
from nws.core.text.length import require_summary_length
from nws.core.text.segmentation import require_same_data

if TYPE_CHECKING:
    from nws.core.episodes import EpisodeRunner
    from nws.core.sweep import Sweeper


def make_segmenter(stage: Stage) -> Callable[[Article], SegmentedArticle]:
    """The function that cuts an article for a sweep, see `checked`.

    For a generator or for predictions alone, which need no segments, an article is only checked.
    """
    from nws.core.text.segmentation import (  # and with it spaCy, which who summarises does not need
        Segmenter,
        unsegmented,
    )

    require_same_data(dict(stage.language_data))
    segment = Segmenter(stage.pipeline, stage.units, stage.embedder) if stage.to_segment.systems else unsegmented
    return checked(stage.language, segment)


def checked(
    language: Language, segment: Callable[[Article], SegmentedArticle], needs_reference: bool = True
) -> Callable[[Article], SegmentedArticle]:
    """A function that cuts an article by `segment` once it has been found fit to be summarised and scored.

    Args:
        language: of every article and reference.
        segment: cuts one.
        needs_reference: whether an article without a reference is refused.

    Raises:
        EmptyArticleError, LanguageError, SegmentationError: when called, of an article that is unfit.
        EndpointError: likewise, of one that an endpoint has not summarised.
    """

    def check_and_segment(article: Article) -> SegmentedArticle:
        if isinstance(article, SummarizedArticle) and article.error:
            raise EndpointError(article.error)
        if needs_reference and not article.references:
            raise EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no reference summary.")
        for reference in article.references:
            require_summary_length(reference)
        require_language(article, language)
        return segment(article)

    return check_and_segment


def make_sweeper(stage: Stage, device: str, memory_fraction: float | None = None) -> "Sweeper":
    """A sweeper on `device`, see `nws.core.sweep.configure_worker_process`."""
    from nws.core.arithmetic import find_device
    from nws.core.sweep import Sweeper, configure_worker_process

    configure_worker_process(device, memory_fraction)
    require_same_data(dict(stage.language_data))
    return Sweeper(stage, find_device(device))


def make_episode_runner(stage: Stage, device: str, memory_fraction: float | None = None) -> "EpisodeRunner":
    """A runner with its models on `device`, see `nws.core.sweep.configure_worker_process`. Policies run on the CPU.

    Raises:
        ModelError: a model cannot be loaded.
        RecipeError: there is no such metric to reward with.
    """
    from nws.core.arithmetic import find_device
    from nws.core.episodes import EpisodeRunner
    from nws.core.learning.reward import make_reward
    from nws.core.models.encoders import load_encoder
    from nws.core.sweep import configure_worker_process
    from nws.core.text.segmentation import Segmenter

    assert stage.reward is not None
    configure_worker_process(device, memory_fraction)
    require_same_data(dict(stage.language_data))
    torch_device = find_device(device)
    (ref,) = stage.encoders
    encoder = load_encoder(ref, torch_device, stage.precision)
    segment = Segmenter(stage.pipeline, stage.units, ref.name)
    reward = make_reward(stage.reward, torch_device, stage.panels, segment)
    check = checked(stage.language, segment, stage.reward.reads_references)
    return EpisodeRunner(check, encoder.encode, reward, stage.length_unit)
