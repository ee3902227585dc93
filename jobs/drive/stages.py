"""A stage of a run: bundles of articles go to a pool, and each is stored as it lands."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console

from core.learning.policy_system import PolicySystem
from core.sweep import SweepPlan
from core.types import Article, Landed
from jobs.drive.pools import Pools
from jobs.drive.progress import Advance, run_progress
from jobs.drive.run import Run
from jobs.drive.stored_policies import stored_systems
from jobs.drive.worker_watch import WorkerWatch
from jobs.plan.pinned import Pinned, PlannedStage


def run_stage(run: Run, pinned: Pinned, planned: PlannedStage, pools: Pools, console: Console) -> None:
    """Compute and store what a stage lacks."""
    stage = planned.stage
    finished = run.finished_articles(stage)
    bundles = unfinished_bundles(pinned, finished)
    first = next(bundles, None)
    if first is None:
        return
    if pinned.training or len(pinned.stages) > 1:
        run.say(f"Stage {stage.name}:")
    run.say("Loading models; the first articles take the longest.")
    plan = planned.plan if pinned.training is None else _with_trained_policies(run, planned.plan)
    with (
        pools.open_sweep(plan) as pool,
        run_progress(console, pinned.articles, len(finished), run.note) as advance,
    ):
        watch = WorkerWatch(run, pools.device)
        for landed in pool.map(itertools.chain([first], bundles)):
            run.check()
            watch.look(pool.workers)
            if landed:
                run.record(landed, stage)
                _tell(run, landed, finished, advance)


def _with_trained_policies(run: Run, plan: SweepPlan) -> SweepPlan:
    """The plan with its policies as they have become."""
    trained = stored_systems(run.id, run.checkpoints(), plan.metrics.bertscore)
    systems = (
        replace(trained[system.name], decoding=system.decoding) if isinstance(system, PolicySystem) else system
        for system in plan.systems
    )
    return replace(plan, systems=tuple(systems))


def _tell(run: Run, landed: Sequence[Landed], finished: set[str], advance: Advance) -> None:
    """Say what has been stored."""
    done = {summary.article_id for _, result in landed for summary in result.summaries} - finished
    failed = [failure for _, result in landed for failure in result.failures]
    for failure in failed:
        run.note(f"Article {failure.article_id} failed: {failure.error_class}: {failure.message}")
    advance(len(done), len(failed))


def unfinished_bundles(pinned: Pinned, finished: set[str]) -> Iterator[tuple[Article, ...]]:
    """The run's bundles, in corpus order, that hold an article not `finished`.

    A bundle is always whole and always the same articles: embeddings depend, in their last digit, on what is in a
    batch, and a resumed run must give the numbers of an undisturbed one.
    """
    for corpus in pinned.corpora:
        articles = iter(corpus)
        while bundle := tuple(itertools.islice(articles, pinned.recipe.bundle_size)):
            if any(article.id not in finished for article in bundle):
                yield bundle
