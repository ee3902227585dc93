"""Where a run is driven: `nws resume`, and `nws drive`, which Ray jobs run."""

import dataclasses
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

import typer

from nws.core.errors import ClusterError, CorpusError, ModelError, RecipeError
from nws.jobs.commands import options
from nws.jobs.commands.options import (
    DEFAULT_STORE,
    ActorOptions,
    Json,
    ResumeTargetOptions,
    RunOptions,
    StoreUrl,
    TargetOptions,
    grouped,
)
from nws.jobs.commands.shared import NamedRun, NewestRun, changing, chosen_run, err, finish, store_flag
from nws.jobs.report.numerals import counted

if TYPE_CHECKING:
    from nws.jobs.drive.pools import Engine
    from nws.jobs.drive.run import Outcome
    from nws.jobs.recipes.plan import Plan
    from nws.jobs.store import Store


@grouped
def resume(
    target: ResumeTargetOptions,
    actors: ActorOptions,
    resuming: options.ResumeOptions,
    run: NewestRun = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Resume a run that has stopped.

    Only what is missing is computed, and articles that failed are tried again. A run that was submitted to a Ray
    cluster goes there again, unless --address or --local says otherwise.
    """
    if target.local:
        target = dataclasses.replace(target, address=None)
    target.require_possible()
    with changing(store) as opened:
        run = chosen_run(opened, run)
        if not target.address and not target.local and target.engine == "ray":
            target = dataclasses.replace(target, address=opened.run_info(run).address)
        outcome = resume_run(opened, store, run, target, actors, resuming)
    finish(outcome, store, as_json)


def resume_run(
    opened: "Store", store: str, run: str, target: TargetOptions, actors: ActorOptions, resuming: options.ResumeOptions
) -> "Outcome":
    """Resume a run where the target says, and say if nothing was left to compute. Returns its outcome."""
    log_to = resuming.log_to or []
    target.require_possible(actors.accelerator, log_to)
    before = opened.run_info(run)
    if before.shards is not None:
        if log_to:
            raise RecipeError("--log-to is for runs with one driver. Resume a single shard with it.")
        outcome = _resume_shards(opened, run, target, actors, resuming)
    elif resuming.drivers is not None:
        raise RecipeError(f"--drivers is for sharded runs, and {run} has one driver.")
    elif target.address:
        from nws.jobs.drive.ship import ship_again

        _warn_of_a_file(store)
        line = len(opened.log(run))
        name, epoch = ship_again(opened, run, target.address, actors.accelerator, actors.actors, resuming.take_over)
        outcome = _follow(opened, store, run, name, epoch, line, target)
    else:
        from nws.jobs.drive import driver

        with explain_interrupt(run, store):
            outcome = driver.resume(
                opened, run, target.engine, actors.accelerator, actors.actors, err, resuming.take_over, log_to=log_to
            )
    if before.state == outcome.state == "done" and before.summaries == outcome.summaries:
        but = f", except for {counted(outcome.failures, 'article')} that failed again" if outcome.failures else ""
        err.print(f"Nothing was left to compute. {run} was done before{but}.")
    return outcome


def _resume_shards(
    opened: "Store", run: str, target: TargetOptions, actors: ActorOptions, resuming: options.ResumeOptions
) -> "Outcome":
    from nws.cluster.job_api import Head
    from nws.jobs.drive.sharded_run import cluster_drivers, drive_sharded_run, local_drivers

    opened.require_free(run, socket.gethostname(), resuming.take_over)
    refuse_no_wait(target)
    at_once = resuming.drivers or opened.shard_drivers(run)
    address = None
    if target.address:
        head = Head(target.address)
        address = head.address
        start = cluster_drivers(opened, run, head, actors.accelerator, actors.actors)
    else:
        start = local_drivers(opened, run, target.engine, actors.accelerator, actors.actors)
    return drive_sharded_run(opened, run, start, at_once, err, address, resuming.take_over)


@contextmanager
def explain_interrupt(run: str, store: str) -> Iterator[None]:
    """Say how to resume a run that is interrupted before or after the work of its driver (which says so itself)."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(f"Interrupted. If nws ls lists the run, resume it with: nws resume {run}{store_flag(store)}")
        raise


@grouped
def drive(
    run: NamedRun,
    actors: ActorOptions,
    epoch: int | None = None,
    engine: str = "cluster",
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Drive a run, or shards of it: what a submitted job runs on the head of its cluster, and a driver of shards.

    A later submission has a higher epoch and takes the run from this job. The engine is the cluster, or for shards
    ray or inline: on this machine alone.
    """
    from nws.jobs.drive.run import hold_run
    from nws.jobs.drive.sharded_run import drive_shards
    from nws.jobs.drive.ship import take_store_url
    from nws.jobs.store import open_store

    store = take_store_url() or store
    driven = partial(_driven, actors=actors, engine=cast("Engine", engine))
    with open_store(store) as opened:
        if epoch is not None and opened.waiting().run_info(run).shards is not None:
            outcome = drive_shards(opened, run, epoch, driven, err)
        else:
            with hold_run(opened, run, epoch, err) as claimed_epoch:
                outcome = driven(opened, run, claimed_epoch)
    if outcome is not None:  # None if this was one of several drivers, and no shard is left
        finish(outcome, store, as_json=False)


def _driven(opened: "Store", run: str, epoch: int | None, actors: ActorOptions, engine: "Engine") -> "Outcome":
    from nws.jobs.drive import driver

    try:
        return driver.resume(opened, run, engine, actors.accelerator, actors.actors, err, epoch=epoch)
    except (CorpusError, ModelError) as error:
        if engine != "cluster":
            raise
        raise type(error)(
            f"{error} Files and folders that a recipe names must be at the same path on the head of the cluster.",
            settings=error.settings,
        ) from error


def refuse_no_wait(target: TargetOptions) -> None:
    """Refuse `--no-wait` for a sharded run, since this process starts the drivers of its shards.

    Raises:
        RecipeError: `--no-wait` is given.
    """
    if target.no_wait:
        raise RecipeError("--no-wait is for runs with one driver. Put `nohup` before the command and `&` after it.")


def start_there(opened: "Store", store: str, plan: "Plan", target: TargetOptions, run: RunOptions) -> "Outcome":
    """Submit a new run to a cluster and follow it. Returns its outcome."""
    from nws.jobs.drive.ship import ship_run

    _warn_of_a_file(store)
    run_id = ship_run(opened, plan, str(target.address), not run.no_reuse, run.name, run.note)
    return _follow(opened, store, run_id, run_id, 0, 0, target)


def _warn_of_a_file(store: str) -> None:
    from nws.jobs.store.address import parse_address

    path = parse_address(store).path
    if path is not None:
        err.print(
            f"Warning: the driver on the head of the cluster must see the same file {path}, so the head must be this "
            "machine. Otherwise, use Postgres."
        )


def _follow(opened: "Store", store: str, run: str, job: str, epoch: int, line: int, target: TargetOptions) -> "Outcome":
    from nws.cluster.job_api import Head
    from nws.jobs.drive.run import outcome_of
    from nws.jobs.drive.ship import follow_run

    where = store_flag(store)
    err.print(f"Submitted {run} to {target.address} as job {job}.")
    if target.no_wait:
        err.print(f"Follow it with: nws logs {run} --follow{where}")
        return dataclasses.replace(outcome_of(opened.run_info(run)), state="submitted")
    try:
        head = Head(str(target.address))
        info = follow_run(opened, run, lambda said: err.print(said.text), epoch, line, (head, job))
    except KeyboardInterrupt:
        err.print(
            f"The run goes on. Follow it with: nws logs {run} --follow{where}; stop it with: nws cancel {run}{where}"
        )
        raise typer.Exit(130) from None
    if info.state == "failed":
        raise ClusterError(f"Run {run} failed: {info.error}. For its log: nws logs {run}{where}")
    return outcome_of(info)
