"""`nws logs` and `nws cancel`: what the drivers of a run said, and an end to it, from any machine with the store."""

import json
import socket
from typing import Annotated, Any

import typer

from cluster.job_api import Head
from core.errors import ClusterError, RecipeError
from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, out, reading, shown

_PATIENCE_SECONDS = 20.0
_STOP_SECONDS = 40.0  # a little more than what a job that is stopped has to end

HeadAddress = Annotated[
    str | None,
    typer.Option("--address", help="Dashboard of the Ray cluster; default: the one the run was submitted to."),
]


def logs(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    job: Annotated[
        bool, typer.Option("--job", help="What the Ray jobs of a submitted run have printed, from its cluster.")
    ] = False,
    address: HeadAddress = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Print what the drivers of a run said, with times in UTC; with --json, one list at the end."""
    with reading(store) as opened:
        info = opened.run_info(run)
        if job:
            _job_logs(run, address or info.address, follow)
            return
        lines: list[dict[str, str]] = []

        def say(line: Any) -> None:
            lines.append({"said_at": line.said_at.isoformat(), "text": line.text})
            if not as_json:
                out.print(f"{line.said_at:%Y-%m-%d %H:%M:%S} {line.text}", markup=False)

        if follow:
            from jobs import follow as following

            following.follow(opened, run, following.START, say)
        else:
            for _, line in opened.log(run):
                say(line)
    if as_json:
        print(json.dumps(lines))


def _job_logs(run: str, address: str | None, follow: bool) -> None:
    from jobs import submission

    if not address:
        raise RecipeError(f"Run {run} was not submitted to a cluster, so it has no Ray job: nws logs {run}")
    head = Head(address)
    names = submission.jobs_of(head, run)
    if not names:
        raise ClusterError(f"The Ray cluster at {address} knows no job of run {run}: its head was started again since.")
    for name in names:
        err.print(f"Ray job {name}")
        pieces = head.follow_log(name) if follow and name == names[-1] else [head.log(name)]
        for piece in pieces:
            print(piece, end="", flush=True)


def cancel(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    address: HeadAddress = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Stop a run: its driver is asked, and the Ray job of one that does not react, or has no driver yet, is stopped.

    What was finished is stored, and `nws resume` goes on with it. Exit 1 if the run could not be stopped.
    """
    from jobs import submission
    from jobs.follow import wait_for_end
    from jobs.store import open_store

    stopped: list[str] = []
    with open_store(store) as opened:
        before = opened.run_info(run)
        reacting = opened.cancel_run(run, socket.gethostname())
        if reacting:
            err.print(f"Asked the driver (pid {before.driver_pid} on {before.driver_host}) to stop …")
            reacting = wait_for_end(opened, run, _PATIENCE_SECONDS).state != "running"
        where = address or before.address
        if where and not reacting:
            stopped = _stop_jobs(where, run, before.state in ("pending", "running"))
            if stopped:
                wait_for_end(opened, run, _STOP_SECONDS)
                submission.end_stopped(opened, run)
        info = opened.run_info(run)
    if as_json:
        print(json.dumps({"run_id": run, "state": info.state, "stopped_jobs": stopped}))
    else:
        jobs = f" Stopped the Ray job {', '.join(stopped)}." if stopped else ""
        out.print(f"Run {run} is {info.state}.{jobs}")
    if info.state == "running":
        err.print(
            f"Its driver, pid {info.driver_pid} on {info.driver_host}, has not reacted yet. It stops when it next "
            f"reaches the store {shown(store)}; or end the process."
        )
        raise typer.Exit(1)


def _stop_jobs(address: str, run: str, must_answer: bool) -> list[str]:
    from jobs import submission

    try:
        return submission.stop_jobs(Head(address), run)
    except ClusterError as error:
        if must_answer:
            raise
        err.print(f"Whether the run waits there to be resumed is not known: {error}", markup=False)
        return []
