"""The application: which page is where, and what it shows of the store, which it reads in threads and never writes.

Templates share style and parts with the report page. A block of a page that the frame lacks is the HTML of the element
of that name: a page that is open polls these.
"""

import socket
import threading
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from nws.core.errors import NwsError, StoreError, StoreUnavailableError
from nws.jobs.report.brief import brief_sentences
from nws.jobs.report.charts import Chart
from nws.jobs.report.console import escape_controls, printable
from nws.jobs.report.page import TEMPLATES, page_environment
from nws.jobs.report.page.page import collect, content_policy, render
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.run_status import ListedRun, duration, failure_lines, listed_runs, made_by, state_name
from nws.jobs.report.run_view import View, Viewer, facts, left_text, rate_text, span_until_now, stage_text, state_text
from nws.jobs.report.sweep_charts import kept_chart
from nws.jobs.report.system_names import names_of
from nws.jobs.report.wording import INTERVALS_EXPLAINED, content_kept_explained
from nws.jobs.serve.access import HEADERS, middleware, require_safe
from nws.jobs.store import Progress, RunInfo, Store

MOST_REASONS = 10
RUNS_OF_A_PAGE = 50
_LOG_LINES = 200
_TEMPLATES = Path(__file__).parent / "templates"
STYLE = "".join(path.read_text(encoding="utf-8") for path in (TEMPLATES / "page.css", _TEMPLATES / "serve.css"))
SCRIPT = (_TEMPLATES / "serve.js").read_text(encoding="utf-8")
"""It puts news into a page. All else reads without it."""
_ENVIRONMENT = page_environment(_TEMPLATES)
_ENVIRONMENT.filters |= {"printable": printable, "quoted": lambda text: quote(text, safe="")}


