"""What the pages of runs show, and their templates, which share style and parts with the report page.

A block of a page that the frame lacks is the HTML of the element of that name: a page that is open polls these.
"""

import socket
from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from core.analysis import METRICS
from core.analysis.answer import Answer
from jobs.report.console import printable, written_out
from jobs.report.numerals import counted
from jobs.report.page import TEMPLATES, page_environment
from jobs.report.page.page import collect, render
from jobs.report.page.sections import KeptSection, kept_section
from jobs.report.policies import policy_answer
from jobs.report.policies.policy_numbers import analyse_policies, policy_results
from jobs.report.run_status import done_text, duration, made_by
from jobs.report.run_view import (
    View,
    Viewer,
    facts,
    left_text,
    rate_text,
    span_until_now,
    stage_text,
    state_text,
)
from jobs.report.sweep import kept_answer
from jobs.report.system_names import names_of
from jobs.store import Progress, RunInfo, Store, is_stale
from jobs.store.runs import RunState

REASONS = 10
RUNS_OF_A_PAGE = 50
STATES: tuple[RunState, ...] = get_args(RunState)
_LOG_LINES = 200
_WRITTEN = 8
_TEMPLATES = Path(__file__).parent / "templates"
STYLE = "".join(path.read_text(encoding="utf-8") for path in (TEMPLATES / "page.css", _TEMPLATES / "serve.css"))
SCRIPT = (_TEMPLATES / "serve.js").read_text(encoding="utf-8")
"""It puts news into a page. All else reads without it."""
_ENVIRONMENT = page_environment(_TEMPLATES)
_ENVIRONMENT.filters |= {"printable": printable, "quoted": lambda text: quote(text, safe="")}


def page_html(template: str, values: Mapping[str, Any]) -> str:
    """A page. Control characters, which a name may hold, mean nothing in HTML: they are written out."""
    return written_out(_ENVIRONMENT.get_template(template).render(values))


def live_parts(template: str, values: Mapping[str, Any]) -> dict[str, str]:
    """What of a page may have changed: the HTML by the id of its element."""
    page, frame = _ENVIRONMENT.get_template(template), _ENVIRONMENT.get_template("frame.html.j2")
    live = page.blocks.keys() - frame.blocks.keys()
    return {name: written_out("".join(page.blocks[name](page.new_context(dict(values))))) for name in live}


@dataclass(frozen=True, slots=True)
class Search:
    """What was searched for: words that a run's id, job, state, name or note has, a state or "", and which page."""

    words: str
    state: str
    page: int

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> "Search":
        """From an address; what makes no sense there counts as not given."""
        state, page = asked.get("state", ""), asked.get("page", "")
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 6 else 1
        return cls(asked.get("q", ""), state if state in STATES else "", max(number, 1))


