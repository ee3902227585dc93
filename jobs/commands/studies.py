"""Studies, as `nws submit --shards`, `nws resume` and `nws cancel` have them: runs that are divided among drivers."""

import dataclasses
import os
import socket
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import RecipeError
from jobs.commands.options import ActorOptions, RunOptions, ShardOptions, TargetOptions
from jobs.commands.shared import err, store_flag

if TYPE_CHECKING:
    from cluster.job_api import Head
    from jobs.drive.run import Outcome
    from jobs.drive.shard_drivers import ShardDrivers
    from jobs.plan.pinned import Pinned
    from jobs.store import RunInfo, Store, StudySettings

_PATIENCE_SECONDS = 20.0


def start_study(
    opened: "Store",
    store: str,
    pinned: "Pinned",
    target: TargetOptions,
    actors: ActorOptions,
    run: RunOptions,
    shards: ShardOptions,
) -> "Outcome":
    """Create a study and drive it where the target says. Returns its outcome."""
    from jobs.drive.study import create_study
    from jobs.store import StudySettings, new_run_id

    if run.log_to:
        raise RecipeError("--log-to is for runs with one driver: leave out --shards, or log a shard by `nws resume`.")
    study = new_run_id(pinned.job)
    settings = StudySettings(shards.drivers or 1, target.engine)
    address = None if target.address is None else _head(target).address
    create_study(
        opened,
        study,
        pinned,
        settings,
        shards.shards,
        shards.shard_articles,
        err,
        address=address,
        reuse=not run.no_reuse,
        name=run.name,
        note=run.note,
    )
    # The shards have the recipe, and with it what was said of actors.
    return _drive(opened, store, study, target, ActorOptions(), settings, take_over=False)


def resume_study(
    opened: "Store",
    store: str,
    study: str,
    target: TargetOptions,
    actors: ActorOptions,
    take_over: bool,
    log_to: Sequence[str],
    drivers: int | None,
) -> "Outcome":
    """Drive what is not done of a study, where the target says. Returns its outcome."""
    if log_to:
        raise RecipeError("--log-to is for runs with one driver: resume a shard with it.")
    opened.require_free(study, socket.gethostname(), take_over)
    before = opened.study_settings(study)
    settings = dataclasses.replace(before, drivers=drivers or before.drivers)
    # `--engine` has a default: what was asked for when the study began holds, as its machines do.
    if before.engine == "inline":
        target = dataclasses.replace(target, engine="inline")
    opened.change_study(study, settings.drivers, target.address)
    return _drive(opened, store, study, target, actors, settings, take_over)


def _drive(
    opened: "Store",
    store: str,
    study: str,
    target: TargetOptions,
    actors: ActorOptions,
    settings: "StudySettings",
    take_over: bool,
) -> "Outcome":
    from jobs.drive.run import outcome_of
    from jobs.drive.study import drive_study

    where = store_flag(store)
    if target.no_wait:
        if target.address is None:
            raise RecipeError("--no-wait goes with --address.")
        _drive_apart(opened, study, target, actors, take_over)
        err.print(f"Submitted {study}, of {opened.run_info(study).shards} shards, to {target.address}.")
        err.print(f"Its driver is a process of this machine. Follow it with: nws watch {study}{where}")
        return dataclasses.replace(outcome_of(opened.run_info(study)), state="submitted")
    return drive_study(opened, study, _drivers(opened, target, actors), settings.drivers, err, take_over)


def _drivers(opened: "Store", target: TargetOptions, actors: ActorOptions) -> "ShardDrivers":
    from jobs.drive.shard_drivers import LocalDrivers, RayDrivers

    if target.address is None:
        return LocalDrivers(opened, target.engine, actors.accelerator, actors.actors)
    return RayDrivers(opened, _head(target), actors.accelerator, actors.actors)


def _head(target: TargetOptions) -> "Head":
    from cluster.job_api import Head

    return Head(str(target.address))


def _drive_apart(opened: "Store", study: str, target: TargetOptions, actors: ActorOptions, take_over: bool) -> None:
    """Start a process that drives a study and outlives this one."""
    from jobs.drive.shard_drivers import NWS
    from jobs.drive.ship import options_of

    options = ["--address", str(target.address), *options_of(actors.accelerator, actors.actors)]
    subprocess.Popen(
        [*NWS, "resume", study, *options, *(["--take-over"] if take_over else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"NWS_STORE": opened.url},
        start_new_session=True,
    )


def cancel_shards(opened: "Store", shards: Sequence["RunInfo"]) -> list["RunInfo"]:
    """Ask the drivers that shards still have to stop, and wait until they have; those that have not reacted."""
    from jobs.drive.follow import wait_for_end

    host = socket.gethostname()
    at_work = [shard for shard in shards if opened.run_info(shard.id).state in ("pending", "running")]
    asked = [shard for shard in at_work if opened.cancel_run(shard.id, host)]
    if asked:
        err.print(f"Asked the drivers of {len(asked)} shards to stop …")
    return [shard for shard in asked if wait_for_end(opened, shard.id, _PATIENCE_SECONDS).state == "running"]
