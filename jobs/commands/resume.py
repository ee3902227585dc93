"""`nws resume`; `nws add` and `nws add-metric`, which resume a run with more; and `nws drive`, which Ray jobs run."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, cast

import typer

from core.errors import CorpusError, ModelError, RecipeError, StoreError, StoreUnavailableError
from core.metrics.specs import KEPT, OF_OTHERS
from jobs.commands import complete, options
from jobs.commands.groups import grouped
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import changing, chosen_run, err, finish, store_flag
from jobs.commands.studies import resume_study
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
    """Resume a run where the target says; a study with so many `drivers`. Returns its outcome."""
    require_accelerator(actors.accelerator, target)
    require_here(log_to, target)
    if opened.run_info(run).shards is not None:
        return resume_study(opened, store, run, target, actors, take_over, log_to, drivers)
    if drivers is not None:
        raise RecipeError(f"--drivers is for studies, and {run} has one driver.")
    if target.address:
        return resume_there(opened, store, run, target, actors, take_over)

    from jobs.drive import driver

    with telling(opened, run, store):
        return driver.resume(
            opened, run, target.engine, actors.accelerator, actors.actors, err, take_over, log_to=log_to
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
        str, typer.Option(metavar="NAME", help="cluster: this one. ray or inline: on this machine alone, for a shard.")
    ] = "cluster",
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Drive a run: what a submitted job runs on the head of its cluster, and what a study starts for a shard."""
    from jobs.drive.run import hold_run
    from jobs.drive.ship import take_store_url
    from jobs.store import open_store

    store = take_store_url() or store
    with open_store(store) as opened, hold_run(opened, run, epoch, err) as claimed_epoch:
        outcome = _driven(opened, run, actors, claimed_epoch, cast("Engine", engine))
    finish(outcome, store, as_json=False)


def _driven(opened: "Store", run: str, actors: options.ActorOptions, epoch: int | None, engine: "Engine") -> "Outcome":
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


@grouped
def add_metric(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.", autocompletion=complete.runs)],
    metric: Annotated[str, typer.Argument(help="`kept`: content kept, of BERTScore's recall and of words.")],
    target: options.ResumeTargetOptions,
    actors: options.ActorOptions,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Score a run by a metric that is newer than it.

    No system runs again. Articles that have failed are tried again, as by `nws resume`.
    """
    require_possible(target.engine, None if target.local else target.address)
    if metric != KEPT.name:
        raise RecipeError(f"There is no metric {metric!r} to add: {KEPT.name} can be added.")
    with changing(store) as opened:
        run = opened.full_id(run)
        again = where_it_was(opened, run, target)
        _add_signatures(opened, run)
        err.print(f"Scoring {run}. If this is interrupted, resume it with: nws resume {run}{store_flag(store)}")
        outcome = resume_run(opened, store, run, again, actors)
    finish(outcome, store, as_json)


def _add_signatures(opened: "Store", run_id: str) -> None:
    from jobs.plan.job import find_job

    info = opened.require_free(run_id, socket.gethostname())
    pinned = find_job(info.job).plan_again(info.recipe)
    added = {spec.name: pinned.signatures[spec.name] for spec in OF_OTHERS}
    opened.add_signatures(run_id, socket.gethostname(), added)


def _extend(opened: "Store", run_id: str, files: "list[PredictionsSpec]") -> None:
    from jobs.plan.job import plan_with
    from jobs.terminal.warnings import warn_of_coverages

    pinned = plan_with(opened.require_free(run_id, socket.gethostname()), files)
    warn_of_coverages(pinned, err)
    opened.extend_run(run_id, socket.gethostname(), pinned.run_spec())
