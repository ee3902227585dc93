"""Content kept of summaries that lack it: those that were copied from a run with other articles.

Their texts are scored again, and nothing else of them changes.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from core.metrics.panel import Panel, others
from core.metrics.specs import KEPT
from core.summarizers.systems import Draft, Stored, SummarizedArticle
from core.sweep_plan import NO_SEGMENTS, SweepPlan
from jobs.drive.pool_watch import PoolWatch, look_at_sources
from jobs.drive.pools import Pools
from jobs.drive.progress_bar import run_progress
from jobs.drive.run import Run
from jobs.plan.pinned import Pinned
from jobs.store import ArticleTexts, Store


def lacking_kept(store: Store, run_id: str) -> list[str]:
    """The ids of the articles with summaries that lack content kept."""
    return store.articles_without(run_id, KEPT.column)


def plan_of_kept(pinned: Pinned, panels: tuple[Panel, ...] = ()) -> SweepPlan:
    """What scores the texts of a run's systems again."""
    plan = pinned.stages[0].plan
    systems = tuple(map(Stored, pinned.systems))
    metrics = replace(plan.metrics, plugins=())
    return replace(
        plan, pipeline=NO_SEGMENTS, encoders=(), systems=systems, generator=None, metrics=metrics, panels=panels
    )


def score_kept(
    run: Run, pinned: Pinned, panels: tuple[Panel, ...], lacking: Sequence[str], pools: Pools, console: Console
) -> None:
    """Score articles that lack content kept, and store it. One without others, or that fails, is left without.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    panel_of = {panel.dataset: panel for panel in panels}
    bundles = _bundles(run, lacking, panel_of, pinned.recipe.bundle_size)
    first = next(bundles, None)
    if first is None:
        return
    run.say(f"Measuring content kept: {len(lacking)} articles have summaries without it.")
    plan = plan_of_kept(pinned, panels)
    watch = PoolWatch(run, pools.device)
    show = functools.partial(run.show, stage=KEPT.name)
    with (
        pools.open_sweep(plan) as pool,
        run_progress(console, len(lacking), 0, run.note, show) as advance,
    ):
        for landed in pool.map(itertools.chain([first], bundles)):
            run.check()
            watch.look(pool.actors)
            watch.compare(software for _, result in landed for software in result.software)
            run.record_kept([summary for _, result in landed for summary in result.summaries])
            failed = [failure for _, result in landed for failure in result.failures]
            for failure in failed:
                run.say(
                    f"Warning: content kept of article {failure.article_id} is not known: "
                    f"{failure.error_class}: {failure.message}"
                )
            advance(sum(len(bundle) for bundle, _ in landed) - len(failed), len(failed))
    look_at_sources(run)


def _bundles(
    run: Run, lacking: Sequence[str], panels: dict[str, Panel], size: int
) -> Iterator[tuple[SummarizedArticle, ...]]:
    for start in range(0, len(lacking), size):
        articles = map(_article, run.store.article_texts(run.id, lacking[start : start + size]))
        bundle = tuple(article for article in articles if others(article, panels[article.dataset]))
        if bundle:
            yield bundle


def _article(stored: ArticleTexts) -> SummarizedArticle:
    drafts = tuple((summary["system"], _draft(summary)) for summary in stored.summaries)
    return SummarizedArticle(stored.dataset, stored.split, stored.key, stored.text, stored.references, drafts)


def _draft(summary: Mapping[str, Any]) -> Draft:
    _, *redraws = summary["extra"].get("draws", [""])
    return Draft(summary["n"], summary["text"], tuple(redraws))
