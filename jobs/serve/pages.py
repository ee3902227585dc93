"""What the pages of runs show, and their templates, which share style and parts with the report page.

A block of a page that the frame lacks is the HTML of the element of that name: a page that is open polls these.
"""

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.analysis.answer import Answer
from jobs.report.console import printable, written_out
from jobs.report.numerals import counted
from jobs.report.page import TEMPLATES, page_environment
from jobs.report.page.page import collect, render
from jobs.report.run_list import ListedRun, listed_runs
from jobs.report.run_status import duration, failure_lines, made_by, state_name
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
from jobs.report.sweep.kept_answer import HOW_SURE, WHAT_IT_IS, heading, headline, sentences
from jobs.report.system_names import names_of
from jobs.store import Progress, RunInfo, Store

REASONS = 10
RUNS_OF_A_PAGE = 50
_LOG_LINES = 200
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


def list_values(store: Store, asked: Mapping[str, str]) -> dict[str, Any]:
    """The list as it is now. It reads counts and shares that the store keeps, and no summary.

    `asked` is of an address: `q` has words that a run's id, job, state, name or note has, and `page` is a number. What
    makes no sense there counts as not given.
    """
    words, page = asked.get("q", ""), asked.get("page", "")
    number = max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 6 else 1
    runs, total = store.search_runs(words.split(), (number - 1) * RUNS_OF_A_PAGE, RUNS_OF_A_PAGE)
    progress = store.progress_of([run.id for run in runs if run.state == "running"])
    lines = [_line(listed, progress.get(listed.run.id)) for listed in listed_runs(store, runs)]
    pages = max(1, -(-total // RUNS_OF_A_PAGE))
    return {"lines": lines, "total": total, "pages": pages, "words": words, "page": number}


def _line(listed: ListedRun, at: Progress | None) -> dict[str, Any]:
    """A run in the list, its cells as text; `told` is how fast it is, or its answer."""
    run, state = listed.run, state_name(listed.run)
    silent = max(0.0, (datetime.now(UTC) - run.heartbeat_at).total_seconds()) if run.heartbeat_at else 0.0
    at = at if state == "running" else None
    view = View(run, at, span_until_now(run, at, silent))
    share, done = _progress(view)
    actors = counted(len(at.actors), "actor") if at and at.actors else ""
    speed = [rate_text(view), left_text(view) and f"{left_text(view)} left", actors]
    return {
        "run": run,
        "listed": listed,
        "state": state,
        "done": done,
        "share": share,
        "told": [listed.answer] if listed.answer else speed,
        "time": duration(run),
    }


def _progress(view: View) -> tuple[float | None, str]:
    """How far a run is, of 1, and in words."""
    run, at = view.run, view.progress
    done, total = (at.finished, at.total) if at and at.total else (run.articles_done, run.total_articles)
    return min(1.0, done / total) if total else None, stage_text(view)


def run_values(store: Store, viewer: Viewer) -> dict[str, Any]:
    """A run as it is now; its answer is the one that was stored when it ended, else None."""
    view = viewer.glance()
    run = view.run
    answer = store.stored_answer(run.id) if view.has_ended else None
    found = answer or Answer()
    names = names_of([run], found.systems)
    share, done = _progress(view)
    newest = store.article_texts(run.id, [view.newest]) if view.newest else []
    written = at_one_length(newest[0].summaries) if newest else []
    return {
        "run": run,
        "made_by": made_by(run),
        "state": state_text(view),
        "look": state_name(run),
        "has_ended": view.has_ended,
        "is_live": not view.has_ended or (run.summaries > 0 and answer is None),
        "answer": answer,
        "said": [
            (heading(found, dataset), headline(found, dataset, names), sentences(found, dataset, names))
            for dataset in found.datasets
        ],
        "how_sure": f"{HOW_SURE} {WHAT_IT_IS}",
        "share": share,
        "done": done,
        "facts": [*facts(view), ("time", duration(run))],
        "reasons": failure_lines(view.reasons),
        "most_reasons": REASONS,
        "newest": newest,
        "written": written,
        "kinds": store.systems(run.id) if written else {},
        "names": names_of([run], [summary["system"] for summary in written]),
        "log": store.newest_log(run.id, _LOG_LINES),
    }


def at_one_length(summaries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The summaries at the middle n, the highest F1 first. They are easier to compare at one length."""
    lengths = sorted({summary["n"] for summary in summaries if summary["n"]}) or [0]
    n = lengths[len(lengths) // 2]
    shown = (summary for summary in summaries if summary["n"] == n)
    return sorted(shown, key=lambda summary: (-summary["bertscore_f1"], summary["system"]))


def fingerprint(run: RunInfo) -> Hashable:
    """What is another as soon as the run's results may be."""
    return run.id, run.state, run.driver_epoch, run.articles_done, run.summaries, run.failures, run.finished_at


def report_html(store: Store, runs: Sequence[RunInfo]) -> str:
    """The report page of runs, as `nws report --page` writes it, and the way back.

    Raises:
        NwsError: one has no summaries, their metrics differ, or the store cannot be read.
    """
    page = collect(store, [run.id for run in runs], "bertscore_f1", None)
    return render(page, {"All runs": "/", **{f"Run {run.id}": f"/runs/{quote(run.id, safe='')}" for run in runs}})
