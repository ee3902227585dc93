"""The stub work, which raises for some articles."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bench import stub_work
from nws.cluster.article_work import Sweeper, Work
from nws.core.article import Article, SegmentedArticle
from nws.core.stage import Stage
from nws.core.types import Summary
from nws.jobs.drive.pools import MakeWork


def failing_work(fails: Callable[[Article], bool], error: type[Exception], message: str) -> MakeWork:
    """Its sweeper raises for articles that fail; `{key}` in the message becomes the article's."""

    def sweep(real: Sweeper, bundle: Sequence[SegmentedArticle]) -> list[Summary]:
        for segmented in bundle:
            if fails(segmented.article):
                raise error(message.format(key=segmented.article.key))
        return real(bundle)

    def work(stage: Stage, device: str, fraction: float | None) -> Work:
        real = stub_work.work(stage, device, fraction)
        return replace(real, make_sweeper=lambda: partial(sweep, real.make_sweeper()))

    return work
