"""A stage of a run: bundles of articles go to a pool, and each is stored as it lands.

After all stages, content kept is measured of summaries that lack it.
"""

import functools
import itertools
import re
from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from cluster.sweep_pool import SweepPool
from core.article_id_set import ArticleIds
from core.errors import NwsError, StoreError
from core.metrics.kept import Panel, others
from core.metrics.specs import KEPT
from core.stage import Stage
from core.summarizers.systems import Draft, Stored, SummarizedArticle
from core.types import Article, Failure, Landed
from jobs.drive.pool_watch import PoolWatch, look_at_sources, note_arithmetic
from jobs.drive.pools import Pools
from jobs.drive.progress_bar import Advance, run_progress
from jobs.drive.reuse import divide, find_reusable
from jobs.drive.run import Run
from jobs.recipes.plan import Plan
from jobs.store import ArticleTexts, Store

_NAMED = 5
"""How many missing articles an error names."""


class EqualFailures:
    """Counts the articles that failed in a row with the same class and message, over all that one driver computes.

    "In a row" is in order of landing, with no article done in between.

    Args:
        run_id: of the run, for the message.
        most: so many of them stop the run; None: no number does.
    """

    def __init__(self, run_id: str, most: int | None) -> None:
        self._run_id = run_id
        self._most = most
        self._reason: tuple[str, str] | None = None
        self._count = 0

    def look(self, landed: Sequence[Landed]) -> None:
        """Take in what has landed, and was stored.

        Raises:
            NwsError: this was one too many.
        """
        for bundle, result in landed:
            failures = {failure.article_id: failure for failure in result.failures}
            for article in bundle:
                self._add(article, failures.get(article.id))

    def _add(self, article: Article, failure: Failure | None) -> None:
        reason = None if failure is None else (failure.error_class, _without_names(failure.message, article))
        self._count = self._count + 1 if reason == self._reason else 1
        self._reason = reason
        if failure is not None and self._most is not None and self._count >= self._most:
            raise NwsError(
                f"{self._count} articles in a row failed for the same reason, so the run was stopped. The last one, "
                f"{article.key!r}: {failure.error_class}: {failure.message} Mend the cause, then: nws resume "
                f"{self._run_id}. It tries them again, and then all that were not tried. To let a run go on "
                "regardless, set stop_after_equal_failures to null in its recipe."
            )


def _without_names(message: str, article: Article) -> str:
    names = "|".join(re.escape(name) for name in (article.id, article.key) if name)
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", "", message)


def run_stage(
    run: Run,
    plan: Plan,
    stage: Stage,
    pools: Pools,
    console: Console,
    announced: "array[int]",
    equal_failures: EqualFailures,
) -> None:
    """Compute and store what a stage lacks, and add to `announced` the ids of all its articles, as numbers.

    What other runs of the store have of it is copied, unless the run is to compute everything itself.

    Raises:
        NwsError: `equal_failures` has seen too many.
        CorpusError: a dataset is not what it was when the run began. What was read of it before is stored.
    """
    for corpus in plan.corpora:
        corpus.require_unchanged()
    if plan.training is not None:
        stage = _with_trained_policies(run, stage)
    finished = run.store.finished_article_ids(run.id, stage.signatures)
    reusable = find_reusable(run, plan, stage, pools.arithmetic)
    if reusable is not None:
        note_arithmetic(run, pools.device or "", [reusable.arithmetic])
    finished, parts = divide(run, plan, stage, reusable, finished, announced)
    tried = len(finished)
    for part in parts:
        first = next(part.bundles, None)
        if first is None:
            continue
        if plan.training or len(plan.stages) > 1:
            run.say(f"Stage {stage.name}:")
        run.say("Loading models; the first articles take the longest.")
        show = functools.partial(run.show, stage=stage.name)
        with (
            pools.open_sweep(part.stage) as pool,
            run_progress(console, plan.articles, tried, run.note, show, first=_first(part.stage)) as advance,
        ):
            for landed in _landed(run, pools, pool, itertools.chain([first], part.bundles)):
                run.record(landed, stage.name, stage.signatures, part.reusable)
                tried += _tell(run, landed, finished, advance)
                equal_failures.look(landed)
        deque(part.bundles, maxlen=0)  # what a pool left is announced, too
    look_at_sources(run)


