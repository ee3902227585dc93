"""What a process of a run becomes, by the plan of its sweep: one that cuts articles, or one that summarises them.

Each of the two loads its own libraries where it runs, and a driver, which sends these functions, loads none of them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import EmptyArticleError
from core.sweep_plan import SweepPlan
from core.text.language import Language, require_language
from core.text.language_data import require_same_data
from core.text.limits import require_summary_length
from core.types import Article, SegmentedArticle

if TYPE_CHECKING:
    from core.sweep import Sweeper


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
    from core.gpu_arithmetic import find_device
    from core.sweep import Sweeper, take_share

    require_same_data(dict(plan.language_data))
    take_share(device, memory_fraction)
    return Sweeper(plan, find_device(device))
