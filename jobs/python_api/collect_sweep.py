"""From the bundles of a sweep in this process to its result."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.analysis import Point, Points
from core.errors import CorpusError
from core.types import Article, Landed, Summary
from jobs.plan.pinned import Pinned
from jobs.python_api.sweep_result import SweepResult
from jobs.store import FailureInfo, RunInfo

RUN = "nws.sweep"
"""In place of a run's id: such a sweep is in no store."""


def collect_sweep(
    pinned: Pinned,
    stages: Mapping[str, Sequence[Landed]],
    device: str | None,
    arithmetic: str | None,
    started: datetime,
) -> SweepResult:
    """The result of a sweep, from the results of its stages by name.

    Raises:
        CorpusError: no article could be summarised; says why the first could not.
    """
    landed = [landed_bundle for results in stages.values() for landed_bundle in results]
    articles = {article.id: article for bundle, _ in landed for article in bundle}
    summaries = [summary for _, result in landed for summary in result.summaries]
    failed = tuple(_failures(stages, articles))
    if not summaries:
        first = failed[0]
        raise CorpusError(
            f"No article could be summarised. The first of {len(articles)}, {first.key!r}: {first.message}"
        )
    run = _as_run(pinned, device, arithmetic, started, len(articles), len(summaries), failed)
    return SweepResult(
        run=run,
        points=Points.of(_point(articles[summary.article_id], summary, pinned) for summary in summaries),
        rows=tuple(_row(articles[summary.article_id], summary) for summary in summaries),
        failed=failed,
    )


def _failures(stages: Mapping[str, Sequence[Landed]], articles: Mapping[str, Article]) -> list[FailureInfo]:
    now = datetime.now(UTC)
    return [
        FailureInfo(
            dataset=articles[failure.article_id].dataset,
            key=articles[failure.article_id].key,
            article_id=failure.article_id,
            stage=stage,
            error_class=failure.error_class,
            message=failure.message,
            attempts=failure.attempts,
            node=failure.node,
            failed_at=now,
        )
        for stage, landed in stages.items()
        for _, result in landed
        for failure in result.failures
    ]


def _point(article: Article, summary: Summary, pinned: Pinned) -> Point:
    return Point(
        dataset=article.dataset,
        article_id=article.id,
        system=summary.system,
        n=summary.n,
        words=summary.words,
        scores={**summary.scores, **summary.plugin_scores},
        kind=pinned.systems[summary.system],
        text=summary.text,
    )


def _row(article: Article, summary: Summary) -> dict[str, Any]:
    return {
        "dataset": article.dataset,
        "key": article.key,
        "run_id": RUN,
        "article_id": article.id,
        "system": summary.system,
        "n": summary.n,
        "text": summary.text,
        "words": summary.words,
        "seconds": summary.seconds,
        **summary.scores,
        **summary.plugin_scores,
        "extra": dict(summary.extra),
        "reused_from": None,
    }


def _as_run(
    pinned: Pinned,
    device: str | None,
    arithmetic: str | None,
    started: datetime,
    articles: int,
    summaries: int,
    failed: Sequence[FailureInfo],
) -> RunInfo:
    """The run as a store would describe it after its end, without a driver."""
    spec = pinned.run_spec()
    return RunInfo(
        id=RUN,
        job=spec.job,
        state="done",
        recipe=dict(spec.recipe),
        recipe_hash=spec.recipe_hash,
        name=None,
        note=None,
        seed=spec.seed,
        code_version=spec.code_version,
        revisions=dict(spec.revisions),
        signatures=dict(spec.signatures),
        device=device,
        driver_epoch=0,
        driver_host=None,
        driver_pid=None,
        heartbeat_at=None,
        total_articles=articles,
        systems=spec.systems,
        created_at=started,
        started_at=started,
        claimed_at=started,
        worked_seconds=0.0,
        finished_at=datetime.now(UTC),
        error=None,
        address=None,
        cancel_requested_at=None,
        arithmetic=[arithmetic] if arithmetic else [],
        reuse=False,
        articles_done=articles - len({failure.article_id for failure in failed}),
        summaries=summaries,
        reused=0,
        failures=len(failed),
    )
