"""`nws resume`; `nws add`, which resumes a run with more; and `nws drive`, which Ray jobs run."""

import dataclasses
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import typer

from core.errors import CorpusError, ModelError, RecipeError, StoreError, StoreUnavailableError
from jobs.commands import complete, options
from jobs.commands.groups import grouped
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import changing, chosen_run, err, finish, store_flag
from jobs.commands.target import require_accelerator, require_here, require_possible, resume_there, where_it_was

if TYPE_CHECKING:
    from core.summarizers.predictions import PredictionsSpec
    from jobs.drive.pools import Engine
    from jobs.drive.run import Outcome
    from jobs.store import Store


@grouped
def resume(
    target: options.ResumeTargetOptions,
    actors: options.ActorOptions,
    resuming: options.ResumeOptions,
    run: Annotated[
        str | None,
        typer.Argument(help="Run id, as `nws ls` lists it; default: the newest run.", autocompletion=complete.runs),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Resume a run that has stopped.

    Only what is missing is computed, and articles that failed are tried again. A run that was submitted to a Ray
    cluster goes there again, unless --address or --local says otherwise.
    """
    require_possible(target.engine, None if target.local else target.address)
    with changing(store) as opened:
        run = chosen_run(opened, run)
        again = where_it_was(opened, run, target)
        outcome = resume_run(
            opened, store, run, again, actors, resuming.take_over, resuming.log_to or [], resuming.drivers
        )
    finish(outcome, store, as_json)


def resume_run(
    opened: "Store",
    store: str,
    run: str,
    target: options.TargetOptions,
    actors: options.ActorOptions,
    take_over: bool = False,
    log_to: Sequence[str] = (),
    drivers: int | None = None,
) -> "Outcome":
    """Resume a run where the target says; a sharded run with so many `drivers`. Returns its outcome."""
    require_accelerator(actors.accelerator, target)
    require_here(log_to, target)
    if opened.run_info(run).shards is not None:
        if log_to:
            raise RecipeError("--log-to is for runs with one driver: resume a shard with it.")
        return _resume_shards(opened, store, run, target, actors, take_over, drivers)
    if drivers is not None:
        raise RecipeError(f"--drivers is for sharded runs, and {run} has one driver.")
    if target.address:
        return resume_there(opened, store, run, target, actors, take_over)

    from jobs.drive import driver

    with telling(opened, run, store):
        return driver.resume(
            opened, run, target.engine, actors.accelerator, actors.actors, err, take_over, log_to=log_to
        )


def _resume_shards(
    opened: "Store",
    store: str,
    run: str,
    target: options.TargetOptions,
    actors: options.ActorOptions,
    take_over: bool,
    drivers: int | None,
) -> "Outcome":
    from cluster.job_api import Head
    from jobs.drive.run import outcome_of
    from jobs.drive.shard_drivers import drivers_here, drivers_there
    from jobs.drive.sharded_run import drive_sharded_run

    info = opened.require_free(run, socket.gethostname(), take_over)
    at_once = drivers or opened.shard_drivers(run)
    if not target.address:
        start = drivers_here(opened, run, target.engine, actors.accelerator, actors.actors)
        return drive_sharded_run(opened, run, start, at_once, err, take_over=take_over)
    if target.no_wait:
        _resume_apart(opened, run, target.address, actors, at_once, take_over)
        err.print(f"Submitted {run}, of {info.shards} shards, to {target.address}.")
        follow = f"nws status {run} --watch{store_flag(store)}"
        err.print(f"What starts its drivers is a process of this machine. Follow it with: {follow}")
        return dataclasses.replace(outcome_of(info), state="submitted")
    head = Head(target.address)
    start = drivers_there(opened, run, head, actors.accelerator, actors.actors)
    return drive_sharded_run(opened, run, start, at_once, err, head.address, take_over)


def _resume_apart(
    opened: "Store", run: str, address: str, actors: options.ActorOptions, drivers: int, take_over: bool
) -> None:
    """Start a process that resumes a sharded run, and outlives this one."""
    from jobs.drive.shard_drivers import NWS
    from jobs.drive.ship import options_of

    asked = ["--address", address, "--drivers", str(drivers), *options_of(actors.accelerator, actors.actors)]
    subprocess.Popen(
        [*NWS, "resume", run, *asked, *(["--take-over"] if take_over else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"NWS_STORE": opened.url},
        start_new_session=True,
    )


@contextmanager
def telling(opened: "Store", run: str, store: str) -> Iterator[None]:
    """A driver ends its run in order when it is interrupted; what comes before and after is said here."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(_how_it_stands(opened, run, store))
        raise


def _how_it_stands(opened: "Store", run: str, store: str) -> str:
    """A message on the state of an interrupted run, and how to resume it."""
    resume_with = f"Resume it with: nws resume {run}{store_flag(store)}"
    try:
        info = opened.run_info(run)
    except StoreUnavailableError as error:
        return f"Interrupted. The state of run {run} cannot be read now ({error}). {resume_with}"
    except StoreError:
        return "Interrupted before there was a run: nothing is stored."
    if (info.driver_pid, info.driver_host) != (os.getpid(), socket.gethostname()):
        return f"Interrupted before the run was taken. {resume_with}"
    return f"Interrupted again while run {run} was ending. Summaries stored: {info.summaries}. {resume_with}"


@grouped
def drive(
    run: Annotated[str, typer.Argument(help="Run id.", autocompletion=complete.runs)],
    actors: options.ActorOptions,
    epoch: Annotated[
        int | None, typer.Option(metavar="N", help="Of the submission: a later one takes the run from this job.")
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="cluster: this one. ray or inline: on this machine alone, for shards.")
    ] = "cluster",
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Drive a run, or shards of it: what a submitted job runs on the head of its cluster, and a driver of shards."""
    from jobs.drive.run import hold_run
    from jobs.drive.sharded_run import drive_shards
    from jobs.drive.ship import take_store_url
    from jobs.store import open_store

    store = take_store_url() or store
    driven = partial(_driven, actors=actors, engine=cast("Engine", engine))
    with open_store(store) as opened:
        if epoch is not None and opened.waiting().run_info(run).shards is not None:
            of_shard = drive_shards(opened, run, epoch, driven, err)
            if of_shard is None:
                return
            outcome = of_shard
        else:
            with hold_run(opened, run, epoch, err) as claimed_epoch:
                outcome = driven(opened, run, claimed_epoch)
    finish(outcome, store, as_json=False)


def _driven(opened: "Store", run: str, epoch: int | None, actors: options.ActorOptions, engine: "Engine") -> "Outcome":
    from jobs.drive import driver

    try:
        return driver.resume(opened, run, engine, actors.accelerator, actors.actors, err, epoch=epoch)
    except (CorpusError, ModelError) as error:
        if engine != "cluster":
            raise
        raise type(error)(
            f"{error} A file or folder that a recipe names must lie at the same path on the head.",
            settings=error.settings,
        ) from error


@grouped
def add(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.", autocompletion=complete.runs)],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="JSONL, CSV or Parquet files with an article's key as `id`, and a `prediction`. Each is a system, "
            "called after the file, or as you say: name=file."
        ),
    ],
    target: options.ResumeTargetOptions,
    actors: options.ActorOptions,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Add predictions to a run that has ended.

    They are scored over the run's articles, at its lengths, with its metrics. A run that was submitted to a Ray cluster
    goes there again, unless --address or --local says otherwise.
    """
    require_possible(target.engine, None if target.local else target.address)

    from core.summarizers.predictions import parse_predictions

    files = [parse_predictions(text) for text in predictions]
    with changing(store) as opened:
        run = opened.full_id(run)
        again = where_it_was(opened, run, target)
        _extend(opened, run, files)
        err.print(f"Added to {run}. If this is interrupted, resume it with: nws resume {run}{store_flag(store)}")
        outcome = resume_run(opened, store, run, again, actors)
    finish(outcome, store, as_json)


def _extend(opened: "Store", run_id: str, files: "list[PredictionsSpec]") -> None:
    from jobs.recipes.job import plan_with
    from jobs.terminal.warnings import warn_of_misfits

    plan = plan_with(opened.require_free(run_id, socket.gethostname()), files)
    warn_of_misfits(plan, err)
    opened.extend_run(run_id, socket.gethostname(), plan.run_spec())
