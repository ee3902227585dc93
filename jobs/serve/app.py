"""The application: which page is where. It reads the store, in threads, and writes nothing."""

import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import uvicorn
from anyio import to_thread
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core.errors import NwsError, StoreError, StoreUnavailableError
from jobs.report.run_view import View, Viewer
from jobs.serve.access import HEADERS, Access, require_safe
from jobs.serve.compare_page import comparison_html, opening_metric, sides_of
from jobs.serve.feeds import Feeds, Parts, Seen
from jobs.serve.html import is_run_id, rendered, rendered_part, run_link, script, style_sheet
from jobs.serve.run_page import REASONS, answer_html, fingerprint, parts_of, report_html
from jobs.serve.runs_page import STATES, Search, look_at_runs
from jobs.serve.slow_pages import PATIENCE_SECONDS, SlowPages
from jobs.store import RunInfo, Store
from jobs.terminal.run_status import made_by

RUN_SECONDS, LIST_SECONDS = 1.0, 2.0
"""Between two looks at the store."""


class NotHereError(NwsError):
    """An address leads to nothing."""


@dataclass(frozen=True)
class Pages:
    """What answers the requests.

    Attributes:
        store: opened read-only.
        slow: what takes seconds.
        feeds: what changes.
    """

    store: Store
    slow: SlowPages = field(default_factory=SlowPages)
    feeds: Feeds = field(default_factory=Feeds)

    async def runs(self, request: Request) -> Response:
        """The list of all runs."""
        asked = _asked(request)
        seen = await to_thread.run_sync(look_at_runs, self.store, asked)
        query = request.url.query
        return self._page(
            "runs.html.j2",
            parts={"notice": "", **seen.parts},
            asked=asked,
            states=STATES,
            events=f"/events?{query}" if query else "/events",
        )

    async def runs_events(self, request: Request) -> Response:
        """What changes of the list."""
        asked = _asked(request)

        async def look() -> Seen:
            return await to_thread.run_sync(look_at_runs, self.store, asked)

        return self._events(request, ("runs", asked), look, LIST_SECONDS)

    async def run(self, request: Request) -> Response:
        """A run."""
        run = await self._run(request)
        viewer = Viewer(self.store, run.id, REASONS)
        view, parts = await to_thread.run_sync(self._look_at_run, viewer)
        answer, is_last = await self._answer(view.run, PATIENCE_SECONDS)
        is_over = view.has_ended and is_last
        events: dict[str, Any] = {} if is_over else {"events": f"{run_link(run.id)}/events"}
        return self._page(
            "run.html.j2", parts={"notice": "", **parts, "answer": answer}, run=run, made_by=made_by(run), **events
        )

    async def run_events(self, request: Request) -> Response:
        """What changes of a run."""
        run = await self._run(request)
        viewer = Viewer(self.store, run.id, REASONS)

        async def look() -> Seen:
            view, parts = await to_thread.run_sync(self._look_at_run, viewer)
            answer, is_last = await self._answer(view.run, 0.0)
            return Seen({**parts, "answer": answer}, view.has_ended and is_last)

        return self._events(request, ("run", run.id), look, RUN_SECONDS)

    async def report(self, request: Request) -> Response:
        """The report page of a run, made when it is asked for."""
        from jobs.report.page.page import content_policy

        run = await self._run(request)
        html = await self.slow.get(("report", fingerprint(run)), partial(report_html, self.store, run))
        if html is None:
            text = "The report is being written. This page asks again by itself."
            return self._message("One moment", text, 202, back=run_link(run.id), again=True)
        policy = f"{content_policy()}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return HTMLResponse(html, headers={"Content-Security-Policy": policy})

    async def compare(self, request: Request) -> Response:
        """Two runs side by side, or the systems of one."""
        from jobs.terminal.metrics import metric_name, metrics_of

        ids = list(dict.fromkeys(request.query_params.getlist("run")))
        if not 1 <= len(ids) <= 2:
            text = "Tick one run or two on the list of all runs, then press “Compare the chosen”."
            return self._message("No run is chosen" if not ids else "Too many runs are chosen", text, 400)
        runs = [await self._find(run_id) for run_id in ids]
        metrics = metrics_of(runs)
        asked = request.query_params.get("metric", "")
        metric = asked if asked in metrics else opening_metric(runs, metrics)
        a, b = runs[0], runs[1] if len(runs) == 2 else None
        found, problem = None, ""
        try:
            key = ("compare", *map(fingerprint, runs), metric)
            found = await self.slow.get(key, partial(comparison_html, self.store, a, b, metric))
        except StoreUnavailableError:
            raise
        except NwsError as error:
            problem = str(error)
        return self._page(
            "compare.html.j2",
            a=a,
            b=b,
            sides=sides_of(a, b) if b else [],
            metrics=metrics,
            metric_names={one: metric_name(one) for one in metrics},
            metric=metric,
            found=Markup(found or ""),
            problem=problem,
            again=found is None and not problem,
        )

    async def style(self, request: Request) -> Response:
        """The style sheet."""
        return Response(style_sheet(), media_type="text/css")

    async def script(self, request: Request) -> Response:
        """The script."""
        return Response(script(), media_type="text/javascript")

    async def failed(self, request: Request, error: Exception) -> Response:
        """Say in words what is wrong: with the store, with the address, or with what is asked."""
        if isinstance(error, StoreError):
            return self._message("The store cannot be read now", str(error), 503)
        if isinstance(error, NotHereError):
            return self._message("Not here", str(error), 404)
        return self._message("This cannot be shown", str(error), 409)

    async def not_found(self, request: Request, error: Exception) -> Response:
        """Of an address that no page has."""
        return self._message("Not here", "There is no such page.", 404)

    def _look_at_run(self, viewer: Viewer) -> tuple[View, Parts]:
        view = viewer.glance()
        return view, parts_of(self.store, view)

    async def _run(self, request: Request) -> RunInfo:
        return await self._find(request.path_params["run_id"])

    async def _find(self, run_id: str) -> RunInfo:
        if not is_run_id(run_id):
            raise NotHereError("The store has no such run.")
        try:
            return await to_thread.run_sync(self.store.run_info, run_id)
        except StoreUnavailableError:
            raise
        except StoreError as error:
            raise NotHereError(str(error)) from error

    async def _answer(self, run: RunInfo, patience: float) -> tuple[str, bool]:
        """What a run found as HTML, and whether that is all there will be; "" while it is in work."""
        if run.state in ("pending", "running"):
            return "", False
        html, why_not, is_last = None, "It has no summaries.", True
        if run.summaries:
            try:
                html = await self.slow.get(
                    ("answer", fingerprint(run)), partial(answer_html, self.store, run), patience
                )
                why_not, is_last = "The answer is being computed …", html is not None
            except NwsError as error:
                why_not = str(error)
        return rendered_part("answer_part", run=run, answer=html and Markup(html), why_not=why_not), is_last

    def _page(self, template: str, status_code: int = 200, **values: Any) -> Response:
        return HTMLResponse(rendered(template, store=self.store.shown_url, **values), status_code)

    def _message(self, title: str, text: str, status: int, back: str | None = "/", again: bool = False) -> Response:
        return self._page("message.html.j2", status, title=title, text=text, back=back or "/", again=again)

    def _events(self, request: Request, key: Hashable, look: Callable[[], Awaitable[Seen]], seconds: float) -> Response:
        if self.feeds.is_full:
            return PlainTextResponse("Too many pages are open.", 503, {"Retry-After": "10"})
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")

        async def stream() -> AsyncIterator[str]:
            async for parts in self.feeds.follow(key, look, seconds):
                yield f"event: parts\ndata: {json.dumps(parts)}\n\n" if parts else ": still here\n\n"
            if not self.feeds.is_closed:
                yield "event: end\ndata: {}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def make_app(store: Store, token: str | None, port: int) -> tuple[Starlette, Pages]:
    """The application for a store that was opened read-only, and its pages.

    Args:
        store: what is shown.
        token: that every request must have; None where only this machine reaches the server.
        port: where it listens.
    """
    pages = Pages(store)
    routes = [
        Route("/", pages.runs),
        Route("/events", pages.runs_events),
        Route("/compare", pages.compare),
        Route("/style.css", pages.style),
        Route("/script.js", pages.script),
        Route("/runs/{run_id}", pages.run),
        Route("/runs/{run_id}/events", pages.run_events),
        Route("/runs/{run_id}/report", pages.report),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Access, token=token, port=port)],
        exception_handlers={404: pages.not_found, NwsError: pages.failed, 500: _internal},
    )
    return app, pages


