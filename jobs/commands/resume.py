"""`nws resume`: compute what a run lacks."""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import StoreError, StoreUnavailableError
from jobs.commands import options
from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, changing, err, finish, store_flag
from jobs.commands.target import Target, choose_target, require_here, resume_there

if TYPE_CHECKING:
    from jobs.drive.run import Outcome
    from jobs.store import Store


def resume(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    engine: options.Engine = "ray",
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Replace a driver that seems to be alive: it stops within seconds.")
    ] = False,
    address: options.Address = None,
    local: options.Local = False,
    no_wait: options.NoWait = False,
    log_to: options.LogTo = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Resume a run that has stopped.

    Only what is missing is computed, and articles that failed are tried again. A run that was submitted to a Ray
    cluster goes there again, unless --address or --local says otherwise.
    """
    target = choose_target(engine, None if local else address, no_wait)

    with changing(store) as opened:
        if not local and engine != "inline":
            target = replace(target, address=target.address or opened.run_info(run).address)
        outcome = go_on(opened, store, run, target, accelerator, actors, take_over, log_to or [])
    finish(outcome, store, as_json)


def go_on(
    opened: "Store",
    store: str,
    run: str,
    target: Target,
    accelerator: str | None,
    actors: int | None,
    take_over: bool,
    log_to: Sequence[str] = (),
) -> "Outcome":
    """Resume a run where the target says. Returns its outcome."""
    require_here(log_to, target)
    if target.address:
        return resume_there(opened, store, run, target, accelerator, actors, take_over)

    from jobs.drive import driver

    with telling(opened, run, store):
        return driver.resume(opened, run, target.engine, accelerator, actors, err, take_over, log_to=log_to)


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