def list_values(store: Store, asked: Search, answers: MutableMapping[Hashable, tuple[str, ...]]) -> dict[str, Any]:
    """The list as it is now. It reads counts and answers that the store keeps, and no summary.

    `answers` holds those that were read before, by the run's driver.
    """
    first = (asked.page - 1) * RUNS_OF_A_PAGE
    runs, total = store.search_runs(asked.words.split(), asked.state or None, first, RUNS_OF_A_PAGE)
    progress = store.progress_of([run.id for run in runs if run.state == "running"])
    ended = {run.id: run for run in runs if run.state not in ("pending", "running")}
    unread = [run_id for run_id, run in ended.items() if (run_id, run.driver_epoch) not in answers]
    for run_id, answer in store.stored_answers(unread).items():
        answers[run_id, ended[run_id].driver_epoch] = _headlines(ended[run_id], answer)
    lines = [_line(run, progress.get(run.id), answers.get((run.id, run.driver_epoch), ())) for run in runs]
    return {"lines": lines, "total": total, "pages": max(1, -(-total // RUNS_OF_A_PAGE))}


def _headlines(run: RunInfo, answer: Answer) -> tuple[str, ...]:
    names = names_of([run], answer.systems)
    told = {dataset: kept_answer.headline(answer, dataset, names) for dataset in answer.datasets}
    return tuple(told.values()) if len(told) == 1 else tuple(f"{dataset}: {text}" for dataset, text in told.items())


def _line(run: RunInfo, at: Progress | None, answer: tuple[str, ...]) -> dict[str, Any]:
    """A run in the list, its cells as text; `told` is how fast it is, or its answer."""
    now = datetime.now(UTC)
    is_gone = is_stale(run, socket.gethostname(), now)
    silent = max(0.0, (now - run.heartbeat_at).total_seconds()) if run.heartbeat_at else 0.0
    at = None if is_gone or run.state != "running" else at
    view = View(run, at, span_until_now(run, at, silent), silent)
    share, done = _progress(view)
    busy = [actor.busy for actor in at.actors if actor.busy is not None] if at else []
    how_busy = f", {100 * sum(busy) / len(busy):.0f} % busy" if busy else ""
    actors = f"{counted(len(at.actors), 'actor')}{how_busy}" if at and at.actors else ""
    return {
        "run": run,
        "state": "stale" if is_gone else run.state,
        "done": done,
        "share": share,
        "told": answer or [rate_text(view), left_text(view) and f"{left_text(view)} left", actors],
        "time": duration(run),
    }


def _progress(view: View) -> tuple[float | None, str]:
    """How far a run is, of 1, and in words."""
    run, at = view.run, view.progress
    done, total = (at.finished, at.total) if at and at.total else (run.articles_done, run.total_articles)
    return min(1.0, done / total) if total else None, stage_text(view) or f"{done_text(run)} articles"


def run_values(store: Store, viewer: Viewer) -> dict[str, Any]:
    """A run as it is now; its answer is the one that was stored when it ended, else None."""
    view = viewer.glance()
    run = view.run
    answer = store.stored_answer(run.id) if view.has_ended else None
    share, done = _progress(view)
    newest = store.article_texts(run.id, [view.newest]) if view.newest else []
    written = at_one_length(newest[0].summaries) if newest else []
    return {
        "run": run,
        "made_by": made_by(run),
        "state": state_text(view),
        "is_gone": is_stale(run, socket.gethostname(), datetime.now(UTC)),
        "has_ended": view.has_ended,
        "is_live": not view.has_ended or (run.summaries > 0 and answer is None),
        "answer": answer,
        "said": [] if answer is None else _said(run, answer),
        "how_sure": f"{kept_answer.HOW_SURE} {kept_answer.WHAT_IT_IS}",
        "of_policies": (),
        "share": share,
        "done": done,
        "facts": [*facts(view), ("time", duration(run))],
        "reasons": view.reasons,
        "newest": newest,
        "written": written[:_WRITTEN],
        "kinds": store.systems(run.id) if written else {},
        "more_written": len(written) - _WRITTEN,
        "names": names_of([run], [summary["system"] for summary in written]),
        "log": store.newest_log(run.id, _LOG_LINES),
    }


def at_one_length(summaries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The summaries at the middle n, the highest F1 first. They are easier to compare at one length."""
    lengths = sorted({summary["n"] for summary in summaries if summary["n"]}) or [0]
    n = lengths[len(lengths) // 2]
    shown = (summary for summary in summaries if summary["n"] == n)
    return sorted(shown, key=lambda summary: (-summary["bertscore_f1"], summary["system"]))


def _said(run: RunInfo, answer: Answer) -> list[tuple[str, KeptSection | None]]:
    """What was found on each dataset: a heading, and sentences, chart and table."""
    names = names_of([run], answer.systems)
    return [
        (kept_answer.heading(answer, dataset), kept_section(f"k{i}", answer, dataset, names))
        for i, dataset in enumerate(answer.datasets)
    ]


def fingerprint(run: RunInfo) -> Hashable:
    """What is another as soon as the run's results may be."""
    return run.id, run.state, run.driver_epoch, run.articles_done, run.summaries, run.failures, run.finished_at


def policy_sentences(store: Store, run: RunInfo) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Whether the policies of a training are better, by dataset. It may take seconds: it reads the run's summaries."""
    numbers = analyse_policies(run, policy_results(store, run, METRICS))
    return [(dataset, policy_answer.sentences(numbers, dataset)) for dataset in numbers.scored if numbers.has_policies]


def report_html(store: Store, runs: Sequence[RunInfo]) -> str:
    """The report page of runs, as `nws report --page` writes it, and the way back.

    Raises:
        NwsError: one has no summaries, their metrics differ, or the store cannot be read.
    """
    page = collect(store, [run.id for run in runs], "bertscore_f1", None)
    return render(page, {"All runs": "/", **{f"Run {run.id}": f"/runs/{quote(run.id, safe='')}" for run in runs}})
