"""A run while it is in work, and what it found when it has ended."""

import socket
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import UTC, datetime

from jobs.report.run_view import View, facts, stage_text, state_text
from jobs.serve.feeds import Parts
from jobs.serve.html import rendered, rendered_part
from jobs.store import LogLine, NewSummary, RunInfo, Store, is_stale
from jobs.terminal.run_status import done_text, duration
from jobs.terminal.system_names import names_of

REASONS = 10
_LOG_LINES = 200
_WRITTEN = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """How far a run is, of 1, and in words."""

    share: float
    words: str


def parts_of(store: Store, view: View) -> Parts:
    """What of the page changes while the run goes on."""
    run = view.run
    is_gone = is_stale(run, socket.gethostname(), datetime.now(UTC))
    written = at_one_length(store.summaries_of(run.id, view.newest)) if view.newest else []
    names = names_of([run], [summary.system for summary in written])
    log: list[LogLine] = store.newest_log(run.id, _LOG_LINES)
    return {
        "state": rendered_part("state", run=run, state=state_text(view), is_gone=is_gone),
        "progress": rendered_part("progress", bar=_bar(view), facts=[*facts(view), ("time", duration(run))]),
        "failures": rendered_part("failures", run=run, reasons=view.reasons),
        "written": rendered_part("written", written=written[:_WRITTEN], total=len(written), names=names),
        "log": rendered_part("log", log=log),
    }


def at_one_length(summaries: list[NewSummary]) -> list[NewSummary]:
    """The summaries at the middle n, the highest F1 first. They are easier to compare at one length."""
    lengths = sorted({summary.n for summary in summaries if summary.n}) or [0]
    n = lengths[len(lengths) // 2]
    shown = (summary for summary in summaries if summary.n == n)
    return sorted(shown, key=lambda summary: (-summary.bertscore_f1, summary.system))


def _bar(view: View) -> Bar | None:
    run, at = view.run, view.progress
    if at is not None and at.total:
        return Bar(min(1.0, at.finished / at.total), stage_text(view))
    if run.total_articles:
        return Bar(min(1.0, run.articles_done / run.total_articles), f"{done_text(run)} articles")
    return None


def fingerprint(run: RunInfo) -> Hashable:
    """What is another as soon as the run's results may be."""
    counts = (run.articles_done, run.summaries, run.failures)
    return run.id, run.state, run.driver_epoch, counts, run.finished_at, tuple(run.signatures.items())


def answer_html(store: Store, run: RunInfo) -> str:
    """What a run found, in sentences, charts and tables of content kept by n.

    Raises:
        NwsError: the store cannot be read, or has too little for an answer.
    """
    from jobs.report.page.kept_section import kept_section
    from jobs.report.sweep import kept_answer

    answer = store.answer(run.id)
    names = names_of([run], answer.systems)
    said = [
        (
            kept_answer.heading(answer, dataset),
            kept_answer.headline(answer, dataset, names),
            kept_answer.sentences(answer, dataset, names),
            kept_section(f"k{i}", answer, dataset, names),
        )
        for i, dataset in enumerate(answer.datasets)
    ]
    return rendered(
        "run_answer.html.j2",
        of_policies=_of_policies(store, run) if run.job == "phase2" else [],
        said=said,
        not_known=kept_answer.headline(answer, ""),
        how_sure=f"{kept_answer.HOW_SURE} {kept_answer.WHAT_IT_IS}",
    )


def _of_policies(store: Store, run: RunInfo) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    from core.analysis import METRICS
    from jobs.report.policies import policy_answer
    from jobs.report.policies.policy_numbers import analyse_policies, policy_results

    numbers = analyse_policies(run, policy_results(store, run, METRICS))
    return [(dataset, policy_answer.sentences(numbers, dataset)) for dataset in numbers.scored if numbers.has_policies]


def report_html(store: Store, run: RunInfo) -> str:
    """The report page of a run, as `nws report -o` writes it, and the way back.

    Raises:
        NwsError: the run has no summaries, or the store cannot be read.
    """
    from jobs.report.page.page import collect, render

    page = collect(store, [run.id], "bertscore_f1", None)
    return render(page, {"All runs": "/", f"This run: {run.name or run.id}": f"/runs/{run.id}"})
