"""`nws ls`, `status`, `logs`, `cancel`, `rm` and `serve`: the runs of a store."""

import json
import socket
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from nws.core.errors import RecipeError
from nws.jobs.commands.options import DEFAULT_STORE, HeadAddress, Json, StoreUrl, grouped, option, plain
from nws.jobs.commands.shared import (
    NamedRun,
    NewestRun,
    changing,
    chosen_run,
    err,
    out,
    print_result,
    reading,
    shown,
    store_flag,
)
from nws.jobs.report.console import PrintableConsole, busy

if TYPE_CHECKING:
    from nws.jobs.store import LogLine, Store


_SECONDS_BETWEEN_LINES = 5.0


def list_runs(
    with_shards: Annotated[bool, typer.Option("--all", "-a", help="Also list the shards of sharded runs.")] = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """List the runs of a store, newest first.

    Prints the state, datasets, lengths and answer of each run. A sharded run is one line.
    """
    from nws.jobs.report.run_status import listed_runs, print_runs

    with reading(store) as opened:
        listed = listed_runs(opened, opened.list_runs(with_shards))
    print_result(as_json, [run.as_dict() for run in listed], lambda: print_runs(listed, PrintableConsole()))


def status(
    run: NewestRun = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            "-w",
            help="Refresh the display every second until the run ends. Without a terminal, print a line every 5 s. "
            "With --json, print one object per line every second.",
        ),
    ] = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show the state and progress of a run.

    Prints progress, speed and actors, what made the numbers, and which articles failed.
    """
    from nws.jobs.report.run_view import Viewer, print_facts, status_facts, status_json

    with reading(store) as opened:
        run_id = chosen_run(opened, run)
        if watch:
            _watch(opened.waiting(), run_id, store_flag(store), as_json)  # the driver itself logs that it waits
            return
        view = Viewer(opened, run_id).read()
        if as_json:
            print(json.dumps(status_json(opened, view)))
        else:
            print_facts(status_facts(opened, view, store_flag(store)), PrintableConsole())


def _watch(opened: "Store", run: str, where: str, as_json: bool) -> None:
    from rich.live import Live

    from nws.jobs.report.run_view import Viewer, facts_table, progress_line, status_facts, status_json

    viewer, is_drawn = Viewer(opened, run), out.is_terminal and not as_json
    live = Live(console=PrintableConsole(), auto_refresh=False)
    try:
        with live if is_drawn else nullcontext():
            while True:
                view = viewer.read_live()
                if is_drawn:
                    live.update(facts_table(status_facts(opened, view, where, is_brief=True)), refresh=True)
                elif as_json:
                    print(json.dumps(status_json(opened, view)), flush=True)
                else:
                    out.print(progress_line(view))
                if view.has_ended:
                    return
                _pause(1 if is_drawn or as_json else _SECONDS_BETWEEN_LINES)
    except KeyboardInterrupt:
        err.print(f"Stopped watching. The run goes on. Stop it with: nws cancel {run}{where}")
        raise typer.Exit(130) from None


def _pause(seconds: float) -> None:
    time.sleep(seconds)


def logs(
    run: NewestRun = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print new lines until the run ends.")] = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Print the log of a run, with times in UTC.

    With --json, prints one list at the end.
    """
    with reading(store) as opened:
        info = opened.run_info(chosen_run(opened, run))
        lines: list[dict[str, str]] = []

        def say(line: "LogLine") -> None:
            lines.append({"logged_at": line.logged_at.isoformat(), "text": line.text})
            if not as_json:
                out.print(f"{line.logged_at:%Y-%m-%d %H:%M:%S} {line.text}")

        if follow:
            from nws.jobs.drive.ship import follow_run

            follow_run(opened, info.id, say)
        else:
            for _, line in opened.log(info.id):
                say(line)
    if as_json:
        print(json.dumps(lines))


_PATIENCE_SECONDS = 20.0
_STOP_SECONDS = 40.0  # a little more than a stopped job has to end


