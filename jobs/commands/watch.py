"""`nws watch`: the progress of a run, from any machine that sees the store."""

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.commands import complete
from jobs.commands.options import DEFAULT_STORE, StoreUrl
from jobs.commands.shared import chosen_run, err, out, reading, store_flag
from jobs.terminal.console import PrintableConsole

if TYPE_CHECKING:
    from jobs.report.run_view import View, Viewer

_PAUSE_SECONDS = 1.0
_SECONDS_BETWEEN_LINES = 5.0
_LONGEST_SILENCE = 10.0


def watch(
    run: Annotated[
        str | None, typer.Argument(help="Run id; default: the newest run.", autocompletion=complete.runs)
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object every second, one a line, until the run ends.")
    ] = False,
) -> None:
    """Watch a run until it ends.

    Shows its speed, the time left, its actors, failures and newest summaries. On a terminal the screen is drawn anew
    every second; elsewhere a line comes every few seconds.
    """
    from jobs.report.run_view import Viewer

    with reading(store) as opened:
        run_id = chosen_run(opened, run)
        viewer = Viewer(opened.waiting(), run_id)  # the driver itself says in its log that it waits
        show = _json_lines if as_json else _screen if out.is_terminal else _lines
        try:
            show(viewer)
        except KeyboardInterrupt:
            where = store_flag(store)
            err.print(f"No longer watched; the run goes on. Stop it with: nws cancel {run_id}{where}", markup=False)
            raise typer.Exit(130) from None


def _json_lines(viewer: "Viewer") -> None:
    while True:
        view = viewer.look()
        print(json.dumps(view.as_dict()), flush=True)
        if view.has_ended:
            return
        _pause()


def _screen(viewer: "Viewer") -> None:
    from rich.live import Live

    from jobs.report.run_view import screen

    # Not `out`, which folds nothing.
    with Live(console=PrintableConsole(), auto_refresh=False) as live:
        while True:
            view = viewer.look()
            live.update(screen(view), refresh=True)
            if view.has_ended:
                return
            _pause()


def _lines(viewer: "Viewer") -> None:
    from jobs.report.run_view import failure_line, line

    shown: View | None = None
    at = 0.0
    while True:
        view = viewer.look()
        passed = time.monotonic() - at
        is_news = shown is None or _counts(view) != _counts(shown)
        if shown is None or view.has_ended or passed >= (_SECONDS_BETWEEN_LINES if is_news else _LONGEST_SILENCE):
            for reason in reversed(view.reasons):
                if shown is None or reason not in shown.reasons:
                    out.print(f"failed: {failure_line(reason)}")
            out.print(line(view))
            shown, at = view, time.monotonic()
        if view.has_ended:
            return
        _pause()


def _counts(view: "View") -> tuple[object, ...]:
    run, at = view.run, view.progress
    return run.state, run.articles_done, run.failures, at and (at.stage, at.finished)


def _pause() -> None:
    time.sleep(_PAUSE_SECONDS)
