"""The application: which page is where. It reads the store, in threads, and writes nothing."""

import socket
import threading
from collections.abc import Hashable, Sequence
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from core.errors import NwsError, StoreError, StoreUnavailableError
from jobs.report.page.page import content_policy
from jobs.report.run_view import Viewer
from jobs.serve.access import HEADERS, middleware, require_safe
from jobs.serve.pages import (
    REASONS,
    SCRIPT,
    STYLE,
    fingerprint,
    list_values,
    live_parts,
    page_html,
    report_html,
    run_values,
)
from jobs.store import RunInfo, Store

PATIENCE_SECONDS = 1.0
"""For how long a reader waits while another one has a report written, before being told to come again."""
_MOST_KEPT = 12
_TITLES = {400: "No run is chosen", 404: "Not here", 409: "This cannot be shown", 503: "The store cannot be read now"}


class Pages:
    """What answers the requests for a store that was opened read-only. Starlette calls each method in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._viewers: dict[str, Viewer] = {}
        self._reports: dict[Hashable, str] = {}
        self._writing = threading.Lock()

    def runs(self, request: Request) -> Response:
        """The list of all runs."""
        return self._page(request, "runs.html.j2", is_live=True, **list_values(self._store, request.query_params))

    def run(self, request: Request) -> Response:
        """A run, while it is in work and when it has ended."""
        run = self._find(request.path_params["run_id"])
        viewer = self._viewers.setdefault(run.id, Viewer(self._store, run.id, REASONS))
        return self._page(request, "run.html.j2", **run_values(self._store, viewer))

    def report(self, request: Request) -> Response:
        """The report page of a run or several, made when it is asked for."""
        runs = [self._find(run_id) for run_id in request.query_params.getlist("run")]
        if not runs:
            raise HTTPException(400, "Tick runs on the list of all runs, then press “Report of the chosen”.")
        html = self._report(runs)
        if html is None:
            told = "The report is being written. This page asks again by itself."
            return self._page(request, "frame.html.j2", 202, title="One moment", told=told, asks_again=True)
        policy = f"{content_policy()}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return HTMLResponse(html, headers={"Content-Security-Policy": policy})

    def failed(self, request: Request, error: Exception) -> Response:
        """Say in words what is wrong: with the store, with the address, or with what is asked."""
        told, status, headers = str(error), 503 if isinstance(error, StoreUnavailableError) else 409, None
        if isinstance(error, HTTPException):
            told, status, headers = error.detail, error.status_code, error.headers
        title = _TITLES.get(status, "This server is only read from")
        if _is_poll(request):
            return PlainTextResponse(f"{title}: {told}", status)
        answer = self._page(request, "frame.html.j2", status, title=title, told=told)
        answer.headers.update(headers or {})
        return answer

    def _report(self, runs: Sequence[RunInfo]) -> str | None:
        """The report of runs. It takes seconds and a few hundred MB: one is written at a time, and kept.

        None for whoever has waited for `PATIENCE_SECONDS` while another reader has one written, and has to come again.
        """
        key = tuple(map(fingerprint, runs))
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
        """A page; of a page that is polled, the HTML of what may have changed, as JSON."""
        values = {"store": self._store.shown_url, "is_live": False, "asks_again": False, **values}
        if _is_poll(request):
            return JSONResponse({"parts": live_parts(template, values), "is_live": values["is_live"]}, status)
        return HTMLResponse(page_html(template, values), status)


def _is_poll(request: Request) -> bool:
    return request.headers.get("accept") == "application/json"


async def _broken(request: Request, error: Exception) -> Response:
    # It is outside of the middleware, and has its headers from here.
    return PlainTextResponse("An error of this server: its terminal says more.", 500, HEADERS)


def make_app(store: Store, token: str | None, port: int) -> Starlette:
    """The application for a store that was opened read-only.

    Args:
        store: what is shown.
        token: that every request must have; None where only this machine reaches the server.
        port: where it listens.
    """
    pages = Pages(store)
    routes = [
        Route("/", pages.runs),
        Route("/report", pages.report),
        Route("/style.css", lambda request: Response(STYLE, media_type="text/css")),
        Route("/script.js", lambda request: Response(SCRIPT, media_type="text/javascript")),
        Route("/runs/{run_id}", pages.run),
    ]
    handlers: dict[Any, Any] = {HTTPException: pages.failed, NwsError: pages.failed, 500: _broken}
    return Starlette(routes=routes, middleware=middleware(token, port), exception_handlers=handlers)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises:
        NwsError: it cannot be had, and why.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(
            f"Nothing can listen at {host}, port {port}: {reason}. Choose another --port or --host."
        ) from error


def make_server(store: Store, listening: socket.socket, host: str, token: str | None) -> uvicorn.Server:
    """The server of a store that was opened read-only; its `run(sockets=[listening])` answers until it is stopped.

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