def cancel(run: NamedRun, address: HeadAddress = None, store: StoreUrl = DEFAULT_STORE, as_json: Json = False) -> None:
    """Stop a run.

    Asks the driver, the process that runs it, to stop. On a cluster, stops the run's Ray job if the driver does not
    react or has not started. Finished work is stored, and `nws resume` continues from there. Exits with 1 if the run
    could not be stopped.
    """
    from nws.cluster.job_api import Head
    from nws.jobs.drive.ship import end_stopped, stop_jobs, wait_for_end

    stopped: list[str] = []
    with changing(store) as opened:
        run = opened.full_id(run)
        before = opened.run_info(run)
        reacting = opened.cancel_run(run, socket.gethostname())
        if reacting:
            err.print("Asked the driver to stop …")
            reacting = wait_for_end(opened, run, _STOP_SECONDS if before.shards else _PATIENCE_SECONDS)
        where = address or before.address
        if where and not reacting and (stopped := stop_jobs(Head(where), run)):
            wait_for_end(opened, run, _STOP_SECONDS)
            end_stopped(opened, run)
        info = opened.run_info(run)
    jobs = f" Stopped the Ray job {', '.join(stopped)}." if stopped else ""
    ended = {"run_id": run, "state": info.state, "stopped_jobs": stopped}
    print_result(as_json, ended, lambda: out.print(f"Run {run} is {info.state}.{jobs}"))
    if info.state == "running":
        err.print(
            f"Its driver, pid {info.driver_pid} on {info.driver_host}, has not reacted yet. It stops when it next "
            f"reaches the store {shown(store)}. To stop it now, end the process."
        )
        raise typer.Exit(1)


def remove(
    run: NamedRun,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Remove a run for good.

    Deletes all its rows, and the articles that are in no other run. Refuses a run that is pending or running. Summaries
    that other runs have copied from it are not deleted.
    """
    from nws.jobs.report.numerals import counted

    if as_json and not yes:
        raise RecipeError("--json cannot ask for confirmation. Add --yes.")
    with changing(store) as opened:
        run = opened.full_id(run)
        info = opened.run_info(run)
        if not yes:
            articles, summaries = counted(info.articles_done, "article"), counted(info.summaries, "summary")
            err.print(f"{run} in {shown(store)}: {info.state}, {articles}, {summaries}")
            typer.confirm("Remove it for good?", abort=True, err=True)
        with busy(f"Removing {run}"):
            articles_removed = opened.remove_run(run, socket.gethostname())
    summaries, articles = counted(info.summaries, "summary"), counted(articles_removed, "article")
    text = f"Removed {run}: {summaries}, and {articles} that no other run has."
    removed = {"removed": run, "summaries": info.summaries, "articles": articles_removed}
    print_result(as_json, removed, lambda: out.print(text))


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of `nws serve`."""

    port: int = plain("--port N", "Port to listen on; 0 takes any free port.", 8300, min=0, max=65535)
    host: str = plain("--host H", "Address to listen on; one that other machines can reach needs a token.", "127.0.0.1")
    token: str | None = option(
        None,
        "--token T",
        "Token that every reader needs: once in the address, ?token=T, or in a header, Authorization: Bearer T.",
        env="NWS_SERVE_TOKEN",
    )


@grouped
def serve(options: ServeOptions, store: StoreUrl = DEFAULT_STORE) -> None:
    """Show the runs of a store in a browser, live.

    Shows all runs, the progress and answer of each, and the report of one or several. Never writes to the store. Ctrl-C
    ends it.
    """
    from nws.jobs.serve.access import require_safe
    from nws.jobs.serve.app import listen, make_server

    require_safe(options.host, options.token)
    with reading(store) as opened:
        listening = listen(options.host, options.port)
        server = make_server(opened, listening, options.host, options.token)
        name = f"[{options.host}]" if ":" in options.host else options.host
        address = f"http://{name}:{listening.getsockname()[1]}/" + ("?token=…" if options.token else "")
        out.print(f"Showing {shown(store)}, read-only, at {address} (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
        err.print("Stopped serving. Runs go on.")
