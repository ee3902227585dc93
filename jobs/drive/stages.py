"""A stage of a run: bundles of articles go to a pool, and each is stored as it lands.

After all stages, summaries that lack content kept are scored, and the texts of models are checked.
"""

import itertools
from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nws.cluster.pools import SweepPool
from nws.core.article import Article
from nws.core.article_id_sets import ArticleIds
from nws.core.errors import StoreError
from nws.core.metrics.kept import Panel, draw_distractors
from nws.core.metrics.specs import KEPT_SPEC
from nws.core.models.endpoint import Endpoint
from nws.core.models.generators import Generator
from nws.core.stage import Stage, Writer
from nws.core.systems.system import Draft, Stored, SummarizedArticle
from nws.core.text.checks.all_checks import Finding, check_rows
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.length import UNCUT
from nws.core.types import UNTRAINED, Landed
from nws.jobs.drive.pools import Pools, PoolWatch, check_sources, note_arithmetic
from nws.jobs.drive.progress import Advance
from nws.jobs.drive.reuse import divide, find_reusable
from nws.jobs.drive.run import Run
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import ArticleTexts, Store

_NAMED = 5
"""The number of missing articles that an error names."""


def run_stage(run: Run, plan: Plan, stage: Stage, pools: Pools, announced: "array[int]") -> None:
    """Compute and store the missing summaries of a stage, and add the ids of all its articles to `announced`.

    The ids are added as numbers. Summaries that other runs of the store have are copied, unless the run was started
    with `--no-reuse`.

    Raises:
        NwsError: too many articles failed for one reason.
        CorpusError: a dataset has changed since the run began. The results of what was read before are stored.
    """
    for corpus in plan.corpora:
        corpus.require_unchanged()
    place = plan.stages.index(stage), len(plan.stages)
    if plan.training is not None:
        stage = _with_policies(run, plan, stage)
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
        if not part.is_asked:
            run.say(f"Stage {stage.name}: loading models. The first articles take the longest.")
        shown = run.progress(stage.name, plan.articles, tried, place=place)
        with pools.open_sweep(part.stage) as pool, shown as advance:
            for landed in _landed(run, pools, pool, itertools.chain([first], part.bundles)):
                run.record(landed, stage.name, stage.signatures, part.reusable)
                tried += _report_progress(run, landed, finished, advance)
        deque(part.bundles, maxlen=0)  # bundles that the pool did not take are announced, too


def _landed(run: Run, pools: Pools, pool: SweepPool, bundles: Iterator[Sequence[Article]]) -> Iterator[list[Landed]]:
    """Yield the results of bundles as they land, and watch the pool and its workers meanwhile."""
    watch = PoolWatch(run, pools.device)
    for landed in pool.map(bundles):
        run.check()
        watch.check_actors(pool.actors)
        if landed:
            watch.compare(software for _, result in landed for software in result.software)
            yield landed
    check_sources(run)


def _with_policies(run: Run, plan: Plan, stage: Stage) -> Stage:
    """Return the stage with its trained and untrained policies, which a plan knows only by name."""
    from nws.core.learning.policy_system import PolicySystem
    from nws.jobs.drive import training  # imports torch, which takes time and which a sweep does not need here

    newest, metrics = run.store.checkpoints(run.id), stage.metrics
    policies = training.stored_systems(run.id, newest, metrics.bertscore, metrics.fluency)
    policies[UNTRAINED] = training.untrained_system(plan, stage)
    systems = (
        replace(policies[system.name], decoding=system.decoding) if isinstance(system, PolicySystem) else system
        for system in stage.systems
    )
    return replace(stage, systems=tuple(systems))


def _report_progress(run: Run, landed: Sequence[Landed], finished: ArticleIds, advance: Advance) -> int:
    """Report what has been stored. Returns the number of articles that were finished or failed."""
    done = {summary.article_id for _, result in landed for summary in result.summaries}
    done = {article_id for article_id in done if article_id not in finished}
    failed = sum(len(result.failures) for _, result in landed)
    for note in (note for _, result in landed for note in result.notes):
        run.note(note)
    if done:
        run.show(newest=max(done))
    advance(len(done), failed)
    return len(done) + failed


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
            f"run {run.id!r} is not complete: of its {len(articles)} articles, {len(missing)} have neither a summary "
            f"nor a failure in the stage {stage.name} ({named}{', …' if len(missing) > _NAMED else ''}). "
            f"Compute them with: nws resume {run.id}"
        )


