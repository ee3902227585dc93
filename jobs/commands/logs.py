"""`nws logs`: what the drivers of a run said, from any machine with the store."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import ClusterError, RecipeError
from jobs.commands.options import DEFAULT_STORE, HeadAddress, Json, StoreUrl
from jobs.commands.shared import err, newest, out, reading, store_flag

if TYPE_CHECKING:
    from jobs.store import LogLine


def logs(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    job: Annotated[
        bool, typer.Option("--job", help="Of a run on a cluster: what its Ray jobs have printed, read from there.")
    ] = False,
    address: HeadAddress = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Print the log of a run, with times in UTC.

    With --json, one list at the end.
    """
    with reading(store) as opened:
        info = opened.run_info(run or newest(opened))
        if job:
            _job_logs(info.id, address or info.address, follow, store_flag(store))
            return
        lines: list[dict[str, str]] = []

        def say(line: "LogLine") -> None:
            lines.append({"said_at": line.said_at.isoformat(), "text": line.text})
            if not as_json:
                out.print(f"{line.said_at:%Y-%m-%d %H:%M:%S} {line.text}", markup=False)

        if follow:
            from jobs.remote.follow import START, follow_run

            follow_run(opened, info.id, START, say)
        else:
            for _, line in opened.log(info.id):
                say(line)
    if as_json:
        print(json.dumps(lines))


def _job_logs(run: str, address: str | None, follow: bool, where: str) -> None:
    from cluster.job_api import Head
    from jobs.remote.ship import jobs_of

    if not address:
        raise RecipeError(f"Run {run} was not submitted to a cluster, so it has no Ray job: nws logs {run}{where}")
    head = Head(address)
    names = jobs_of(head, run)
    if not names:
        raise ClusterError(f"The Ray cluster at {address} knows no job of run {run}: its head was started again since.")
    for name in names:
        err.print(f"Ray job {name}")
        pieces = head.follow_log(name) if follow and name == names[-1] else [head.log(name)]
        for piece in pieces:
            out.print(piece, end="", markup=False)