def _asked(request: Request) -> Search:
    asked = request.query_params
    return Search.of(asked.get("q", ""), asked.get("state", ""), asked.get("page", "1"))


async def _internal(request: Request, error: Exception) -> Response:
    # It is outside of the middleware, and has its headers from here.
    return PlainTextResponse("An error of this server: its terminal says more.", 500, HEADERS)


_SECONDS_TO_END = 3


class Server(uvicorn.Server):
    """uvicorn's, which ends the feeds first: it would wait for their readers."""

    def __init__(self, config: uvicorn.Config, pages: Pages) -> None:
        super().__init__(config)
        self._pages = pages

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pages.feeds.close()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises:
        NwsError: it cannot be had, and why.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family)
    except OSError as error:
        reason = error.strerror or error
        raise NwsError(
            f"Nothing can listen at {host}, port {port}: {reason}. Choose another --port or --host."
        ) from error
    return listening


def make_server(store: Store, listening: socket.socket, host: str, token: str | None) -> Server:
    """The server of a store that was opened read-only; its `run(sockets=[listening])` answers until it is stopped.

    Raises:
        RecipeError: others could read the store, or could guess the token.
    """
    require_safe(host, token)
    app, pages = make_app(store, token, listening.getsockname()[1])
    # No log of requests, whose addresses may hold the token; and no belief in what a proxy says.
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    return Server(config, pages)
