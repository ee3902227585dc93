"""Where a run is driven: on this machine, or on a Ray cluster to which it is submitted and where it is followed."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from core.errors import ClusterError, RecipeError
from jobs.commands.options import ActorOptions, ResumeTargetOptions, RunOptions, TargetOptions
from jobs.commands.shared import err, store_flag

if TYPE_CHECKING:
    from jobs.drive.run import Outcome
    from jobs.recipes.plan import Plan
    from jobs.store import Store


def require_possible(engine: str, address: str | None) -> None:
    """Refuse a target that there cannot be.

    Raises:
        RecipeError: the address is not valid, or the engine contradicts it.
    """
    if address:
        from cluster.job_api import require_address

        require_address(address)
        if engine == "inline":
            raise RecipeError(
                f"--engine inline runs in this process, not at {address}: leave one out, or unset RAY_ADDRESS."
            )


def require_accelerator(accelerator: str | None, target: TargetOptions) -> None:
    """Refuse a GPU for a run that this machine would drive where it surely has none, before anything is loaded.

    Raises:
        ClusterError: it has none.
    """
    if target.address or accelerator in (None, "auto", "cpu"):
        return
    from cluster.resources import has_no_gpu

    if has_no_gpu():
        raise ClusterError(
            f"--accelerator {accelerator} needs a GPU, and this machine has none. Leave it out or take cpu, or run on "
            "a cluster with --address."
        )


def where_it_was(opened: "Store", run: str, target: ResumeTargetOptions) -> TargetOptions:
    """Where a run is resumed: where it was submitted to, unless the options say otherwise."""
    if target.local:
        return dataclasses.replace(target, address=None)
    if target.engine == "inline":
        return target
    return dataclasses.replace(target, address=target.address or opened.run_info(run).address)


def require_here(log_to: Sequence[str], target: TargetOptions) -> None:
    """Refuse trackers that cannot be used, and all trackers for a run that is driven elsewhere.

    Raises:
        RecipeError: there is no such tracker, it is not installed, or the run is driven on a cluster.
    """
    if not log_to:
        return
    from jobs.drive.trackers import require_trackers

    require_trackers(log_to)
    if target.address:
        raise RecipeError(
            f"--log-to is for runs that this machine drives, and this one is driven at {target.address}. When it is "
            "done, log it with: nws resume RUN --local --log-to …"
        )


def refuse_no_wait(target: TargetOptions) -> None:
    """Refuse to leave a sharded run alone: this process starts the drivers of its shards.

    Raises:
        RecipeError: the run is not to be waited for.
    """
    if target.no_wait:
        raise RecipeError("--no-wait is for runs with one driver. Put `nohup` before the command and `&` behind it.")


def start_there(opened: "Store", store: str, plan: "Plan", target: TargetOptions, run: RunOptions) -> "Outcome":
    """Submit a new run to a cluster and follow it. Returns its outcome."""
    from jobs.drive.ship import ship_run

    _warn_of_a_file(store)
    run_id = ship_run(opened, plan, str(target.address), not run.no_reuse, run.name, run.note)
    return _follow(opened, store, run_id, run_id, 0, 0, target)


def resume_there(
    opened: "Store", store: str, run: str, target: TargetOptions, actors: ActorOptions, take_over: bool
) -> "Outcome":
    """Submit a run again and follow it. Returns its outcome."""
    from jobs.drive.ship import ship_again

    _warn_of_a_file(store)
    line = len(opened.log(run))
    name, epoch = ship_again(opened, run, str(target.address), actors.accelerator, actors.actors, take_over)
    return _follow(opened, store, run, name, epoch, line, target)


def _warn_of_a_file(store: str) -> None:
    from jobs.store.address import parse_address

    path = parse_address(store).path
    if path is not None:
        err.print(
            f"Warning: the driver on the head of the cluster must see the very same file {path}: that works on this "
            "machine only. Elsewhere, use Postgres."
        )


def _follow(opened: "Store", store: str, run: str, job: str, epoch: int, line: int, target: TargetOptions) -> "Outcome":
    from cluster.job_api import Head
    from jobs.drive.run import outcome_of
    from jobs.drive.ship import follow_run

    where = store_flag(store)
    err.print(f"Submitted {run} to {target.address} as job {job}.")
    if target.no_wait:
        err.print(f"Follow it with: nws logs {run} --follow{where}")
        return dataclasses.replace(outcome_of(opened.run_info(run)), state="submitted")
    try:
        head = Head(str(target.address))
        info = follow_run(opened, run, lambda said: err.print(said.text, markup=False), epoch, line, (head, job))
    except KeyboardInterrupt:
        err.print(
            f"The run goes on. Follow it with: nws logs {run} --follow{where}; end it with: nws cancel {run}{where}"
        )
        raise typer.Exit(130) from None
    if info.state == "failed":
        raise ClusterError(f"Run {run} failed: {info.error}. See: nws logs {run}{where}")
    return outcome_of(info)