def articles_without_kept(store: Store, run_id: str, word_kinds: str = "") -> list[str]:
    """List the ids of articles with summaries that lack content kept, or its kinds of words if `word_kinds` is set."""
    return store.articles_without(run_id, KEPT_SPEC.column, *["kinds"] * bool(word_kinds))


def score_kept(run: Run, plan: Plan, lacking: Sequence[str], pools: Pools) -> None:
    """Measure content kept of articles that lack it, and store it.

    Their summaries were copied from a run with other articles, or without these kinds of words. Nothing else of them
    changes. An article stays without content kept if it fails, or if there are no other articles to compare it with.

    Raises:
        FencedError: the run is no longer this driver's.
    """
    panel_of = {panel.dataset: panel for panel in plan.panels or ()}
    bundles = _texts(run, lacking, panel_of, plan.recipe.bundle_size)
    first = next(bundles, None)
    if first is None:
        return
    run.say(f"Measuring content kept of {len(lacking)} articles whose summaries lack it or its kinds of words.")
    stage = plan.stages[0].with_systems(KEPT_SPEC.name, *map(Stored, plan.systems))
    stage = replace(stage, metrics=replace(stage.metrics, plugins=()))
    with pools.open_sweep(stage) as pool, run.progress(stage.name, len(lacking)) as advance:
        for landed in _landed(run, pools, pool, itertools.chain([first], bundles)):
            run.record_kept([summary for _, result in landed for summary in result.summaries])
            failed = [failure for _, result in landed for failure in result.failures]
            for failure in failed:
                run.say(
                    f"Warning: content kept of article {failure.article_id} could not be measured: "
                    f"{failure.error_class}: {failure.message}"
                )
            advance(sum(len(bundle) for bundle, _ in landed) - len(failed), len(failed))


def _texts(
    run: Run, lacking: Sequence[str], panels: dict[str, Panel], size: int
) -> Iterator[tuple[SummarizedArticle, ...]]:
    for start in range(0, len(lacking), size):
        articles = map(_article, run.store.article_texts(run.id, lacking[start : start + size]))
        bundle = tuple(article for article in articles if draw_distractors(article, panels[article.dataset]))
        if bundle:
            yield bundle


def _article(stored: ArticleTexts) -> SummarizedArticle:
    drafts = tuple((summary["system"], _draft(summary)) for summary in stored.summaries)
    return SummarizedArticle(stored.dataset, stored.split, stored.key, stored.text, stored.references, drafts)


def _draft(summary: Mapping[str, Any]) -> Draft:
    _, *redraws = summary["extra"].get("draws", [""])
    return Draft(summary["n"], summary["text"], tuple(redraws))


def check_outputs(store: Store, run_id: str, plan: Plan) -> list[Finding]:
    """Check the outputs of generators and endpoints. Predictions were checked before the run.

    Systems that copy from the article are not checked. Where a text was cut to several n, the uncut text is checked.
    """
    context = Context(plan.language)
    return [
        finding
        for writer in (writer for stage in plan.stages for writer in stage.writers)
        if isinstance(writer, Generator | Endpoint)
        for finding in check_rows(_outputs(store, run_id, writer), writer.signature, context, part="predictions")
    ]


def _outputs(store: Store, run_id: str, writer: Writer) -> Iterator[CheckedRow]:
    """Yield each output, with the raw output where that differs."""
    behind = "", 0
    while rows := store.written_texts(run_id, writer.signature, behind):
        behind = rows[-1][:2]
        for id_, n, text, raw in rows:
            if n == UNCUT or not writer.has_uncut:
                yield CheckedRow(id_, prediction=text, raw=raw)
