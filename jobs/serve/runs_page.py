"""All runs of a store, the newest first: a page of them, by words and state."""

import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args

from jobs.report.run_view import View, left_text, rate_text, span_until_now
from jobs.serve.feeds import Seen
from jobs.serve.html import rendered_part
from jobs.store import Progress, RunInfo, Store, is_stale
from jobs.store.runs import RunState
from jobs.terminal.numerals import counted
from jobs.terminal.run_status import done_text, duration

RUNS_OF_A_PAGE = 50
STATES: tuple[RunState, ...] = get_args(RunState)
_MOST_LETTERS = 200
_LAST_PAGE = 100_000


@dataclass(frozen=True, slots=True)
class Search:
    """What was searched for: words that a run's id, job, state, name or note has, a state or "", and which page."""

    words: str = ""
    state: str = ""
    page: int = 1

    @classmethod
    def of(cls, words: str, state: str, page: str) -> "Search":
        """From an address; what makes no sense there counts as not given."""
        storable = words[:_MOST_LETTERS].replace("\0", " ").encode("utf-8", "replace").decode()
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 7 else 1
        return cls(storable, state if state in STATES else "", min(max(number, 1), _LAST_PAGE))


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list, its cells as text."""

    run: RunInfo
    state: str
    done: str
    share: float | None
    speed: str
    left: str
    actors: str
    time: str


def look_at_runs(store: Store, asked: Search) -> Seen:
    """The list as it is now. It reads counts that the store keeps, and no summary."""
    first = (asked.page - 1) * RUNS_OF_A_PAGE
    runs, total = store.search_runs(asked.words.split(), asked.state or None, first, RUNS_OF_A_PAGE)
    progress = store.progress_of([run.id for run in runs if run.state == "running"])
    lines = [_line(run, progress.get(run.id)) for run in runs]
    pages = max(1, -(-total // RUNS_OF_A_PAGE))
    return Seen(
        {
            "rows": rendered_part("rows", lines=lines, asked=asked),
            "total": rendered_part("total", total=total, asked=asked, pages=pages),
        }
    )


def _line(run: RunInfo, at: Progress | None) -> RunLine:
    now = datetime.now(UTC)
    is_gone = is_stale(run, socket.gethostname(), now)
    silent = max(0.0, (now - run.heartbeat_at).total_seconds()) if run.heartbeat_at else 0.0
    at = None if is_gone or run.state != "running" else at
    view = View(run, at, span_until_now(run, at, silent), silent)
    of_policies = at is not None and at.unit != "articles"
    done, total = (at.finished, at.total) if at and of_policies else (run.articles_done, run.total_articles)
    busy = [actor.busy for actor in at.actors if actor.busy is not None] if at else []
    share = f", {100 * sum(busy) / len(busy):.0f} % busy" if busy else ""
    return RunLine(
        run,
        "stale" if is_gone else run.state,
        f"{at.finished}/{at.total or '?'} {at.unit}" if at and of_policies else f"{done_text(run)} articles",
        min(1.0, done / total) if total else None,
        rate_text(view),
        left_text(view),
        f"{counted(len(at.actors), 'actor')}{share}" if at and at.actors else "",
        duration(run),
    )
