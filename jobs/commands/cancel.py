"""`nws cancel`: stop a run, from any machine with the store."""

import json
import socket
from typing import Annotated

import typer

from core.errors import ClusterError
from jobs.commands.options import DEFAULT_STORE, HeadAddress, Json, StoreUrl
from jobs.commands.shared import changing, err, out, shown

_PATIENCE_SECONDS = 20.0
_STOP_SECONDS = 40.0  # a little more than what a job that is stopped has to end


def cancel(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    address: HeadAddress = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Stop a run.

    Its driver, the process that drives it, is asked to stop. On a cluster, the run's Ray job is stopped if the driver
    does not react or has not begun. What was finished is stored, and `nws resume` goes on with it. Exit 1 if the run
    could not be stopped.
    """
    from jobs.remote.follow import wait_for_end
    from jobs.remote.ship import end_stopped

    stopped: list[str] = []
    with changing(store) as opened:
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
                end_stopped(opened, run)
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
    from cluster.job_api import Head
    from jobs.remote.ship import stop_jobs

    try:
        return stop_jobs(Head(address), run)
    except ClusterError as error:
        if must_answer:
            raise
        err.print(f"Whether the run waits there to be resumed is not known: {error}", markup=False)
        return []