def _landed(run: Run, pools: Pools, pool: SweepPool, bundles: Iterator[tuple[Article, ...]]) -> Iterator[list[Landed]]:
    """What a pool makes of bundles, as it lands, while the pool and its workers are watched."""
    watch = PoolWatch(run, pools.device)
    for landed in pool.map(bundles):
        run.check()
        watch.look(pool.actors)
        if landed:
            watch.compare(software for _, result in landed for software in result.software)
            yield landed


def _first(stage: Stage) -> str:
    """What actors do before the first articles land."""
    return f"loading {', '.join(dict.fromkeys(model.name for model in stage.models))}"


def _with_trained_policies(run: Run, stage: Stage) -> Stage:
    """The stage with its policies as they have become. A plan has them by name alone until they are trained."""
    from core.learning.policy_system import PolicySystem  # and with it torch, which a sweep need not wait for
    from jobs.drive.stored_policies import stored_systems

    trained = stored_systems(run.id, run.store.checkpoints(run.id), stage.metrics.bertscore, stage.metrics.fluency)
    systems = (
        replace(trained[system.name], decoding=system.decoding) if isinstance(system, PolicySystem) else system
        for system in stage.systems
    )
    return replace(stage, systems=tuple(systems))


def _tell(run: Run, landed: Sequence[Landed], finished: ArticleIds, advance: Advance) -> int:
    """Report what has been stored. Returns the number of its articles."""
    done = {summary.article_id for _, result in landed for summary in result.summaries}
    done = {article_id for article_id in done if article_id not in finished}
    failed = [failure for _, result in landed for failure in result.failures]
    for note in (note for _, result in landed for note in result.notes):
        run.note(note)
    for failure in failed:
        run.note(f"Article {failure.article_id} failed: {failure.error_class}: {failure.message}")
    if done:
        run.show(newest=max(done))
    advance(len(done), len(failed))
    return len(done) + len(failed)


def require_complete(run: Run, stage: Stage, articles: ArticleIds) -> None:
    """Refuse to end a run as done while one of its articles is neither done nor failed in a stage.

    Raises:
        StoreError: names the stage and some of the articles.
    """
    failures = run.store.failures(run.id)
    failed = ArticleIds.of(failure.article_id for failure in failures if failure.stage == stage.name)
    missing = articles - run.store.finished_article_ids(run.id, stage.signatures) - failed
    if len(missing):
        named = ", ".join(itertools.islice(missing, _NAMED))
        raise StoreError(
            f"run {run.id!r} is not done: of its {len(articles)} articles, {len(missing)} have neither a summary nor "
            f"a failure in the stage {stage.name} ({named}{', …' if len(missing) > _NAMED else ''}). "
            f"Compute them with: nws resume {run.id}"
        )


def lacking_kept(store: Store, run_id: str) -> list[str]:
    """The ids of the articles with summaries that lack content kept."""
    return store.articles_without(run_id, KEPT.column)


def stage_of_kept(plan: Plan) -> Stage:
    """What scores the texts of a run's systems again."""
    stage = plan.stages[0].with_systems(KEPT.name, *map(Stored, plan.systems))
    return replace(stage, metrics=replace(stage.metrics, plugins=()))


def score_kept(run: Run, plan: Plan, lacking: Sequence[str], pools: Pools, console: Console) -> None:
    """Score articles that lack content kept, and store it. One without others, or that fails, is left without.

    They were copied from a run with other articles. Their texts are scored again, and nothing else of them changes.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    panel_of = {panel.dataset: panel for panel in plan.panels or ()}
    bundles = _texts(run, lacking, panel_of, plan.recipe.bundle_size)
    first = next(bundles, None)
    if first is None:
        return
    run.say(f"Measuring content kept: {len(lacking)} articles have summaries without it.")
    stage = stage_of_kept(plan)
    show = functools.partial(run.show, stage=stage.name)
    with (
        pools.open_sweep(stage) as pool,
        run_progress(console, len(lacking), 0, run.note, show) as advance,
    ):
        for landed in _landed(run, pools, pool, itertools.chain([first], bundles)):
            run.record_kept([summary for _, result in landed for summary in result.summaries])
            failed = [failure for _, result in landed for failure in result.failures]
            for failure in failed:
                run.say(
                    f"Warning: content kept of article {failure.article_id} is not known: "
                    f"{failure.error_class}: {failure.message}"
                )
            advance(sum(len(bundle) for bundle, _ in landed) - len(failed), len(failed))
    look_at_sources(run)


def _texts(
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