def list_values(store: Store, asked: Mapping[str, str]) -> dict[str, Any]:
    """Read the list as it is now: counts and shares that the store has, and no summary.

    `asked` is of an address: `q` has words that a run's id, job, state, name or note has, and `page` is a number. What
    makes no sense there counts as not given.
    """
    words, page = asked.get("q", ""), asked.get("page", "")
    number = max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 6 else 1
    runs, total = store.search_runs(words.split(), (number - 1) * RUNS_OF_A_PAGE, RUNS_OF_A_PAGE)
    progress = store.progress_of([run.id for run in runs if run.state == "running"])
    lines = [_list_row(listed, progress.get(listed.run.id)) for listed in listed_runs(store, runs)]
    pages = max(1, -(-total // RUNS_OF_A_PAGE))
    return {"lines": lines, "total": total, "pages": pages, "words": words, "page": number}


def _list_row(listed: ListedRun, progress: Progress | None) -> dict[str, Any]:
    """Return a run in the list; `outcome` is how fast it is, or its answer."""
    run, state = listed.run, state_name(listed.run)
    silent = max(0.0, (datetime.now(UTC) - run.heartbeat_at).total_seconds()) if run.heartbeat_at else 0.0
    progress = progress if state == "running" else None
    view = View(run, progress, span_until_now(run, progress, silent))
    speed = [rate_text(view), left_text(view) and f"{left_text(view)} left"]
    outcome = [listed.answer] if listed.answer else speed
    return {"listed": listed, "state": state, **_progress(view), "outcome": outcome, "time": duration(run)}


def _progress(view: View) -> dict[str, Any]:
    """Say how far a run is: its `share` of 1, and in words (`done`)."""
    run, at = view.run, view.progress
    done, total = (at.finished, at.total) if at and at.total else (run.articles_done, run.total_articles)
    return {"share": min(1.0, done / total) if total else None, "done": stage_text(view)}


def run_values(store: Store, viewer: Viewer) -> dict[str, Any]:
    """Read a run as it is now. Its answer is the one that was stored when it ended, else None."""
    view = viewer.read()
    run = view.run
    document = store.stored_document(run.id) if view.has_ended else None
    report = RunReport(run, document, names_of([run], document.kinds)) if document is not None else None
    newest = store.article_texts(run.id, [view.newest]) if view.newest else []
    summaries = newest[0].summaries if newest else ()
    lengths = sorted({summary["n"] for summary in summaries}) or [0]
    written = [summary for summary in summaries if summary["n"] == lengths[len(lengths) // 2]]
    return {
        "run": run,
        "made_by": made_by(run),
        "state": state_text(view),
        "look": state_name(run),
        "has_ended": view.has_ended,
        "is_live": not view.has_ended or (run.summaries > 0 and document is None),
        "answer": document,
        "findings": _findings(report) if report is not None else [],
        "explained": f"{INTERVALS_EXPLAINED} {content_kept_explained(document)}",
        **_progress(view),
        "facts": [*facts(view), ("time", duration(run))],
        "reasons": failure_lines(view.reasons),
        "most_reasons": MOST_REASONS,
        "newest": newest,
        "written": written,
        "names": names_of([run], [summary["system"] for summary in written]),
        "log": store.newest_log(run.id, _LOG_LINES),
    }


def _findings(report: RunReport) -> list[tuple[str, list[str], Chart]]:
    """List for each dataset its most important findings in sentences, and its chart."""
    return [
        (dataset, brief_sentences(report, dataset), kept_chart(report, dataset, f"d{i}"))
        for i, (dataset, ranked) in enumerate(report.document.ranking.items())
        if ranked
    ]


def report_html(store: Store, runs: Sequence[RunInfo]) -> str:
    """Write the report page of runs, as `nws report -o FILE` does, with links back to the runs.

    Raises:
        NwsError: one has no summaries, their metrics differ, or the store cannot be read.
    """
    page = collect(store, [run.id for run in runs], "bertscore_f1")
    return render(page, {"All runs": "/", **{f"Run {run.id}": f"/runs/{quote(run.id, safe='')}" for run in runs}})


PATIENCE_SECONDS = 1.0
"""For how long a reader waits while another one has a report written, before it is asked to come again."""
_MOST_KEPT = 12
_TITLES = {400: "No run is chosen", 404: "Not found", 409: "This cannot be shown", 503: "The store cannot be read now"}


class Pages:
    """What answers the requests for a store that was opened read-only. Starlette calls each method in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._viewers: dict[str, Viewer] = {}
        self._reports: dict[Hashable, str] = {}
        self._writing = threading.Lock()

    def runs(self, request: Request) -> Response:
        """Show the list of all runs."""
        return self._page(request, "runs.html.j2", is_live=True, **list_values(self._store, request.query_params))

    def run(self, request: Request) -> Response:
        """Show a run that has not finished, or has ended."""
        run = self._find(request.path_params["run_id"])
        viewer = self._viewers.setdefault(run.id, Viewer(self._store, run.id, MOST_REASONS))
        return self._page(request, "run.html.j2", **run_values(self._store, viewer))

    def report(self, request: Request) -> Response:
        """Show the report page of a run or several, made when it is asked for."""
        runs = [self._find(run_id) for run_id in request.query_params.getlist("run")]
        if not runs:
            raise HTTPException(400, "Tick runs on the list of all runs, then press “Report on the ticked runs”.")
        html = self._report(runs)
        if html is None:
            message = "The report is being written. This page loads again by itself."
            return self._page(request, "frame.html.j2", 202, title="One moment", message=message, asks_again=True)
        policy = f"{content_policy()}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return HTMLResponse(html, headers={"Content-Security-Policy": policy})

    def failed(self, request: Request, error: Exception) -> Response:
        """Say in words what is wrong: with the store, with the address, or with what is asked."""
        message, status, headers = str(error), 503 if isinstance(error, StoreUnavailableError) else 409, None
        if isinstance(error, HTTPException):
            message, status, headers = error.detail, error.status_code, error.headers
        title = _TITLES.get(status, "This server is read-only")
        if _is_poll(request):
            return PlainTextResponse(f"{title}: {message}", status)
        answer = self._page(request, "frame.html.j2", status, title=title, message=message)
        answer.headers.update(headers or {})
        return answer

    def _report(self, runs: Sequence[RunInfo]) -> str | None:
        """Return the report of runs. One is made at a time, in seconds and a few hundred MB, and is then cached.

        None for whoever has waited for `PATIENCE_SECONDS` while another reader has one written, and has to come again.
        """
        key = tuple(
            (run.id, run.state, run.driver_epoch, run.articles_done, run.summaries, run.failures, run.finished_at)
            for run in runs
        )
        if key not in self._reports and self._writing.acquire(timeout=PATIENCE_SECONDS):
            try:
                if key not in self._reports:
                    self._reports[key] = report_html(self._store, runs)
                    if len(self._reports) > _MOST_KEPT:
                        self._reports.pop(next(iter(self._reports)))
            finally:
                self._writing.release()
        return self._reports.get(key)

    def _find(self, run_id: str) -> RunInfo:
        try:
            return self._store.run_info(run_id)
        except StoreUnavailableError:
            raise
        except StoreError as error:
            raise HTTPException(404, str(error)) from error

    def _page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """Show a page; to a poll, answer with the HTML of what may have changed by the id of its element, as JSON.

        Control characters, which a name may hold, mean nothing in HTML: they are written out.
        """
        values = {"store": self._store.shown_url, "is_live": False, "asks_again": False, **values}
        page = _ENVIRONMENT.get_template(template)
        if not _is_poll(request):
            return HTMLResponse(escape_controls(page.render(values)), status)
        live = page.blocks.keys() - _ENVIRONMENT.get_template("frame.html.j2").blocks.keys()
        parts = {name: escape_controls("".join(page.blocks[name](page.new_context(values)))) for name in live}
        return JSONResponse({"parts": parts, "is_live": values["is_live"]}, status)


def _is_poll(request: Request) -> bool:
    return request.headers.get("accept") == "application/json"


async def _server_error(request: Request, error: Exception) -> Response:
    # It is outside of the middleware, and has its headers from here.
    return PlainTextResponse("This server has an error: its terminal says more.", 500, HEADERS)


def make_app(store: Store, token: str | None, port: int) -> Starlette:
    """Make the application for a store that was opened read-only.

    Args:
        store: the store to show.
        token: the token that every request must have; None if only this machine reaches the server.
        port: the port of the server.
    """
    pages = Pages(store)
    routes = [
        Route("/", pages.runs),
        Route("/report", pages.report),
        Route("/style.css", lambda request: Response(STYLE, media_type="text/css")),
        Route("/script.js", lambda request: Response(SCRIPT, media_type="text/javascript")),
        Route("/runs/{run_id}", pages.run),
    ]
    handlers: dict[Any, Any] = {HTTPException: pages.failed, NwsError: pages.failed, 500: _server_error}
    return Starlette(routes=routes, middleware=middleware(token, port), exception_handlers=handlers)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that listens there; port 0 is any that is free.

    Raises:
        NwsError: it cannot be had, and why.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(
            f"The server cannot listen at {host}, port {port}: {reason}. Choose another --port or --host."
        ) from error


def make_server(store: Store, listening: socket.socket, host: str, token: str | None) -> uvicorn.Server:
    """Make the server of a store that was opened read-only; `run(sockets=[listening])` answers until it is stopped.

    Raises:
        RecipeError: others could read the store, or could guess the token.
    """
    require_safe(host, token)
    # No log of requests, whose addresses may hold the token; and no belief in what a proxy says.
    config = uvicorn.Config(
        make_app(store, token, listening.getsockname()[1]),
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=3,
    )
    return uvicorn.Server(config)
