"""`nws resume`; `nws add`, which resumes a run with more; and `nws drive`, which Ray jobs run."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import typer

from core.errors import CorpusError, ModelError, RecipeError
from jobs.commands import options
from jobs.commands.groups import grouped
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import NamedRun, NewestRun, changing, chosen_run, err, finish, store_flag
from jobs.commands.target import (
    refuse_no_wait,
    require_accelerator,
    require_here,
    require_possible,
    resume_there,
    where_it_was,
)

if TYPE_CHECKING:
    from jobs.drive.pools import Engine
    from jobs.drive.run import Outcome
    from jobs.store import Store


@grouped
def resume(
    target: options.ResumeTargetOptions,
    actors: options.ActorOptions,
    resuming: options.ResumeOptions,
    run: NewestRun = None,
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
        outcome = resume_run(opened, store, run, where_it_was(opened, run, target), actors, resuming)
    finish(outcome, store, as_json)


def resume_run(
    opened: "Store",
    store: str,
    run: str,
    target: options.TargetOptions,
    actors: options.ActorOptions,
    resuming: options.ResumeOptions,
) -> "Outcome":
    """Resume a run where the target says. Returns its outcome."""
    log_to = resuming.log_to or []
    require_accelerator(actors.accelerator, target)
    require_here(log_to, target)
    if opened.run_info(run).shards is not None:
        if log_to:
            raise RecipeError("--log-to is for runs with one driver: resume a shard with it.")
        return _resume_shards(opened, run, target, actors, resuming)
    if resuming.drivers is not None:
        raise RecipeError(f"--drivers is for sharded runs, and {run} has one driver.")
    if target.address:
        return resume_there(opened, store, run, target, actors, resuming.take_over)

    from jobs.drive import driver

    with telling(run, store):
        return driver.resume(
            opened, run, target.engine, actors.accelerator, actors.actors, err, resuming.take_over, log_to=log_to
        )


def _resume_shards(
    opened: "Store",
    run: str,
    target: options.TargetOptions,
    actors: options.ActorOptions,
    resuming: options.ResumeOptions,
) -> "Outcome":
    from cluster.job_api import Head
    from jobs.drive.sharded_run import drive_sharded_run, drivers_here, drivers_there

    opened.require_free(run, socket.gethostname(), resuming.take_over)
    refuse_no_wait(target)
    at_once = resuming.drivers or opened.shard_drivers(run)
    if not target.address:
        start = drivers_here(opened, run, target.engine, actors.accelerator, actors.actors)
        return drive_sharded_run(opened, run, start, at_once, err, take_over=resuming.take_over)
    head = Head(target.address)
    start = drivers_there(opened, run, head, actors.accelerator, actors.actors)
    return drive_sharded_run(opened, run, start, at_once, err, head.address, resuming.take_over)


@contextmanager
def telling(run: str, store: str) -> Iterator[None]:
    """A driver ends its run in order when it is interrupted; of an interruption before or after that, this tells."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(f"Interrupted. If nws ls lists the run, resume it with: nws resume {run}{store_flag(store)}")
        raise


@grouped
def drive(
    run: NamedRun,
    actors: options.ActorOptions,
    epoch: int | None = None,
    engine: str = "cluster",
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Drive a run, or shards of it: what a submitted job runs on the head of its cluster, and a driver of shards.

    A later submission has a higher epoch and takes the run from this job. The engine is the cluster, or for shards
    ray or inline: on this machine alone.
    """
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
    run: NamedRun,
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

    from core.systems.predictions import parse_predictions
    from jobs.recipes.job import plan_with
    from jobs.report.warnings import warn_of_misfits

    files = [parse_predictions(text) for text in predictions]
    with changing(store) as opened:
        run, host = opened.full_id(run), socket.gethostname()
        again = where_it_was(opened, run, target)
        plan = plan_with(opened.require_free(run, host), files)
        warn_of_misfits(plan, err)
        opened.extend_run(run, host, plan.run_spec())
        err.print(f"Added to {run}. If this is interrupted, resume it with: nws resume {run}{store_flag(store)}")
        outcome = resume_run(opened, store, run, again, actors, options.ResumeOptions())
    finish(outcome, store, as_json)
